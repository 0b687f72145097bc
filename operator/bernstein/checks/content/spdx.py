"""SPDX expressions: which licences do they leave no way around?"""

from __future__ import annotations

import re
from collections.abc import Collection

_IDENTIFIERS = {
    "AGPL": re.compile(r"AGPL-?v?\d", re.IGNORECASE),
    "GPL": re.compile(r"GPL-?v?\d", re.IGNORECASE),
    "SSPL": re.compile(r"SSPL-?v?\d", re.IGNORECASE),
    "BUSL": re.compile(r"BUSL-\d", re.IGNORECASE),
    "Elastic": re.compile(r"Elastic-\d", re.IGNORECASE),
    "CC-BY-NC": re.compile(r"CC-BY-NC", re.IGNORECASE),
}
"""By family: how an identifier begins."""
_FREES = re.compile(
    r"Autoconf|Bison|Bootloader|Classpath|CLISP|eCos|FLTK|Font|freertos|GCC|GNAT|GNU-compiler"
    r"|GPL-\d\.\d-linking|i2p-gpl-java|Independent-modules|Libtool|Linux-syscall|LLVM|mif|OCaml"
    r"|OpenJDK-assembly|Qt-GPL|Swift|Texinfo|u-boot|WxWindows",
    re.IGNORECASE,
)
"""How exceptions begin under which other code may take this in and keep its own terms."""
_TOKEN = re.compile(r"[()]|[A-Za-z0-9.+:-]{1,200}")
_DEEPEST = 20
_NONE: frozenset[str] = frozenset()


def family(identifier: str) -> str | None:
    """The family that an identifier is of; None: of none that binds."""
    names = (name for name, begins in _IDENTIFIERS.items() if begins.match(identifier))
    return next(names, None)


def families(expression: str, own: Collection[str] = (), *, whole: bool) -> frozenset[str]:
    """The families of which one binds, whatever is chosen; none, where a choice leaves the taker
    free, or what is bound to are `own` families.

    `whole`: text that is more than an expression is none. Else its beginning counts.
    """
    plain = re.sub(r"\b([AL]?GPL) (?=v?\d)", r"\1-", expression, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=[\w.+])/(?=\w)", " OR ", plain).replace("/", " ")
    if plain.count("(") > _DEEPEST:
        plain = plain.replace("(", " ").replace(")", " ")
    reader = _Reader(_TOKEN.findall(plain), own)
    bound = reader.choice()
    return _NONE if whole and reader.rest else bound


class _Reader:
    """Reads an expression from its left; `rest` is what is left of it."""

    def __init__(self, tokens: list[str], own: Collection[str]) -> None:
        self.rest = tokens
        self._own = own

    def choice(self) -> frozenset[str]:
        """OR, which binds loosest: it leaves free where one side does."""
        bound = self._together()
        while self._takes("OR"):
            other = self._together()
            bound = bound | other if bound and other else _NONE
        return bound

    def _together(self) -> frozenset[str]:
        bound = self._single()
        while self._takes("AND"):
            bound |= self._single()
        return bound

    def _single(self) -> frozenset[str]:
        if self._takes("("):
            bound = self.choice()
            self._takes(")")
            return bound
        if not self.rest or self.rest[0] == ")":
            return _NONE
        name = family(self.rest.pop(0))
        if self._takes("WITH") and self.rest and _FREES.match(self.rest.pop(0)):
            return _NONE
        return _NONE if name is None or name in self._own else frozenset({name})

    def _takes(self, word: str) -> bool:
        if not self.rest or self.rest[0].upper() != word:
            return False
        self.rest.pop(0)
        return True
