"""The page of the server lists every route and every status of an error, and no other."""

from __future__ import annotations

import re

from bernstein.server.app import ERRORS
from bernstein.server.routes import ROUTES
from tests.unit.docs.pages import REFERENCE, rows

PAGE = REFERENCE / "server.md"
FRAMEWORK = ["`GET /openapi.json`", "everybody"]
"""FastAPI's own."""


def test_every_route_is_on_the_page_with_who_may_call_it() -> None:
    listed = [cells[:2] for cells in rows(PAGE) if len(cells) == 3]
    declared = [
        [f"`{route.method} {route.path}`", "everybody" if route.public else "the session's pod"]
        for route in ROUTES
    ]
    assert listed == [*declared, FRAMEWORK]


def test_every_status_of_an_error_is_on_the_page() -> None:
    cells = [cells[0] for cells in rows(PAGE) if len(cells) == 2]
    listed = {int(code) for cell in cells for code in re.findall(r"`(\d{3})`", cell)}
    assert listed == {*ERRORS, 405}
