"""An OpenTelemetry collector as a process, and what it prints of the spans that it was sent."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.background import wait_for
from tests.cluster.binaries.programs import COLLECTOR

CONFIGURATION = """\
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  debug:
    verbosity: detailed
service:
  telemetry:
    metrics: {{level: none}}
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
"""
_SPAN = re.compile(
    r"Trace ID +: (?P<trace>\w+)\s+Parent ID +: (?P<parent>\w*)\s+ID +: (?P<id>\w+)\s+"
    r"Name +: (?P<name>[^\n]+)\n"
)


@dataclass(frozen=True)
class Printed:
    """A span as the collector prints it; ids are hexadecimal, and a root's parent is empty."""

    trace: str
    parent: str
    id: str
    name: str


@dataclass(frozen=True)
class Running:
    url: str
    log: Path

    def text(self) -> str:
        return self.log.read_text()

    def spans(self) -> list[Printed]:
        """All that it has printed so far."""
        return [Printed(**found.groupdict()) for found in _SPAN.finditer(self.text())]


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    program, port = COLLECTOR.ensure(), _free_port()
    configuration, log = folder / "collector.yaml", folder / "collector.log"
    configuration.write_text(CONFIGURATION.format(port=port))
    command = [str(program), "--config", f"file:{configuration}"]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        wait_for(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield Running(f"http://127.0.0.1:{port}", log)
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
