"""Secrets in what a push would bring to the repository, looked for before anything is sent.

Whoever reads the repository reads every ref of it, also of work that no check has judged yet, and
what was pushed once may have been fetched since. So it is kept back, and not deleted afterwards.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bernstein.api.programs import account
from bernstein.api.reasons import Reason
from bernstein.checks.content.rules import (
    ADDED_BYTES,
    Finding,
    Findings,
    Rule,
    TooMuchText,
    findings,
)
from bernstein.checks.reading import ChangedFile
from bernstein.core import sanitise
from bernstein.pods.errors import PodError
from bernstein.pods.git import contents, trees
from bernstein.pods.git.client import Git
from bernstein.pods.git.trees import ContentChange

SECONDS = 45.0
"""In which the contents of one push are to be looked through: a pod that ends has 120 for all."""
_PLACE = 200
"""Characters of one."""
_SHORTEST = 8
"""Characters of a password: a shorter one stands in other words."""
_LINE = 16
"""Characters of a line of a key: a shorter one may be chance."""
_LONGEST = 200
"""Characters of a value that are looked for: patterns see a window of the text."""


class Leaks:
    """Looks through the commits that one program is to push, one after the other."""

    def __init__(self, repository: Git, server: Git, account: str | None) -> None:
        """`repository` has the commits. What `server` has was fetched, and is nothing new there.

        `account`: folder of the account that pushes.
        """
        self._repository = repository
        self._server = server
        self._account = account
        self._clean: frozenset[ContentChange] = frozenset()

    def refuse(self, base: str, sha: str) -> None:
        """Raise PodError(SecretFound) where `sha` brings a secret that the server does not have, or
        PodError(SnapshotTooLarge) where it brings too much for anybody to tell."""
        changes = frozenset(trees.changed_contents(self._repository, base, sha))
        unseen = sorted(changes - self._clean, key=lambda change: change.path)
        found = Findings()
        try:
            for each in self._findings(unseen):
                found.add(each)
        except TooMuchText:
            raise _too_large(f"it adds over {ADDED_BYTES} bytes of text") from None
        except TimeoutError:
            raise _too_large(f"to look through it takes over {SECONDS:.0f} s") from None
        if found.count:
            places = [sanitise.line(str(each), _PLACE) for each in found.shown]
            named = sanitise.some(places, found.count)
            told = "; ".join([f"nothing of the work was pushed, it holds {named}", *found.hints])
            raise PodError(Reason.SECRET_FOUND, told)
        self._clean = changes

    def _findings(self, changes: Sequence[ContentChange]) -> Iterator[Finding]:
        own = _account_rule(self._account)
        # Imported here because the detectors take a moment to load, and most work changes nothing.
        from bernstein.checks.content import secrets

        rules = (*([own.rule] if own else ()), *secrets.credentials())
        shown = (lambda path: own.mask(secrets.mask(path))) if own else secrets.mask
        yield from findings(self._files(changes), rules, shown, ADDED_BYTES, _within(SECONDS))

    def _files(self, changes: Sequence[ContentChange]) -> Iterator[ChangedFile]:
        """Their contents, but for those that the server has under whatever name: of them the new
        name alone is told there."""
        missing = self._missing(changes)
        for change in changes:
            if change.after not in missing:
                yield ChangedFile(os.fsdecode(change.path), b"", b"")
        new = [change for change in changes if change.after in missing]
        yield from contents.changed_files(self._repository, new)

    def _missing(self, changes: Sequence[ContentChange]) -> set[str]:
        """The new contents that the server does not have."""
        request = "".join(f"{change.after}\n" for change in changes).encode("ascii")
        listing = self._server.run("cat-file", "--batch-check", input=request)
        rows = (row.split() for row in listing.decode("ascii", "replace").splitlines())
        return {row[0] for row in rows if row[-1] == "missing"}


def _within(seconds: float) -> Callable[[], None]:
    """What raises TimeoutError when it is called after `seconds`."""
    end = time.monotonic() + seconds

    def look_at_the_clock() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    return look_at_the_clock


@dataclass(frozen=True)
class _Own:
    """The password or the SSH key of the account that pushes."""

    rule: Rule
    pattern: re.Pattern[str]

    def mask(self, path: str) -> str:
        return self.pattern.sub("***", path)


def _account_rule(folder: str | None) -> _Own | None:
    """None: there is none, or one that is found in other words."""
    if folder is None:
        return None
    what, values = "password", _password(folder)
    if not values:
        what, values = "key", _key_lines(folder)
    if not values:
        return None
    pattern = re.compile("|".join(re.escape(value[:_LONGEST]) for value in values))
    rule = Rule(f"{what} of the account that pushes", True, pattern.finditer, hint="")
    return _Own(rule, pattern)


def _password(folder: str) -> tuple[str, ...]:
    """As it is, and as a request to the server has it."""
    try:
        name, password = (_read(folder, each) for each in (account.USERNAME, account.PASSWORD))
    except OSError:
        return ()
    if len(password) < _SHORTEST:
        return ()
    sent = (base64.b64encode(f"{start}{password}".encode()) for start in ("", f"{name}:"))
    return (password, *(each.decode().rstrip("=") for each in sent))


def _key_lines(folder: str) -> tuple[str, ...]:
    """Those of an SSH key, any of which is a part of it: a whole one is known by its form. The
    first line is the same in many keys."""
    try:
        rows = [row.strip() for row in _read(folder, account.SSH_KEY).splitlines()]
    except OSError:
        return ()
    inside = [row for row in rows if row and not row.startswith("-----")]
    return tuple(row for row in inside[1:] or inside if len(row) >= _LINE)


def _read(folder: str, name: str) -> str:
    return Path(folder, name).read_bytes().decode("ascii", "replace").strip()


def _too_large(why: str) -> PodError:
    text = f"nothing of the work was pushed: {why}, so nobody can tell whether secrets are in it"
    return PodError(Reason.SNAPSHOT_TOO_LARGE, text)
