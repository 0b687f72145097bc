"""What a check printed, without secrets."""

from __future__ import annotations

import sys
from subprocess import run

import pytest

from bernstein.checks.content.printed import without_secrets

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nqrstuv==\n-----END RSA PRIVATE KEY-----"


def test_tokens_and_whole_private_keys_are_masked_and_nothing_else() -> None:
    shown = without_secrets(f"E  assert '{TOKEN}' == 'x'\n{KEY}\n1 failed")

    assert shown == "E  assert '***' == 'x'\n*** (a private key)\n1 failed"


def test_lines_of_a_key_that_are_indented_are_masked_up_to_its_end() -> None:
    shown = without_secrets("1 failed\nE   MIIEow\nE   qrstuv==\nE   -----END RSA PRIVATE KEY-----")

    assert shown == "1 failed\n*** (a private key)"


@pytest.mark.parametrize(
    "module", ["bernstein.core.verification.executed", "bernstein.core.logs.checks"]
)
def test_who_only_decides_loads_no_detectors(module: str) -> None:
    code = f"import sys, {module}; sys.exit('detect_secrets' in sys.modules)"

    assert run([sys.executable, "-c", code], check=False).returncode == 0
