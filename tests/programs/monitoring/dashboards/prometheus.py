"""A Prometheus of Debian's that scrapes what processes said, each look at its own time."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from tests import monitoring
from tests.programs.monitoring.dashboards.played import SECONDS, STEP, Target

ALL = {"namespace": ".*", "project": ".*", "plan": ".*"}
"""What Grafana puts for variables of which everything is chosen."""
WAIT_SECONDS = 90.0
Result = list[dict[str, Any]]


def replaced(expr: str, chosen: dict[str, str] | None = None) -> str:
    """A query of a dashboard as Grafana would send it."""
    words = {"__rate_interval": f"{4 * STEP}s", "__range": f"{SECONDS}s", **(chosen or ALL)}
    for name, value in words.items():
        expr = expr.replace(f"${name}", value)
    return expr.replace("OPERATOR_LEASE", monitoring.LEASE)


@dataclass
class Prometheus:
    url: str
    ends: float
    """Seconds since 1970 of the last look."""

    def at_the_end(self, expr: str) -> Result:
        found = self._asked("query", query=expr, time=time.time())
        return [each for each in found if each["value"][1] != "NaN"]

    def over_time(self, expr: str) -> Result:
        """Each with `values`, of all the time that was played, up to what is recorded by now."""
        end = time.time()
        times = {"start": end - SECONDS, "end": end, "step": STEP}
        found = self._asked("query_range", query=expr, **times)
        for each in found:
            each["values"] = [value for value in each["values"] if value[1] != "NaN"]
        return [each for each in found if each["values"]]

    def values_of(self, label: str, selector: str) -> list[str]:
        data = self._get(f"label/{label}/values", **{"match[]": selector})
        return sorted(data)

    def _asked(self, what: str, **parameters: object) -> Result:
        result: Result = self._get(what, **parameters)["result"]
        return result

    def _get(self, what: str, **parameters: object) -> Any:
        with urlopen(f"{self.url}/api/v1/{what}?{urlencode(parameters)}", timeout=60) as answer:  # noqa: S310
            return json.load(answer)["data"]


@contextmanager
def prometheus(folder: Path, *targets: Target) -> Iterator[Prometheus]:
    """Runs in `folder` until the block ends; inside of it everything is scraped and recorded."""
    ends = time.time()
    with _served({f"/{t.job}": t.text(ends) for t in targets}) as port:
        address = f"127.0.0.1:{_free_port()}"
        (folder / "rules.yaml").write_text(monitoring.rules())
        (folder / "prometheus.yml").write_text(yaml.safe_dump(_config(port, targets)))
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [
                    "prometheus",
                    "--config.file=prometheus.yml",
                    "--storage.tsdb.path=data",
                    f"--web.listen-address={address}",
                ],
                cwd=folder,
                stdout=log,
                stderr=log,
            )
        try:
            running = Prometheus(f"http://{address}", ends)
            _wait(running, process, folder / "log")
            yield running
        finally:
            process.terminate()
            process.wait(30)


def _config(port: int, targets: tuple[Target, ...]) -> dict[str, Any]:
    scraped = [
        {
            "job_name": target.job,
            "metrics_path": f"/{target.job}",
            "honor_labels": True,
            "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
            "relabel_configs": [{"target_label": "instance", "replacement": target.instance}],
        }
        for target in targets
    ]
    return {
        "global": {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "1s"},
        "storage": {"tsdb": {"out_of_order_time_window": "1d"}},  # what is played lies in the past
        "rule_files": ["rules.yaml"],
        "scrape_configs": scraped,
    }


def _wait(running: Prometheus, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until both are scraped and the rules have seen it."""
    until = time.monotonic() + WAIT_SECONDS

    def wait(expr: str) -> None:
        while not _is_there(running, expr):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)

    wait("count(count by (job) (bernstein_build_info)) == 2")
    wait(f"timestamp(bernstein:closed_late:ratio_rate1h) > {time.time()}")


def _is_there(running: Prometheus, expr: str) -> bool:
    try:
        return bool(running.at_the_end(expr))
    except HTTPError as error:
        if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return False  # it listens, and reads its storage still
    except (URLError, ConnectionError):
        return False  # it does not listen yet


@contextmanager
def _served(texts: dict[str, str]) -> Iterator[int]:
    """Each text by its path, to the first who asks: nothing is new afterwards."""
    left = dict(texts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = left.pop(self.path, "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it has
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
