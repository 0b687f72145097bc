"""A signal `api_responds` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

SERVICE = """\
import http.server
import os


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(202 if self.path == "/health" else 404)
        self.end_headers()
        self.wfile.write(b"the service is ready")


http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

START = {"type": "api_responds", "command": "exec python3 serve.py"}
EXAMPLE = SignalExample(
    accepted={
        **START,
        "url": "http://localhost:$PORT/health",
        "status": 202,
        "contains": "is ready",
        "timeout_seconds": 30,
    },
    refused=(
        START,
        {"type": "api_responds", "url": "/health"},
        {**START, "url": "health"},
        {**START, "url": "http://localhost:8000/health"},
        {**START, "url": "http://example.com/health"},
        {**START, "url": "https://localhost/health"},
        {**START, "url": "/a b"},
        {**START, "url": "/a\r\nHost: b"},
        {**START, "url": "/health", "status": 99},
        {**START, "url": "/health", "status": "200"},
        {**START, "url": "/health", "path": "serve.py"},
    ),
    # It stops before it is asked: a service that never answers would take all of its time.
    holds=Tree({"serve.py": SERVICE}),
    fails=Tree({"serve.py": SERVICE.replace("http.server.HTTPServer", "exit")}),
)
