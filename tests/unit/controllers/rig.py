"""A controller at work in tests: with caches and writer, on an API server in memory."""

from __future__ import annotations

from bernstein.controllers.caches import Caches
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.logs.reader import LogReader
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context, KindController
from bernstein.controllers.writer import Writer
from bernstein.kube.client import Client
from bernstein.kube.events import EventRecorder
from bernstein.kube.reconcile import Controller
from bernstein.observe.metrics import Metrics
from tests.background import Background
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer


class Rig:
    """Who is derived from it sets `controller`, made with `context`."""

    controller: KindController

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        self.api, self._client, self._background = api, client, background
        self.caches = Caches(client)
        self.events = EventRecorder(client, component="test", instance="test", sanitise=str)
        writer = Writer(client, self.caches, Unfenced(), self.events)
        settings, logs = OperatorSettings(image="b:1"), LogReader(client)
        self.metrics = Metrics(process=False)
        self.context = Context(
            self.caches, writer, settings, self.metrics, logs, DocumentReader(client)
        )
        self.guard = writer.guard

    async def start(self) -> None:
        """The caches are filled, and stay up to date."""
        for informer in self.caches.informers:
            self._background.start(informer.run())
            await informer.synced()

    def run(self) -> None:
        """The controller at work, woken by events alone."""
        loop = Controller(
            self.controller.NAME,
            self.controller.reconcile,
            primary=self.controller.primary,
            guard=self.guard,
            matters=self.controller.matters,
            begin=self.controller.begin,
            resync=1e6,
            pause=self.controller.pause,
        )
        for watch in self.controller.watches():
            loop.watch(
                watch.informer,
                watch.keys,
                when=watch.when,
                priority=watch.priority,
                pause=watch.pause,
            )
        self._background.start(loop.run())
