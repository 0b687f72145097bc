"""Secrets and personal data in the lines that a change adds.

A finding tells file, line and kind, but never what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from bernstein.checks.added import added_lines, readings
from bernstein.checks.identifiers import bank_accounts, card_numbers, social_security_numbers
from bernstein.checks.reading import ChangedFile
from bernstein.checks.secret_tokens import PRIVATE_KEY, tokens
from bernstein.checks.verdict import Verdict, failed, passed

ALLOWED_PREFIXES = ("FAKE", "TEST", "EXAMPLE", "DUMMY", "PLACEHOLDER")
"""A value that begins with one of these is made up. They are in upper case, so that nobody writes
them by accident."""

ADDED_BYTES = 32_000_000
"""More added text than this is not scanned: the gate fails rather than let it through."""

_WINDOW, _OVERLAP = 4000, 400
_SHOWN = 20
_REST_OF_WORD = re.compile(rf"\S{{0,{_WINDOW}}}")
_WORD_BEFORE = re.compile(r"[\w-]*\Z")

Finder = Callable[[str], Iterable[re.Match[str]]]


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A kind of secret or personal data; `blocks` when it is of high severity."""

    kind: str
    blocks: bool
    find: Finder
    may_be_made_up: bool = True
    """Whether an allowed prefix excuses it. A key's own first line has no room for a prefix: one
    before it is beside the key, not part of it."""


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Where something was found, and of which kind; `line` counts from 1, 0 is the file's name."""

    path: str
    line: int
    kind: str
    blocks: bool

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path} (its name)"
        return f"{place} {self.kind}" + ("" if self.blocks else " (does not block)")


class TooMuchText(Exception):  # noqa: N818 - a verdict on the change, no fault
    """The change adds over ADDED_BYTES bytes."""


@dataclass
class _Findings:
    """Counts findings, and holds the first of them to be shown."""

    shown: list[SecretFinding] = field(default_factory=list)
    count: int = 0

    def add(self, finding: SecretFinding) -> None:
        if finding in self.shown:  # in another reading of the same file
            return
        self.count += 1
        if self.count <= _SHOWN:
            self.shown.append(finding)

    def __str__(self) -> str:
        more = self.count - len(self.shown)
        lines = [*map(str, self.shown), *([f"and {more} more"] if more else [])]
        return "\n".join(lines)


def scan(files: Iterable[ChangedFile]) -> Verdict:
    """Failed if an added line holds something that blocks; otherwise Passed.

    Besides the contents themselves, only a few lines are in memory at a time.
    """
    blocking, every = _Findings(), _Findings()
    try:
        for finding in _findings(files):
            every.add(finding)
            if finding.blocks:
                blocking.add(finding)
    except TooMuchText:
        return failed("TooLarge", f"the change adds over {ADDED_BYTES} bytes of text")
    if not blocking.count:
        return passed(str(every))
    hint = f"a made-up value begins with one of {', '.join(ALLOWED_PREFIXES)}"
    return failed("SecretFound", f"{blocking}\n{hint}")


def _findings(files: Iterable[ChangedFile]) -> Iterator[SecretFinding]:
    budget = _Budget(ADDED_BYTES)
    for file in files:
        yield from scan_lines(file.path, [(0, file.path)])
        for before, after in readings(file):
            added = budget.texts(added_lines(before, after))
            yield from scan_lines(file.path, added)


