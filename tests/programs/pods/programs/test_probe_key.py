"""The program probe_key: whether what it is given is the public half of a key that can sign."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.programs.probe import KEY_VARIABLE, ProbeKeyConfig, ProbeResult
from bernstein.pods.errors import PodError
from bernstein.pods.programs import probe_key
from tests.programs.pods.programs.merging.keys import key_pair
from tests.programs.pods.programs.merging.test_sign import ssh_key

CONFIG = ProbeKeyConfig("'key.pub' of 'signs'")


def test_the_public_half_of_a_key_that_signs_is_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, key_pair(tmp_path).public.read_text())

    assert probe_key.run(CONFIG) == ProbeResult()


SSH = ProbeKeyConfig("'id.pub' of 'signs'", ssh=True)


def test_the_public_half_of_a_key_that_signs_commits_is_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ssh_key(tmp_path)
    monkeypatch.setenv(KEY_VARIABLE, Path(f"{key.file}.pub").read_text())
    assert probe_key.run(SSH) == ProbeResult()

    for bad in (key.file, Path(f"{ssh_key(tmp_path, 'ecdsa').file}.pub")):
        monkeypatch.setenv(KEY_VARIABLE, bad.read_text())
        with pytest.raises(PodError) as raised:
            probe_key.run(SSH)
        assert raised.value.reason == "SigningKeyInvalid"
        assert bad.read_text().split()[1] not in raised.value.message


@pytest.mark.parametrize("algorithm", ["ed448", "x25519", "private", "none"])
def test_another_key_is_named_and_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    known = algorithm in ("ed448", "x25519")
    pair = key_pair(tmp_path, algorithm) if known else key_pair(tmp_path)
    text = pair.public.read_text() if known else pair.private.read_text()
    monkeypatch.setenv(KEY_VARIABLE, text if algorithm != "none" else "")

    with pytest.raises(PodError, match=r"'key\.pub' of 'signs' cannot be used: it holds") as raised:
        probe_key.run(CONFIG)

    assert raised.value.reason == "AttestationKeyInvalid"
    assert text.splitlines()[1] not in raised.value.message
