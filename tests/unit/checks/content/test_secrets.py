"""Secrets and personal data in added lines."""

from __future__ import annotations

import time
import tracemalloc
from collections import Counter

import pytest
from detect_secrets.plugins import npm, openai
from hypothesis import given
from hypothesis import strategies as st

from bernstein.checks import added as added_text
from bernstein.checks.added import added_lines
from bernstein.checks.content import rules, secrets
from bernstein.checks.content.secrets import scan
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict

AWS = "AKIA" + "Q3EGRIHBAJ6XVK2P"
GITHUB = "ghp_" + "a1B2" * 9
CARD = "4111111111111111"
SECRETS = {
    "AWS Access Key": AWS,
    "GitHub Token": GITHUB,
    "Stripe Access Key": "sk_live_" + "a1B2c3" * 4,
    "Slack Token": "xoxb-1234567890-abcdef",
    "NPM tokens": "//registry.example/:_authToken=npm_a1B2c3",
    "OpenAI Token": "sk-" + "a1B2" * 5 + "T3BlbkFJ" + "a1B2" * 5,
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "payment card number": CARD,
    "social security number": "219-09-9999",
}


def added(text: str, before: str = "") -> Verdict:
    return scan([ChangedFile("app/settings.py", before.encode(), text.encode())])


@pytest.mark.parametrize("kind", SECRETS)
def test_a_planted_secret_fails_and_is_named_but_never_shown(kind: str) -> None:
    verdict = added(f"a = 1\nb = '{SECRETS[kind]}'\n")
    assert verdict.verdict == "Failed"
    assert verdict.reason == "SecretFound"
    assert f"app/settings.py:2 {kind}" in verdict.excerpt
    assert SECRETS[kind] not in verdict.excerpt


@pytest.mark.parametrize("prefix", rules.ALLOWED_PREFIXES)
@pytest.mark.parametrize("secret", [AWS, CARD])
def test_made_up_values_begin_with_an_allowed_prefix(prefix: str, secret: str) -> None:
    assert added(f"key = '{prefix}-{secret}'\n").verdict == "Passed"
    assert added(f"key={prefix}_{secret}\n").verdict == "Passed"
    assert added(f"{prefix} = '{secret}'\n").verdict == "Failed", "the value counts, not the name"
    assert added(f"key = '{prefix.lower()}-{secret}'\n").verdict == "Failed"


@pytest.mark.parametrize("prefix", rules.ALLOWED_PREFIXES)
@pytest.mark.parametrize(
    "key",
    [
        "-----BEGIN " + "PRIVATE KEY-----",
        "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
        "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----",
        "---- BEGIN " + "SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-" + "3: ssh-ed25519",
    ],
)
def test_no_prefix_excuses_a_private_key(prefix: str, key: str) -> None:
    for text in (f"{prefix}{key}", f"{prefix}-{key}", f"{prefix}_{key}", f"'{prefix} {key}'"):
        assert added(text + "\n").verdict == "Failed", text


def test_only_added_lines_count() -> None:
    old = f"first\nkey = '{AWS}'\nlast\n"
    assert added(old + "more\n", before=old).verdict == "Passed"
    assert added("last\nfirst\n" + old, before=old).verdict == "Passed"
    assert added(old + f"key = '{AWS}'\n", before=old).verdict == "Failed", "once more than before"
    assert added(old.replace("key", "token"), before=old).verdict == "Failed", "an edited line"


