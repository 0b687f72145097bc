"""Keys and tokens that are known by how they begin.

They are those that the detectors of detect-secrets miss, or, of GitLab, find in every placeholder.

Every pattern is linear: what may repeat has a bound, and cannot begin anew inside itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

_SEPARATOR = (
    r"(?:[\s\u00ad\u200b-\u200f\u2060\ufeff+]|%[0-9a-fA-F]{2}|=[0-9A-F]{2}"
    r"|\\(?:[nrtfv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3})|&\#?\w{1,10};)"
)
"""White space of every kind, and as URLs, mail, JSON, C and HTML spell it."""
_DASH = r"(?:[-\u2010-\u2015\u2212]|%2[dD]|=2D|\\x2[dD]|\\u002[dD]|\\055|&\#45;|&\#x2[dD];)"
_WORDS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")


def _in_base64(first_line: str) -> str:
    """How base64 begins of what begins so, as in a Secret's manifest."""
    return base64.b64encode(first_line[: len(first_line) // 3 * 3].encode()).decode()


PRIVATE_KEY = re.compile(
    rf"{_DASH}{{2}}{_SEPARATOR}{{0,10}}BEGIN{_SEPARATOR}{{1,10}}"
    rf"(?:[A-Z0-9]{{1,20}}{_SEPARATOR}{{1,10}}){{0,5}}?"
    rf"PRIVATE{_SEPARATOR}{{1,10}}KEY(?:{_SEPARATOR}{{1,10}}BLOCK)?{_SEPARATOR}{{0,10}}{_DASH}{{2}}"
    r"|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{58}"
    # Without its first line: an RSA key in PKCS #8, and OpenSSH's own form.
    r"|BADANBgkqhkiG9w0BAQEFAASC|b3BlbnNzaC1rZXktdjEA|"
    + "|".join(_in_base64(f"-----BEGIN {word}PRIVATE KEY") for word in _WORDS)
)

_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"github_pat_(\w{22}_\w{30,255})"
    r"|sk-ant-(?:[a-z]{2,10}\d\d-)?([\w-]{24,255})"
    r"|sk-(?:proj|svcacct|admin|None)-([\w-]{32,255})|sk-or-v\d-([0-9a-f]{48,128})"
    r"|AIza([\w-]{35})(?![\w-])|GOCSPX-([\w-]{20,64})|ya29\.([\w-]{30,512})"
    r"|gl(?:pat|dt|ft|soat|rt|rtr|ptt|agent|imt|cbt|ffct|wt)-([\w.-]{20,320})|gloas-([\w-]{40,80})|GR1348941([\w-]{20,50})"
    r"|xox[a-z](?:\.xox[a-z])?-([\w%/+-]{16,512})|xapp-\d-([\w-]{20,255})"
    r"|hf_([A-Za-z]{30,64})|gsk_([A-Za-z0-9]{40,80})|xai-(\w{60,100})|pplx-([A-Za-z0-9]{40,64})"
    r"|r8_([A-Za-z0-9]{36,40})|dapi([0-9a-f]{32})|do[opr]_v1_([0-9a-f]{64})"
    r"|shp(?:at|ca|pa|ss)_([0-9a-fA-F]{32})|dckr_pat_([\w-]{20,64})|hv[sb]\.([\w-]{24,255})"
    r"|glsa_([A-Za-z0-9]{32}_[0-9a-f]{8})|tskey-[a-z]{2,10}-([\w-]{20,80})"
    r"|ATATT3([\w=-]{100,255})|lin_api_([A-Za-z0-9]{32,64})"
    r")",
    re.ASCII,
)
_DIFFERENT = 8
_KINDS = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d", re.ASCII))


def tokens(line: str) -> Iterator[re.Match[str]]:
    """Tokens of providers; what only looks like one, such as `sk-ant-your-key`, is passed over."""
    return (match for match in _TOKENS.finditer(line) if _is_random(match[match.lastindex or 0]))


def _is_random(value: str) -> bool:
    """Whether it has enough different characters, of two kinds at least: words have one."""
    kinds = sum(kind.search(value) is not None for kind in _KINDS)
    return kinds > 1 and len(set(value)) >= _DIFFERENT
