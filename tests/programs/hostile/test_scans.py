"""Secrets that are dressed up so that `pii_scan` does not see them.

Each is first seen to pass where a mark, or a prefix, is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bernstein.api.pod import Check
from bernstein.checks import added
from bernstein.checks.content import rules, secrets, unseen
from bernstein.checks.reading import ChangedFile
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.content.test_secret_tokens import KEYS, TOKENS
from tests.unit.checks.trees import Tree
from tests.unit.core.test_sanitise import DEFAULT_IGNORABLE

pytestmark = pytest.mark.verification

TOKEN = "key = 'AKIA" + "IOSFODNN7ABCDEFG'\n"
CARD = "4111 1111 1111 1111"
KEY = "-----BEGIN " + "PRIVATE KEY-----\n"

Readings = Callable[[ChangedFile], Iterator[tuple[bytes, bytes]]]


def by_the_mark(file: ChangedFile) -> Iterator[tuple[bytes, bytes]]:
    """In the encoding that the first bytes claim, and in no other."""
    yield added._narrow(file.before, "utf-16"), added._narrow(file.after, "utf-16")


def as_committed(file: ChangedFile) -> Iterator[tuple[bytes, bytes]]:
    yield file.before, file.after


def verdict(content: bytes) -> str:
    tree = Tree({"settings.txt": content})
    return judge(tree, Check("pii_scan", "pii_scan")).verdict


@pytest.mark.parametrize(
    ("content", "careless"),
    [
        (b"\xff\xfe" + TOKEN.encode(), by_the_mark),
        (b"\xff\xfe" + KEY.encode(), by_the_mark),
        (f"\u4141{CARD}\u4141\n".encode("utf-16-le"), as_committed),
    ],
    ids=["a token", "a private key", "between wide characters"],
)
def test_neither_a_byte_order_mark_nor_an_encoding_blinds_the_scan(
    content: bytes, careless: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(rules, "readings", careless)
        assert verdict(content) == "Passed", "read in one way it is not seen"

    assert verdict(content) == "Failed"


@pytest.mark.parametrize("secret", [TOKEN, KEY], ids=["a token", "a private key"])
def test_nothing_that_a_reader_does_not_see_blinds_the_scan(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen_ones = {*DEFAULT_IGNORABLE}
    dressed = [
        secret.replace("IV", f"I{chr(c)}V").replace("FODN", f"FO{chr(c)}DN").encode()
        for c in DEFAULT_IGNORABLE
        if not {c - 1, c + 1} <= unseen_ones  # the first and last ones of each stretch
    ]

    with monkeypatch.context() as taken:
        taken.setattr(unseen, "is_in", lambda _: False)
        assert {verdict(content) for content in dressed} == {"Passed"}, "the payload does not work"

    assert {verdict(content) for content in dressed} == {"Failed"}


@pytest.mark.parametrize("prefix", rules.ALLOWED_PREFIXES)
def test_a_prefix_before_a_private_key_blinds_no_scan(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = f"{prefix}{KEY}".encode()

    with monkeypatch.context() as taken:
        taken.setattr(rules, "_counts", lambda _, line, match: not rules._is_made_up(line, match))
        assert verdict(content) == "Passed", "where it is excused like any value it passes"

    assert verdict(content) == "Failed"


USUAL_KEY = re.compile(r"-{5}BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY-{5}")
"""How it is written by those who hide nothing."""


def of_the_usual_forms() -> tuple[rules.Rule, ...]:
    """The rules without those of providers that the library does not know."""
    others = [rule for rule in secrets.rules() if rule.kind not in ("access token", "private key")]
    (key,) = (rule for rule in secrets.rules() if rule.kind == "private key")
    return (*others, replace(key, find=USUAL_KEY.finditer))


FORMS = of_the_usual_forms()
DRESSED = {
    **{f"a token: {name}": f"key = '{token}'\n" for name, token in TOKENS.items()},
    **{f"a key: {name}": f"{key}\n" for name, key in KEYS.items()},
}
KNOWN_TO_OTHERS = {
    *("a token: Slack bot", "a token: Slack that expires"),
    *("a key: a carriage return", "a key: line ends of JSON", "a key: no width"),
}
"""What another rule, or the usual form in what is seen of the line, finds, too."""


@pytest.mark.parametrize("name", [name for name in DRESSED if name not in KNOWN_TO_OTHERS])
def test_no_provider_and_no_spelling_blinds_the_scan(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = DRESSED[name].encode()

    with monkeypatch.context() as taken:
        taken.setattr(secrets, "rules", lambda: FORMS)
        assert verdict(content) == "Passed", "where only the usual forms are known it passes"

    assert verdict(content) == "Failed"
