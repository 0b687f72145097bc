"""What a repository must not take in: licences that bind it, regulated data, internal addresses.

Every pattern is linear: what may repeat has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from bernstein.checks.content import rules as by_rules
from bernstein.checks.content.identifiers import luhn
from bernstein.checks.content.rules import Rule
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict

LICENCE_BYTES = 200_000
"""Of a file that may hold the repository's own licence."""

_GNU = r"GNU\s{1,3}%sGeneral\s{1,3}Public\s{1,3}Licen[cs]e"
_FAMILIES = {
    "AGPL": (r"AGPL-\d", _GNU % r"Affero\s{1,3}"),
    "GPL": (r"GPL-\d", _GNU % ""),
    "SSPL": (r"SSPL-\d", r"Server\s{1,3}Side\s{1,3}Public\s{1,3}License"),
    "BUSL": (r"BUSL-\d", r"Business\s{1,3}Source\s{1,3}License"),
    "Elastic": (r"Elastic-\d", r"Elastic\s{1,3}License"),
    "CC-BY-NC": (r"CC-BY-NC", r"Attribution-Non-?Commercial"),
}
"""By name: how an SPDX identifier begins, and what the licence calls itself."""
_LICENCE_FILE = re.compile(r"(?:LICEN[CS]ES?|COPYING)\b[^/]{0,50}", re.IGNORECASE)
_SPDX = re.compile(r"SPDX-License-Identifier:[ \t]{0,5}([^\n*<>\"']{1,200})", re.IGNORECASE)
_GRANTS = r"(?:terms|conditions|licen[cs]ed|released|distributed|covered)\b[^\n]{0,60}?\b"
_ALONE = r"(?:^|\n)[ \t#*;/%%-]{0,20}%s[ \t*/-]{0,20}(?=\n|$)"

_LABEL_END = r"[\"']?\s{0,3}[:=#]{0,2}\s{0,3}[\"']?"
_NUMBER = r"(?:\s{1,3}|_|-)?(?:number|num|no\.?|id|nr\.?)?"
_MBI_LETTER, _MBI_ANY = "[AC-HJKMNP-RT-Y]", "[AC-HJKMNP-RT-Y0-9]"
_MBI = rf"[1-9]{_MBI_LETTER}{_MBI_ANY}\d%s{_MBI_LETTER}{_MBI_ANY}\d%s{_MBI_LETTER}{_MBI_LETTER}\d\d"
_WELL_KNOWN_HOSTS = ("docker.internal", "metadata.google.internal")
_INTERNAL = r"(?:corp|intranet|intra|internal|lan|private|home\.arpa)"


def scan(files: Iterable[ChangedFile], own: Collection[str], mask: Callable[[str], str]) -> Verdict:
    """Failed if an added line holds what blocks; otherwise Passed.

    `own`: families of licences that the repository is under, which its files may name.
    """
    return by_rules.scan(files, tuple(_rules(own)), "RestrictedContent", mask)


def families_in(text: str) -> frozenset[str]:
    """The families that a licence's own text is of: it names itself before it names others."""
    first = text[:2000]
    found = {
        name for name, (_, title) in _FAMILIES.items() if re.search(title, first, re.IGNORECASE)
    }
    return frozenset(found)


def is_licence(path: str) -> bool:
    """Whether the file, at the root of the repository, holds its licence by its name."""
    return _LICENCE_FILE.fullmatch(path) is not None


def _rules(own: Collection[str]) -> Iterator[Rule]:
    restricted = {name: of for name, of in _FAMILIES.items() if name not in own}
    for name, (identifier, title) in restricted.items():
        granted = re.compile(f"{_GRANTS}{title}|{_ALONE % title}", re.IGNORECASE)
        yield Rule(f"{name} licence", True, granted.finditer, may_be_made_up=False)
        spdx = _identified(re.compile(rf"(?<![\w-]){identifier}", re.IGNORECASE))
        yield Rule(f"{name} licence identifier", True, spdx, may_be_made_up=False)
    yield from _REGULATED
    yield from _ADDRESSES


def _identified(identifier: re.Pattern[str]) -> by_rules.Finder:
    """SPDX expressions that leave no choice but this family."""

    def find(text: str) -> Iterator[re.Match[str]]:
        for match in _SPDX.finditer(text):
            choices = re.split(r"\sOR\s", match[1].strip("() \t"))
            if all(identifier.search(choice) for choice in choices):
                yield match

    return find