@dataclass
class _Budget:
    """`left` is how many bytes of added lines may still be looked at."""

    left: int

    def texts(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
        """The lines, decoded. Raises TooMuchText when they are over the budget."""
        for number, line in lines:
            self.left -= len(line)
            if self.left < 0:
                raise TooMuchText
            # NUL bytes between characters hide text from patterns, not from readers.
            yield number, line.replace(b"\0", b"").decode("utf-8", "replace")


def scan_lines(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[SecretFinding]:
    """Findings in numbered lines of one file, at most one per line and kind."""
    shown = mask(path)
    here, kinds = -1, set[str]()
    for block in _blocks(lines):
        # Most blocks hold nothing: one search of a block is many times faster than one per line.
        text = "\n".join(part for _, part in block)
        suspected = [rule for rule in rules() if any(True for _ in rule.find(text))]
        for number, part in block if suspected else ():
            if number != here:
                here, kinds = number, set()
            for rule in suspected:
                if rule.kind in kinds:
                    continue
                if any(_counts(rule, part, match) for match in rule.find(part)):
                    kinds.add(rule.kind)
                    yield SecretFinding(shown, number, rule.kind, rule.blocks)


def mask(text: str) -> str:
    """`text` with `***` in place of every match that blocks. In linear time."""
    parts, end = [], 0
    for start, stop in _spans(text):
        parts += [text[end:start], "***"]
        end = stop
    return "".join([*parts, text[end:]])


def found(text: str) -> set[str]:
    """What `mask` replaces."""
    return {text[start:stop] for start, stop in _spans(text)}


def _spans(text: str) -> list[tuple[int, int]]:
    """Where matches that block begin and end, in order, those that overlap as one.

    Some patterns take time that grows with the square of the text, so they get a window of it at a
    time. What reaches the end of a window goes on to the next white space.
    """
    spans = []
    for start in range(0, max(len(text) - _OVERLAP, 1), _WINDOW - _OVERLAP):
        window = text[start : start + _WINDOW]
        for rule in rules():
            for match in rule.find(window) if rule.blocks else ():
                end = start + match.end()
                if match.end() == _WINDOW and (more := _REST_OF_WORD.match(text, end)):
                    end = more.end()
                spans.append((start + match.start(), end))
    apart: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if apart and begin < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((begin, end))
    return apart


@cache
def rules() -> tuple[SecretRule, ...]:
    """The rules of all kinds. The first call imports the detectors of detect-secrets."""
    return (
        SecretRule("payment card number", True, card_numbers),
        SecretRule("social security number", True, social_security_numbers),
        SecretRule("bank account number", True, bank_accounts),
        SecretRule("private key", True, PRIVATE_KEY.finditer, may_be_made_up=False),
        SecretRule("access token", True, tokens),
        *_library_rules(),
    )


_PASSWORD = re.compile(
    r"(?:passw(?:or)?d|pwd|secret|api_?key|auth_?key|access_?token|auth_?token)[\"']?"
    r"\s{0,3}(?::=|=>|={1,3}|:)\s{0,3}[\"']([^\"'\s]{6,200})[\"']",
    re.IGNORECASE,
)


def _library_rules() -> Iterator[SecretRule]:
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        basic_auth,
        discord,
        github_token,
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
        yield SecretRule(detector.secret_type, True, _finder(detector.denylist))
    # These are often an example or the address of a development database, so they do not block.
    for loose in (basic_auth.BasicAuthDetector, jwt.JwtTokenDetector):
        yield SecretRule(loose.secret_type, False, _finder(loose.denylist))
    # Not the library's detector for these: it backtracks for minutes on `passwordpassword...`.
    yield SecretRule("password in quotes", False, _PASSWORD.finditer)


def _finder(patterns: Iterable[re.Pattern[str]]) -> Finder:
    compiled = tuple(patterns)

    def find(line: str) -> Iterator[re.Match[str]]:
        return (match for pattern in compiled for match in pattern.finditer(line))

    return find


def _counts(rule: SecretRule, line: str, match: re.Match[str]) -> bool:
    return not (rule.may_be_made_up and _is_made_up(line, match))


def _is_made_up(line: str, match: re.Match[str]) -> bool:
    """Whether the value, or the word that it is part of, begins with an allowed prefix."""
    start = match.start()
    before = _WORD_BEFORE.search(line, max(start - 64, 0), start)
    word = (before[0] if before else "") + match[0]
    values = (word, *filter(None, match.groups()))
    return any(value.lstrip("-").startswith(ALLOWED_PREFIXES) for value in values)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Lines in groups of at most _WINDOW characters, so that no pattern gets a text that is long
    enough to make it slow. A longer line is cut into pieces that overlap."""
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
