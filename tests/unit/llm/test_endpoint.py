"""Where a model is asked, and with which key."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.llm.endpoint import Endpoint
from bernstein.llm.errors import ModelError
from bernstein.web.secret import Secret

KEY = "sk-the-key-0123456789"


def reason(endpoint: Endpoint) -> str:
    with pytest.raises(ModelError) as failed:
        endpoint.url("/v1")
    assert "secret" not in str(failed.value)
    return str(failed.value.reason)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        (None, "https://api.openai.com/v1/responses"),
        ("https://gateway.example:8443/a%2Fb/", "https://gateway.example:8443/a%2Fb/responses"),
        ("https://gateway.example", "https://gateway.example/responses"),
        ("http://127.0.0.1:8099/run/v1", "http://127.0.0.1:8099/run/v1/responses"),
        ("http://[::1]:8099", "http://[::1]:8099/responses"),
        ("http://localhost", "http://localhost/responses"),
    ],
)
def test_the_path_goes_below_the_address(base: str | None, url: str) -> None:
    assert str(Endpoint("openai", "key", base).url("/responses")) == url


@pytest.mark.parametrize(
    "base",
    [
        "http://stub:8099",
        "http://10.0.0.1",
        "http://127.0.0.1.example",
        "http://localhost.example",
        "ftp://gateway.example",
        "gateway.example",
        "https://",
        "https://user:secret@gateway.example",
        "https://gateway.example/?key=secret",
        "https://gateway.example/#secret",
        "https://gateway.example:secret",
        "https://gate\nway.example/secret",
        "",
    ],
)
def test_an_address_that_is_none_of_an_api_is_refused(base: str) -> None:
    endpoint = Endpoint("openai", "key", base or "://secret")

    assert reason(endpoint) == "ModelAddressInvalid"


def test_clear_text_to_other_machines_has_to_be_asked_for() -> None:
    assert reason(Endpoint("openai", "key", "http://stub:8099")) == "ModelAddressInvalid"

    endpoint = Endpoint("openai", "key", "http://stub:8099", plain_http=True)
    assert str(endpoint.url("/x")) == "http://stub:8099/x"


def test_an_unknown_provider_is_told_which_there_are() -> None:
    with pytest.raises(ModelError) as failed:
        _ = Endpoint("openia", "key").speaks
    assert failed.value.reason == "ModelAddressInvalid"
    assert "'openia', only anthropic, openai, " in failed.value.message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"sk-a b",
        b"sk-a\r\nx-other: b",
        b"sk-\xc3\xbc",
        b"sk-\x00",
        b"k" * 5000,
    ],
)
def test_what_is_no_key_is_not_sent_and_not_shown(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)

    with pytest.raises(ModelError) as failed:
        Endpoint("openai", str(file)).key()
    assert failed.value.reason == "ModelKeyUnreadable"
    assert "sk-" not in str(failed.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        Endpoint("openai", str(tmp_path / "key")).key()


def test_a_key_is_read_without_the_line_end_behind_it(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    key = Endpoint("openai", str(file)).key()

    assert key.reveal() == KEY
    assert KEY not in repr(key) + str(key) + f"{key!r}"


def test_an_authority_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("no certificate")
    for name in ("ca.crt", "missing.crt"):
        with pytest.raises(ModelError) as failed:
            Endpoint("openai", "key", ca_file=str(tmp_path / name)).trusted()
        assert failed.value.reason == "ProviderUntrusted"


def test_a_key_that_somebody_has_read_already_is_the_one_that_is_sent() -> None:
    endpoint = Endpoint("openai", Secret(KEY))

    assert endpoint.key().reveal() == KEY
    assert KEY not in repr(endpoint)
