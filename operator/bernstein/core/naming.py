"""Names of objects and label values made from what people write."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

NAME_LIMIT = 40
"""Characters of a Plan's or Task's name, so that every name made from it fits the 63 of a label."""

LABEL_LIMIT = 63
HASH_LENGTH = 6
_HEXADECIMALS = hashlib.sha256().digest_size * 2
_PLAN_SHARE = 11
_STAGE_SHARE = 10

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits in words joined by `-`; "" when nothing is left."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NOT_ALPHANUMERIC.sub("-", ascii_text.lower()).strip("-")


def short_hash(*parts: str, length: int = HASH_LENGTH) -> str:
    """The first hexadecimals of a SHA-256 that tells `("a", "bc")` from `("ab", "c")`."""
    encoded = (part.encode("utf-8", "surrogatepass") for part in parts)
    prefixed = b"".join(len(part).to_bytes(8) + part for part in encoded)
    return hashlib.sha256(prefixed).hexdigest()[:length]


def plan_name(name: str) -> str:
    """The object name of a plan that is called so; hashed where the slug says less than `name`."""
    plain = slug(name)
    if plain and len(plain) <= NAME_LIMIT:
        return plain
    cut = plain[: NAME_LIMIT - HASH_LENGTH - 1].strip("-") or "plan"
    return f"{cut}-{short_hash(name)}"


def label_value(text: str) -> str:
    """`text` where it is a label value already, else its slug, hashed where that had to be cut."""
    if len(text) <= LABEL_LIMIT and _LABEL_VALUE.match(text):
        return text
    plain = slug(text)
    if plain and len(plain) <= LABEL_LIMIT:
        return plain
    cut = plain[: LABEL_LIMIT - HASH_LENGTH - 1].strip("-")
    return f"{cut}-{short_hash(text)}".strip("-")


def task_names(plan: str, steps: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """One Task name for each `(stage name, title)` of the Plan object `plan`, in the same order.

    A name depends on its own step only, unless it clashes with another one of the same Plan: so a
    Plan gives the same names however often it is expanded. The steps have to be distinct.
    """
    names = [_plain_name(plan, stage, title) for stage, title in steps]
    length = HASH_LENGTH
    while (clashing := _more_than_once(names)) and length <= _HEXADECIMALS:
        names = [
            _hashed_name(plan, stage, title, length) if name in clashing else name
            for name, (stage, title) in zip(names, steps, strict=True)
        ]
        length += 2
    return tuple(names)


def _plain_name(plan: str, stage: str, title: str) -> str:
    slugs = (slug(plan), slug(stage), slug(title))
    joined = "-".join(slugs)
    if all(slugs) and len(joined) <= NAME_LIMIT:
        return joined
    return _hashed_name(plan, stage, title, HASH_LENGTH)


def _hashed_name(plan: str, stage: str, title: str, length: int) -> str:
    suffix = short_hash(plan, stage, title, length=min(length, NAME_LIMIT))
    room = NAME_LIMIT - len(suffix) - 1
    if room <= 0:
        return suffix
    first = _whole_words(slug(plan), _PLAN_SHARE)
    second = _whole_words(slug(stage), _STAGE_SHARE)
    readable = "-".join(part for part in (first, second, slug(title)) if part)
    return "-".join(part for part in (readable[:room].strip("-"), suffix) if part)


def _whole_words(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    words, _, _ = text[: room + 1].rpartition("-")
    return words or text[:room]


def _more_than_once(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}
