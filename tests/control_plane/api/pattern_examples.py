"""Texts that the patterns and formats of specs take and refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bernstein.api.meta import HTTPS_PATTERN, LINE_PATTERN, PATH_PATTERN
from bernstein.api.projects.commits import EMAIL_PATTERN, NAME_PATTERN
from bernstein.api.projects.labels import NAME as LABEL_NAME
from bernstein.api.projects.repository import API_PATTERN, FOLDER_PATTERN, URL_PATTERN
from bernstein.api.signals import LOOPBACK_URL


@dataclass(frozen=True)
class Example:
    """Texts that a pattern or format takes and refuses."""

    good: str
    bad: str
    longest: str | None = None
    """The longest that it takes, where that cannot be made of `good` by repeating a letter."""


EXAMPLES: Mapping[str, Example] = {
    HTTPS_PATTERN: Example("https://git.example.com/a", "https://me@git.example.com/a"),
    API_PATTERN: Example("https://git.example.com/api", "http://git.example.com/api"),
    URL_PATTERN: Example("https://git.example.com/a", "ext::sh -c true"),
    LABEL_NAME: Example("example.com/team", "example.com/a/b"),
    FOLDER_PATTERN: Example("services/billing", "services/../billing"),
    r"^\S+$": Example("app", "my app"),
    r"^http://[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?:[0-9]{1,5}/?$": Example(
        "http://proxy.example:3128",
        "https://proxy.example:3128",
        f"http://{'a' * 288}:3128",
    ),
    r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$": Example("git.example.com", "-git"),
    r"^https?://[^\s]+$": Example("http://llm.example.com", "llm.example.com"),
    r"^[A-Za-z0-9][-A-Za-z0-9._/]*$": Example("main", "-main"),
    r"^[0-9]+(\.[0-9]+)?m?$": Example("1", "few"),
    r"^[0-9]+(Ki|Mi|Gi)$": Example("1Gi", "lots"),
    r"^[a-z][a-z0-9_]*$": Example("audit", "my-audit"),
    r"^[a-z][-a-z0-9]*$": Example("backend", "Backend"),
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": Example("demo", "a.b"),
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$": Example("demo", "a_b"),
    r"^[-._a-zA-Z0-9]+$": Example("ca.crt", "a/b"),
    r"^\$?[0-9]{1,9}(\.[0-9]{1,6})?$": Example("$1", "$1.0000001", "$123456789.123456"),
    r"^[0-9]{1,9}(\.[0-9]{1,6})?$": Example("1", "1.0000001", "123456789.123456"),
    r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$": Example("demo", "-a"),
    r"^[^,\s]([^,\n\r\t]*[^,\s])?$": Example("good first issue", "a,b"),
    LOOPBACK_URL: Example("/health", "health", "http://127.0.0.1:$PORT/a"),
    NAME_PATTERN: Example("Ada Lovelace", "Ada <ada@example.com>"),
    EMAIL_PATTERN: Example("ada@example.com", "ada@example.com>", f"{'a' * 243}@example.co"),
    LINE_PATTERN: Example("Write it", "Write it\nCo-authored-by: me"),
    PATH_PATTERN: Example("docs/Größe der Welt.md", "docs/a\nb.md"),
    r"^[0-9a-f]{40}([0-9a-f]{24})?$": Example("a" * 40, "a" * 41, "a" * 64),
    "cidr": Example("2001:db8::/32", "2001:db8::", ":".join(["ffff"] * 8) + "/128"),
}
"""By pattern, or by format."""
