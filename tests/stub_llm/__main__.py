"""Command line of `python3 -m tests.stub_llm`; `--help` tells its options."""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path

from tests.stub_llm import scenario
from tests.stub_llm.server import Endpoint


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.stub_llm")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--scenarios", type=Path, help="YAML or JSON file")
    parser.add_argument("--tls", type=Path, help="folder with tls.crt and tls.key")
    arguments = parser.parse_args()
    script = scenario.Script()
    if arguments.scenarios:
        script = scenario.parse(arguments.scenarios.read_bytes())
    with Endpoint((arguments.host, arguments.port), script) as endpoint:
        if arguments.tls:
            endpoint.speak_tls(arguments.tls / "tls.crt", arguments.tls / "tls.key")

        # As process 1 of a container nothing would end us on SIGTERM but a handler of our own.
        def stop(*_: object) -> None:
            threading.Thread(target=endpoint.shutdown).start()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        print(f"listening on {endpoint.url}", flush=True)
        endpoint.serve_forever()


if __name__ == "__main__":
    main()
