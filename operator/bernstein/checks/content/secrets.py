"""Secrets and personal data: what the rules of gate `pii_scan` look for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from bernstein.checks.content import rules as by_rules
from bernstein.checks.content.identifiers import (
    bank_accounts,
    card_numbers,
    social_security_numbers,
)
from bernstein.checks.content.rules import OVERLAP, WINDOW, Finder, Rule
from bernstein.checks.content.secret_tokens import PRIVATE_KEY, tokens
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict

_PERSONAL = (
    Rule("payment card number", True, card_numbers),
    Rule("social security number", True, social_security_numbers),
    Rule("bank account number", True, bank_accounts),
)
_REST_OF_WORD = re.compile(rf"\S{{0,{WINDOW}}}")


def scan(files: Iterable[ChangedFile]) -> Verdict:
    """Failed if an added line holds a secret or personal data that blocks; otherwise Passed."""
    return by_rules.scan(files, rules(), "SecretFound", mask)


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
    for start in range(0, max(len(text) - OVERLAP, 1), WINDOW - OVERLAP):
        window = text[start : start + WINDOW]
        for rule in rules():
            for match in rule.find(window) if rule.blocks else ():
                end = start + match.end()
                if match.end() == WINDOW and (more := _REST_OF_WORD.match(text, end)):
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
def rules() -> tuple[Rule, ...]:
    """The rules of all kinds. The first call imports the detectors of detect-secrets."""
    return (
        *_PERSONAL,
        Rule("private key", True, PRIVATE_KEY.finditer, hint=""),
        Rule("access token", True, tokens),
        *_library_rules(),
    )


def credentials() -> tuple[Rule, ...]:
    """Those of what opens something to whoever has it, which block: keys and tokens."""
    return tuple(rule for rule in rules() if rule.blocks and rule not in _PERSONAL)


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
    of_npm, of_openai = npm.NpmDetector, openai.OpenAIDetector
    yield Rule(of_npm.secret_type, True, _first_in_run(of_npm.denylist, "//", r".*"))
    yield Rule(of_openai.secret_type, True, _first_in_run(of_openai.denylist, "sk-", r"[\w-]*"))
    # These are often an example or the address of a development database, so they do not block.
    for loose in (basic_auth.BasicAuthDetector, jwt.JwtTokenDetector):
        yield Rule(loose.secret_type, False, _finder(loose.denylist))
    # Not the library's detector for these: it backtracks for minutes on `passwordpassword...`.
    yield Rule("password in quotes", False, _PASSWORD.finditer)


def _finder(patterns: Iterable[re.Pattern[str]]) -> Finder:
    compiled = tuple(patterns)

    def find(line: str) -> Iterator[re.Match[str]]:
        return (match for pattern in compiled for match in pattern.finditer(line))

    return find


def _first_in_run(patterns: Iterable[re.Pattern[str]], head: str, run: str) -> Finder:
    """Finds what begins with `head` and goes on with any of the characters of `run`.

    Where there is no match from the first `head` of a run, there is none from those after it: to
    look from each of them takes time that grows with the square of the run.
    """
    compiled, rest = tuple(patterns), re.compile(run, re.ASCII)

    def find(line: str) -> Iterator[re.Match[str]]:
        for pattern in compiled:
            end = 0
            while (start := line.find(head, end)) >= 0:
                match = pattern.match(line, start)
                if match is not None:
                    yield match
                seen = match or rest.match(line, start)
                end = max(start + len(head), seen.end() if seen else 0)

    return find