def test_line_numbers_are_those_of_the_new_file() -> None:
    lines = list(added_lines(b"a\nb\nc\n", b"new\na\nc\nb\nalso\n"))
    assert lines == [(1, b"new"), (5, b"also")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_other_encodings_hide_nothing(encoding: str) -> None:
    data = f"a = 1\nkey = '{AWS}'\n".encode(encoding)
    assert scan([ChangedFile("a.txt", b"", data)]).verdict == "Failed"


MARKS = {
    "utf-8": b"\xef\xbb\xbf",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}


@pytest.mark.parametrize("secret", [AWS, CARD, SECRETS["private key"]])
@pytest.mark.parametrize("encoding", MARKS)
@pytest.mark.parametrize("mark", [b"", *MARKS.values()], ids=["none", *MARKS])
def test_a_byte_order_mark_hides_nothing_whatever_the_encoding_is(
    mark: bytes, encoding: str, secret: str
) -> None:
    data = mark + f"a = 1\nkey = '{secret}'\n".encode(encoding)

    for before in (b"", b"a = 1\n", mark + "a = 1\n".encode(encoding)):
        assert scan([ChangedFile("a.txt", before, data)]).verdict == "Failed"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("beside", ["\u4141", "\u412e"])
def test_a_neighbour_whose_bytes_are_letters_hides_nothing(encoding: str, beside: str) -> None:
    data = f"key = {beside}{CARD}{beside}\n".encode(encoding)

    assert scan([ChangedFile("a.txt", b"", data)]).verdict == "Failed"


def test_what_is_found_in_both_readings_of_a_file_is_shown_once() -> None:
    verdict = scan([ChangedFile("a.txt", b"", f"key = '{AWS}'\n".encode("utf-16"))])

    assert verdict.excerpt.splitlines()[:-1] == ["a.txt:1 AWS Access Key"]


def test_nul_bytes_and_long_lines_hide_nothing() -> None:
    assert added("\0".join(f"key = '{AWS}'")).verdict == "Failed"
    for place in (3990, 4000, 7990, 100_000):
        assert added("x " * (place // 2) + f"'{AWS}'" + " y" * 3000).verdict == "Failed"


UNSEEN = (
    "\x1b[0m",
    "\x1b[1;31m",
    "\x1b]0;x\x07",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u00ad",
    "\x08",
    "\ufe0f",
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_nobody_sees_between_its_letters_hides_no_secret(unseen: str) -> None:
    token = f"AKIA{unseen}IOSFODNN7{unseen}ABCDEFG"

    assert added(f"key = '{token}'").reason == "SecretFound"
    assert "settings.py:2" in added(f"x = 1\nkey = '{token}'").excerpt
    named = scan([ChangedFile(f"{token}.txt", b"", b"")])
    assert named.reason == "SecretFound"
    assert "IOSFODNN7" not in named.excerpt


@pytest.mark.parametrize(
    "text", ["AKIA IOSFODNN7ABCDEFG", "AKIA\tIOSFODNN7ABCDEFG", "a\r\n\x1b[0mb"]
)
def test_what_is_seen_between_letters_parts_them(text: str) -> None:
    assert added(text).verdict == "Passed"


def test_bytes_that_are_no_text_are_not_joined() -> None:
    picture = b"\x89PNG\x1b[0mAKIA\x01IOSFODNN7ABCDEFG\xff\n"

    assert scan([ChangedFile("a.png", b"", picture)]).verdict == "Passed"


def test_a_secret_in_a_file_name_is_found_and_masked() -> None:
    verdict = scan([ChangedFile(f"keys/{AWS}.txt", b"", b"1\n")])
    assert verdict.verdict == "Failed"
    assert "keys/***.txt (its name) AWS Access Key" in verdict.excerpt
    assert AWS not in verdict.excerpt


def test_weaker_findings_are_shown_and_do_not_block() -> None:
    verdict = added("url = 'postgres://app:hunter2@db/app'\npassword = 'hunter2'\n")
    assert verdict.verdict == "Passed"
    assert "app/settings.py:1 Basic Auth Credentials (does not block)" in verdict.excerpt
    assert "app/settings.py:2 password in quotes (does not block)" in verdict.excerpt
    assert "hunter2" not in verdict.excerpt


def test_an_inline_pragma_switches_nothing_off() -> None:
    assert added(f"key = '{AWS}'  # pragma: allowlist secret\n").verdict == "Failed"


def test_many_findings_are_counted() -> None:
    verdict = added(f"'{AWS}'\n" * 50)
    assert "and 30 more" in verdict.excerpt


def test_more_text_than_can_be_scanned_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "ADDED_BYTES", 1000)
    verdict = scan([ChangedFile("big", b"", b"x\n" * 2000)])
    assert (verdict.verdict, verdict.reason) == ("Failed", "TooLarge")


def peak_memory(file: ChangedFile) -> tuple[int, Verdict]:
    """Bytes that a scan allocates at most."""
    scan([])
    tracemalloc.start()
    try:
        verdict = scan([file])
        return tracemalloc.get_traced_memory()[1], verdict
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("line", "verdict"), [("{:07},x", "Passed"), (CARD + "{:07}", "Failed")])
def test_many_short_lines_take_little_memory(line: str, verdict: str) -> None:
    rows = "\n".join(
        f"{line.format(i)} {CARD if verdict == 'Failed' else ''}" for i in range(20_000)
    )
    peak, found = peak_memory(ChangedFile("rows.csv", b"", rows.encode()))
    assert found.verdict == verdict
    assert peak < 2_000_000


def test_too_many_edited_lines_are_not_remembered_but_scanned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(added_text, "COMPARED_LINES", 5_000)
    before = "".join(f"{i:07},x\n" for i in range(20_000)) + f"{AWS}\n"
    file = ChangedFile("rows.csv", before.encode(), before.replace("x", "y").encode())
    peak, verdict = peak_memory(file)
    assert peak < 2_000_000
    assert "rows.csv:20001 AWS Access Key" in verdict.excerpt


def test_a_large_file_with_few_edits_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added_text, "COMPARED_LINES", 20_000)
    rows = [f"{i:07},{AWS}" for i in range(30_000)]
    before = "\n".join(rows)
    rows[15_000:15_000] = ["new", f"'{GITHUB}'"]
    verdict = scan([ChangedFile("rows.csv", before.encode(), "\n".join(rows).encode())])
    assert verdict.excerpt.splitlines()[0] == "rows.csv:15002 GitHub Token"
    assert "AWS" not in verdict.excerpt


TEXTS = st.lists(st.sampled_from([b"a", b"b", b"", b"\n", b"\n", b"cc\n"]), max_size=30)


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_added_lines_are_the_difference_whatever_is_alike(
    before: list[bytes], after: list[bytes], step: int
) -> None:
    old, new = b"".join(before), b"".join(after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(added_text, "_STEP", step)
        lines = list(added_lines(old, new))
    wanted = Counter(new.split(b"\n")) - Counter(old.split(b"\n"))
    del wanted[b""]
    assert Counter(line for _, line in lines) == wanted
    assert all(new.split(b"\n")[number - 1] == line for number, line in lines)


def test_ordinary_code_passes() -> None:
    source = "\n".join(
        f"def f_{i}(x: int) -> int:\n    return x * {i} + {i * 7919}" for i in range(99)
    )
    assert added(source).excerpt == ""


@pytest.mark.parametrize(
    "unit",
    ["a", "password", "secret = ", "://a:", '"', "key=", "AKIA", "0-", "eyJ", "\\", "aws key '"],
)
def test_no_text_takes_long(unit: str) -> None:
    start = time.process_time()
    added(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 5


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_can_be_scanned(before: bytes, after: bytes) -> None:
    assert scan([ChangedFile("any", before, after)]).verdict in {"Passed", "Failed"}


PIECES = ["//", "a", "/:_authToken=", "npm_", "sk-", "a1B2" * 5, "T3BlbkFJ", "\n", " ", "_", "-"]
FORMS = {"NPM tokens": npm.NpmDetector.denylist, "OpenAI Token": openai.OpenAIDetector.denylist}


@given(text=st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_is_looked_for_once_a_run_is_what_would_be_found_from_everywhere(text: str) -> None:
    for kind, forms in FORMS.items():
        (rule,) = (each for each in secrets.rules() if each.kind == kind)
        found = [match.span() for match in rule.find(text)]
        assert found == [match.span() for form in forms for match in form.finditer(text)]
