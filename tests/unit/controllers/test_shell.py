"""What the operator's process gives to kopf, which is its shell."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from bernstein.controllers.__main__ import login_of, uninstalled
from bernstein.kube.config import ConnectionInfo, FileToken


async def test_kopf_logs_in_as_we_do(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = ConnectionInfo(
        server="https://api:6443",
        namespace="system",
        ca_file="/ca.crt",
        cert_file="/own.crt",
        key_file="/own.key",
        token=FileToken(tmp_path / "token"),
        proxy="http://proxy:3128",
    )

    login = await login_of(connection, renew=False)

    assert (login.server, login.ca_path, login.insecure) == ("https://api:6443", "/ca.crt", False)
    assert (login.certificate_path, login.private_key_path) == ("/own.crt", "/own.key")
    assert (login.token, login.proxy_url) == ("first", "http://proxy:3128")
    assert login.default_namespace == "system"


async def test_a_token_that_was_refused_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = ConnectionInfo("https://api:6443", token=FileToken(tmp_path / "token"))
    assert (await login_of(connection, renew=False)).token == "first"
    (tmp_path / "token").write_text("second\n")

    assert (await login_of(connection, renew=False)).token == "first"
    assert (await login_of(connection, renew=True)).token == "second"


async def test_without_a_token_and_unverified_it_says_so() -> None:
    login = await login_of(ConnectionInfo("https://api:6443", verify=False), renew=False)

    assert (login.token, login.insecure) == (None, True)


@pytest.mark.parametrize("package", ["graphlib", "no_such_package"])
def test_a_package_is_missing_for_a_block_alone(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, package, raising=False)

    with uninstalled(package), pytest.raises(ImportError):
        importlib.import_module(package)

    assert package not in sys.modules
    if package == "graphlib":
        loaded = importlib.import_module(package)
        with uninstalled(package), pytest.raises(ImportError):
            importlib.import_module(package)
        assert sys.modules[package] is loaded
