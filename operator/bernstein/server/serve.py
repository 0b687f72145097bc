"""Runs the application under uvicorn until SIGTERM or SIGINT, then lets requests finish."""

from __future__ import annotations

import asyncio
import signal
import ssl

import uvicorn

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.observe.logging import logger
from bernstein.observe.metrics import ServerMetrics
from bernstein.server.app import create_app
from bernstein.server.http.certificate import Certificate
from bernstein.server.http.connections import CONNECTIONS, bound_tls, guarded_protocol, listen
from bernstein.server.service import Service
from bernstein.server.settings import ServerSettings

log = logger("bernstein.server")

GRACE_SECONDS = 20
"""A request needs at most 10 s for its body and a few calls of 5 s; pods get 30 s to end."""
MAX_HEADER_BYTES = 32 * 1024
IDLE_SECONDS = 75


async def serve(settings: ServerSettings) -> None:
    """Returns after a graceful shutdown. Raises ConfigError, or SSLError and OSError for TLS."""
    bound_tls()
    metrics = ServerMetrics()
    connection = ConnectionInfo.load(settings.kubeconfig)
    async with Client(connection, observer=metrics) as client:
        app = create_app(Service(client, metrics, namespaces=settings.namespaces))
        config = uvicorn_config(app, settings)
        server = uvicorn.Server(config)
        async with asyncio.TaskGroup() as tasks:
            following = _follow_certificate(config, settings, tasks, metrics)
            _end_on_signals(server)
            log.info("starting", host=settings.host, port=settings.port, tls=config.is_ssl)
            await server.serve([listen(settings.host, settings.port)])
            if following is not None:
                following.cancel()
        log.info("stopped")


def _end_on_signals(server: uvicorn.Server) -> None:
    """Ends the server on SIGTERM and SIGINT. uvicorn's own handlers would raise the signal again
    after the shutdown, and a shutdown that went well would look like a failure."""

    def end(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def uvicorn_config(app: object, settings: ServerSettings) -> uvicorn.Config:
    """A loaded configuration; its `ssl` is the context into which renewed certificates are put."""
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        host=settings.host,
        port=settings.port,
        interface="asgi3",
        http=guarded_protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    config.load()
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    return config


def _follow_certificate(
    config: uvicorn.Config,
    settings: ServerSettings,
    tasks: asyncio.TaskGroup,
    metrics: ServerMetrics,
) -> asyncio.Task[None] | None:
    if config.ssl is None or settings.tls_cert is None or settings.tls_key is None:
        return None
    certificate = Certificate(settings.tls_cert, settings.tls_key, ends=metrics.certificate_ends)
    certificate.load_into(config.ssl)
    return tasks.create_task(certificate.follow(config.ssl))


def run(settings: ServerSettings) -> None:
    asyncio.run(serve(settings))
