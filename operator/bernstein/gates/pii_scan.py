"""Gate `pii_scan`: secrets and personal data in lines that the change adds.

An added line is one that the file did not hold before, by content; so a moved line is none, and no
diff, which in-tree attributes could blind, takes part. A finding is named by file, line and kind;
what was found is never repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from bernstein.gates.identifiers import bank_accounts, card_numbers, social_security_numbers
from bernstein.gates.verdict import Verdict, failed, passed

ALLOWED_PREFIXES = ("FAKE", "TEST", "EXAMPLE", "DUMMY", "PLACEHOLDER")
"""A value that begins so is made up; upper case, so that nobody writes it by accident."""

ADDED_BYTES = 32_000_000
"""More added text than this is not scanned: the gate fails rather than let it through."""

_WINDOW, _OVERLAP = 4000, 400
_SHOWN = 20
_WORD_BEFORE = re.compile(r"[\w-]*\Z")

Finder = Callable[[str], Iterable[re.Match[str]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret or personal data; `blocks` when it is of high severity."""

    kind: str
    blocks: bool
    find: Finder


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Content before and after; `before` is empty for a new file."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Finding:
    path: str
    line: int
    kind: str
    blocks: bool

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path} (its name)"
        return f"{place} {self.kind}" + ("" if self.blocks else " (does not block)")


def scan(files: Iterable[ChangedFile]) -> Verdict:
    """Failed if an added line holds something of high severity; otherwise Passed."""
    found: list[Finding] = []
    size = 0
    for file in files:
        lines = list(added_lines(file.before, file.after))
        size += sum(len(text) for _, text in lines)
        if size > ADDED_BYTES:
            return failed("TooLarge", f"the change adds over {ADDED_BYTES} bytes of text")
        found += scan_lines(file.path, [(0, file.path), *lines])
    blocking = [finding for finding in found if finding.blocks]
    shown = "\n".join(str(finding) for finding in (blocking or found)[:_SHOWN])
    more = len(blocking or found) - _SHOWN
    excerpt = shown + (f"\nand {more} more" if more > 0 else "")
    if not blocking:
        return passed(excerpt)
    hint = f"a made-up value begins with one of {', '.join(ALLOWED_PREFIXES)}"
    return failed("SecretFound", f"{excerpt}\n{hint}")


def added_lines(before: bytes, after: bytes) -> Iterator[tuple[int, str]]:
    """(number from 1, text) of the lines that `after` holds more often than `before`."""
    encoding = _wide_encoding(after)
    if encoding:
        before, after = (_narrow(data, encoding) for data in (before, after))
    had = Counter(before.split(b"\n"))
    for number, line in enumerate(after.split(b"\n"), 1):
        if had[line] > 0:
            had[line] -= 1
        elif line:
            # NUL bytes between characters hide text from patterns, not from readers.
            yield number, line.replace(b"\0", b"").decode("utf-8", "replace")


def scan_lines(path: str, lines: Iterable[tuple[int, str]]) -> list[Finding]:
    """Findings in numbered lines of one file, at most one per line and kind."""
    shown = mask(path)
    found: dict[Finding, None] = {}
    for block in _blocks(lines):
        # Most blocks hold nothing, and to see that at once is many times faster than by line.
        text = "\n".join(part for _, part in block)
        suspected = [rule for rule in rules() if any(True for _ in rule.find(text))]
        for number, part in block if suspected else ():
            for rule in suspected:
                if any(not _is_made_up(part, match) for match in rule.find(part)):
                    found[Finding(shown, number, rule.kind, rule.blocks)] = None
    return list(found)


def mask(text: str) -> str:
    """`text` with every blocking match blotted out."""
    for rule in rules():
        if rule.blocks:
            for match in list(rule.find(text)):
                text = text.replace(match[0], "***")
    return text


@cache
def rules() -> tuple[Rule, ...]:
    """All kinds; the detectors of detect-secrets are loaded on the first call."""
    return (
        Rule("payment card number", True, card_numbers),
        Rule("social security number", True, social_security_numbers),
        Rule("bank account number", True, bank_accounts),
        Rule("private key", True, _PRIVATE_KEY.finditer),
        *_library_rules(),
    )


_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|PuTTY-User-Key-File-\d")


_PASSWORD = re.compile(
    r"(?:passw(?:or)?d|pwd|secret|api_?key|auth_?key|access_?token|auth_?token)[\"']?"
    r"\s{0,3}(?::=|=>|={1,3}|:)\s{0,3}[\"']([^\"'\s]{6,200})[\"']",
    re.IGNORECASE,
)


def _library_rules() -> Iterator[Rule]:
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        basic_auth,
        discord,
        github_token,
        gitlab_token,
        jwt,
        mailchimp,
        npm,
        openai,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    exact = (
        aws.AWSKeyDetector,
        azure_storage_key.AzureStorageKeyDetector,
        discord.DiscordBotTokenDetector,
        github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector,
        mailchimp.MailchimpDetector,
        npm.NpmDetector,
        openai.OpenAIDetector,
        pypi_token.PypiTokenDetector,
        sendgrid.SendGridDetector,
        slack.SlackDetector,
        square_oauth.SquareOAuthDetector,
        stripe.StripeDetector,
        telegram_token.TelegramBotTokenDetector,
        twilio.TwilioKeyDetector,
    )
    for detector in exact:
        yield Rule(detector.secret_type, True, _finder(detector.denylist))
    # Often a development database's address or an example: shown to people, not refused.
    for loose in (basic_auth.BasicAuthDetector, jwt.JwtTokenDetector):
        yield Rule(loose.secret_type, False, _finder(loose.denylist))
    # Not the library's detector for these: it backtracks for minutes on `passwordpassword...`.
    yield Rule("password in quotes", False, _PASSWORD.finditer)


def _finder(patterns: Iterable[re.Pattern[str]]) -> Finder:
    compiled = tuple(patterns)

    def find(line: str) -> Iterator[re.Match[str]]:
        return (match for pattern in compiled for match in pattern.finditer(line))

    return find


def _is_made_up(line: str, match: re.Match[str]) -> bool:
    """Whether the value, from the start of the word that it stands in, has an allowed prefix."""
    start = match.start()
    before = _WORD_BEFORE.search(line, max(start - 64, 0), start)
    word = (before[0] if before else "") + match[0]
    values = (word, *filter(None, match.groups()))
    return any(value.lstrip("-").startswith(ALLOWED_PREFIXES) for value in values)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Lines together, long ones in overlapping pieces: no pattern meets a text that could hurt."""
    block: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        for start in range(0, max(len(line), 1), _WINDOW - _OVERLAP):
            part = line[start : start + _WINDOW]
            if block and size + len(part) > _WINDOW:
                yield block
                block, size = [], 0
            block.append((number, part))
            size += len(part)
    if block:
        yield block


def _wide_encoding(data: bytes) -> str | None:
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32")):
        if data.startswith(mark):
            return encoding
    return "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else None


def _narrow(data: bytes, encoding: str) -> bytes:
    return data.decode(encoding, "replace").encode("utf-8", "replace")
