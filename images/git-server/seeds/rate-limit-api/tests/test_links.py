"""Links can be kept, read and removed."""

from __future__ import annotations

import pytest

from api.app import create_app
from client import Api


@pytest.fixture
def api(redis_url: str) -> Api:
    return Api(create_app(redis_url))


def test_a_kept_link_can_be_read(api: Api) -> None:
    added = api.call("POST", "/links", json={"url": "https://example.org/a"})
    assert added.status_code == 201
    read = api.call("GET", f"/links/{added.json()['code']}")
    assert read.json() == added.json()


def test_an_unknown_code_is_not_found(api: Api) -> None:
    assert api.call("GET", "/links/none").status_code == 404
    assert api.call("DELETE", "/links/none").status_code == 404


def test_a_removed_link_is_gone(api: Api) -> None:
    code = api.call("POST", "/links", json={"url": "https://example.org/b"}).json()["code"]
    assert api.call("DELETE", f"/links/{code}").status_code == 204
    assert api.call("GET", f"/links/{code}").status_code == 404


def test_what_is_no_address_is_refused(api: Api) -> None:
    assert api.call("POST", "/links", json={"url": "not an address"}).status_code == 422
