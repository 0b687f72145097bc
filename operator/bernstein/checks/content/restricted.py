"""What a repository must not take in: licences that bind it, regulated data, internal addresses.

Every pattern is linear: what may repeat has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from bernstein.checks.changes import is_dependency
from bernstein.checks.content import licences
from bernstein.checks.content import rules as by_rules
from bernstein.checks.content.identifiers import luhn
from bernstein.checks.content.rules import Rule
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict

_LABEL_END = r"[\"']?\s{0,3}[:=#]{0,2}\s{0,3}[\"']?"
_NUMBER = r"(?:\s{1,3}|_|-)?(?:number|num|no\.?|id|nr\.?)?"
_MBI_LETTER, _MBI_ANY = "[AC-HJKMNP-RT-Y]", "[AC-HJKMNP-RT-Y0-9]"
_MBI = rf"[1-9]{_MBI_LETTER}{_MBI_ANY}\d%s{_MBI_LETTER}{_MBI_ANY}\d%s{_MBI_LETTER}{_MBI_LETTER}\d\d"
INTERNAL = ("corp", "home.arpa", "internal", "intra", "intranet", "lan", "private")
"""Ends of names that only an internal network knows."""
_MEANT_FOR_ALL = re.compile(
    r"(?:.*\.)?(?:(?:docker|containers|minikube|lima|k3d|rancher-desktop|orb)\.internal"
    r"|docker\.for\.(?:mac|win)\.\w{1,20}\.internal|metadata\.google\.internal)",
    re.IGNORECASE,
)
"""Names by which every machine of some tool calls its own host or gateway."""
_SETTINGS_OF_PACKAGES = (
    *(".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "go.env", "nuget.config", "bunfig.toml"),
)


def scan(files: Iterable[ChangedFile], own: Collection[str], mask: Callable[[str], str]) -> Verdict:
    """Failed if an added line holds what blocks; otherwise Passed.

    `own`: families of licences that the repository is under, which its files may name.
    """
    rules = (*licences.rules(own), *_REGULATED, *_ADDRESSES)
    return by_rules.scan(files, rules, "RestrictedContent", mask)


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
    rf"((?:[a-z0-9][a-z0-9_-]{{0,62}}\.){{1,6}}(?:{'|'.join(map(re.escape, INTERNAL))}))"
    r"(?![\w.-]*\w)",
    re.IGNORECASE,
)


def _tells_of_packages(path: str) -> bool:
    """Whether it says where packages come from: a registry of one's own is no secret there."""
    name = path.rpartition("/")[2].lower()
    return name in _SETTINGS_OF_PACKAGES or is_dependency(path) or licences.is_lock(path)


def _internal_hosts(text: str) -> Iterator[re.Match[str]]:
    """Hosts in addresses whose names only a network of its own resolves."""
    for match in _HOST.finditer(text):
        host = match[1]
        if not _MEANT_FOR_ALL.fullmatch(host) and "example" not in host.lower().split("."):
            yield match


_PASSPORT = _labelled("passport", r"(?-i:[A-Z]{0,2})\d{7,9}")
_COUNTED = "01234567890123456789"


def _passport_numbers(text: str) -> Iterator[re.Match[str]]:
    """Digits alone are many a thing: they count where they are called a number, and are none that
    somebody just made up."""
    for match in _PASSPORT.finditer(text):
        value, label = match[1], match[0].lower()
        is_number = re.match(r"passport[\s_-]{0,3}n(?:o|um)", label) is not None
        is_made_up = value in _COUNTED or len(set(value)) <= 2
        if not value.isdigit() or (is_number and not is_made_up):
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
    Rule("passport number", True, _passport_numbers),
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
        hint="",
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
    Rule("internal host name", True, _internal_hosts, only_shown_in=_tells_of_packages),
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