def _labelled(label: str, value: str) -> re.Pattern[str]:
    """`value`, as a group of its own, behind a label and what stands between such two."""
    return re.compile(rf"\b{label}{_NUMBER}{_LABEL_END}({value})(?![A-Za-z0-9-])", re.IGNORECASE)


def _checked(pattern: re.Pattern[str], is_right: Callable[[str], bool]) -> by_rules.Finder:
    """Matches whose value has the right check digit."""

    def find(text: str) -> Iterator[re.Match[str]]:
        return (m for m in pattern.finditer(text) if is_right(re.sub(r"[ -]", "", m[1])))

    return find


def _is_npi(digits: str) -> bool:
    return luhn("80840" + digits)


def _is_dea(value: str) -> bool:
    d = [int(digit) for digit in value[2:]]
    return (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6]


def _is_nhs(digits: str) -> bool:
    total = sum((10 - i) * int(digit) for i, digit in enumerate(digits[:9]))
    return (11 - total % 11) % 11 == int(digits[9])


_HOST = re.compile(
    r"(?:://(?:[^\s/@\"'<>]{1,100}@)?|\bgit@)"
    rf"((?:[a-z0-9][a-z0-9_-]{{0,62}}\.){{1,6}}{_INTERNAL})(?![\w.-]*\w)",
    re.IGNORECASE,
)


def _internal_hosts(text: str) -> Iterator[re.Match[str]]:
    """Hosts in addresses whose names only a network of its own resolves."""
    for match in _HOST.finditer(text):
        host = match[1]
        is_meant_for_all = host.lower().endswith(_WELL_KNOWN_HOSTS)
        if not is_meant_for_all and "example" not in host.split("."):
            yield match


_REGULATED = (
    Rule(
        "medical record number",
        True,
        _labelled(r"(?:MRN|medical[ _-]record)", r"[A-Z]{0,3}\d{6,12}").finditer,
    ),
    Rule("health provider number", True, _checked(_labelled("NPI", r"[12]\d{9}"), _is_npi)),
    Rule("drug prescriber number", True, _checked(_labelled("DEA", r"[A-Z]{2}\d{7}"), _is_dea)),
    Rule(
        "health service number",
        True,
        _checked(_labelled("NHS", r"\d{3}[ -]?\d{3}[ -]?\d{4}"), _is_nhs),
    ),
    Rule(
        "Medicare number",
        True,
        re.compile(rf"(?<![\w-]){_MBI % ('-', '-')}(?![\w-])").finditer,
    ),
    Rule("Medicare number", True, _labelled(r"(?:MBI|medicare)", _MBI % ("-?", "-?")).finditer),
    Rule("passport number", True, _labelled("passport", r"[A-Z]{0,2}\d{7,9}").finditer),
    Rule(
        "magnetic stripe of a card",
        True,
        re.compile(r"%B\d{13,19}\^[^^\n]{2,26}\^\d{7}|;\d{13,19}=\d{7}").finditer,
    ),
    Rule("card verification code", False, _labelled(r"(?:CVV2?|CVC2?)", r"\d{3,4}").finditer),
    Rule(
        "date of birth",
        False,
        _labelled(
            r"(?:date[ _-]of[ _-]birth|dob|birth_?date)",
            r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{4}",
        ).finditer,
    ),
    Rule(
        "classification marking",
        True,
        re.compile(
            r"\b(?:TOP SECRET|SECRET|CONFIDENTIAL|CUI)//[A-Z]{2}"
            r"|\bITAR[ -](?:CONTROLLED|RESTRICTED)\b"
        ).finditer,
        may_be_made_up=False,
    ),
    Rule(
        "notice of confidentiality",
        False,
        re.compile(
            r"\b(?:(?:company|strictly) confidential|confidential (?:and|&) proprietary"
            r"|proprietary (?:and|&) confidential|for internal use only)\b",
            re.IGNORECASE,
        ).finditer,
    ),
)
_ADDRESSES = (
    Rule("internal host name", True, _internal_hosts),
    Rule(
        "internal host name of a cloud",
        True,
        re.compile(
            r"\bip-(?:\d{1,3}-){3}\d{1,3}\.(?:[a-z0-9-]{1,30}\.)?(?:ec2|compute)\.internal\b"
        ).finditer,
    ),
    Rule(
        "private network address",
        False,
        re.compile(
            r"(?<![\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}"
            r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?![\d.]|/\d)"
        ).finditer,
    ),
)
