"""Keys and tokens by their first characters: what is found, and what only looks like one."""

from __future__ import annotations

import base64
import random
import string
import time

import pytest

from bernstein.checks.content.rules import ALLOWED_PREFIXES
from bernstein.checks.content.secrets import scan
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict

WORD = string.ascii_letters + string.digits
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
BEGIN = "-----" + "BEGIN"


def added(text: str) -> Verdict:
    return scan([ChangedFile("app/settings.py", b"", text.encode())])


def made(length: int, alphabet: str = WORD, seed: int = 1) -> str:
    """Characters as a provider would choose them; the same in every run."""
    chosen = random.Random(seed)
    return "".join(chosen.choice(alphabet) for _ in range(length))


TOKENS = {
    "fine-grained GitHub": f"github_pat_{made(22)}_{made(59)}",
    "Anthropic": f"sk-ant-api03-{made(93, WORD + '_-')}AA",
    "Anthropic of an administrator": f"sk-ant-admin01-{made(93)}AA",
    "Anthropic OAuth": f"sk-ant-oat01-{made(93)}AA",
    "OpenAI of a project": f"sk-proj-{made(120, WORD + '_-')}",
    "OpenRouter": f"sk-or-v1-{made(64, '0123456789abcdef')}",
    "Google": f"AIza{made(35, WORD + '_-')}",
    "Google client": f"GOCSPX-{made(28)}",
    "GitLab": f"glpat-{made(20)}",
    "GitLab, long": f"glpat-{made(51)}",
    "GitLab, routable": f"glpat-{made(40)}.01.{made(9, string.ascii_lowercase + string.digits)}",
    "GitLab registration": f"GR1348941{made(20)}",
    "GitLab runner": f"glrt-{made(20)}",
    "GitLab before a letter": f"glpat-{made(20)}é",
    "Slack bot": f"xoxb-{made(12, string.digits)}-{made(12, string.digits)}-{made(24)}",
    "Slack of a browser": f"xoxc-{made(40)}",
    "Slack cookie": f"xoxd-{made(60, WORD + '%')}",
    "Slack that expires": f"xoxe.xoxp-1-{made(140)}",
    "Slack app": f"xapp-1-A{made(10)}-{made(13, string.digits)}-{made(64, 'abcdef0123456789')}",
    "Hugging Face": f"hf_{made(34, string.ascii_letters)}",
    "Vault": f"hvs.{made(90)}",
    "Docker Hub": f"dckr_pat_{made(27)}",
}
KEYS = {
    "age": f"AGE-SECRET-KEY-1{made(58, BECH32)}",
    "PKCS #8 without its first line": f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{made(40)}",
    "OpenSSH without its first line": f"b3BlbnNzaC1rZXktdjEA{made(40)}",
    "a tab": f"{BEGIN}\tRSA\tPRIVATE\tKEY-----",
    "two spaces": f"{BEGIN}  PRIVATE  KEY -----",
    "a space that does not break": f"{BEGIN}\u00a0PRIVATE\u00a0KEY-----",
    "a thin space": f"{BEGIN}\u2009EC\u2009PRIVATE\u2009KEY-----",
    "no width": f"{BEGIN}\u200b \u2060PRIVATE KEY-----",
    "a carriage return": f"{BEGIN} PRIVATE KEY-----\rMII",
    "line ends of JSON": f'"key": "{BEGIN} PRIVATE KEY-----\\nMII\\n"',
    "line ends of a URL": f"key={BEGIN}%20PRIVATE%20KEY-----%0AMII",
    "a form": f"key={BEGIN}+PRIVATE+KEY-----%0D%0AMII",
    "a line end before the dashes": f"{BEGIN} PRIVATE KEY\\n-----",
    "escapes": r"\u002d\u002d\u002d\u002d\u002dBEGIN\u0020PRIVATE\u0020KEY\u002d\u002d\u002d",
    "bytes": r"\x2d\x2d\x2d\x2d\x2dBEGIN\x20PRIVATE\x20KEY\x2d\x2d\x2d\x2d\x2d",
    "HTML": f"{BEGIN}&nbsp;PRIVATE&#32;KEY&#45;&#45;&#45;",
    "mail": f"{BEGIN}=20PRIVATE=20KEY-----=0D=0A",
    "dashes of a word processor": "\u2014\u2014\u2013BEGIN RSA PRIVATE KEY\u2014\u2014",
    "four dashes": "---- " + "BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("around", ["{}", "key = '{}'", "https://x:{}@git.example.com", "A={}\t#"])
def test_a_token_is_found_by_how_it_begins(name: str, around: str) -> None:
    verdict = added(around.format(TOKENS[name]) + "\n")
    assert (verdict.verdict, verdict.reason) == ("Failed", "SecretFound")
    assert TOKENS[name] not in verdict.excerpt


@pytest.mark.parametrize("prefix", ALLOWED_PREFIXES)
@pytest.mark.parametrize("name", [name for name in TOKENS if name != "Slack that expires"])
def test_a_token_that_says_so_is_made_up(name: str, prefix: str) -> None:
    assert added(f"key = '{prefix}-{TOKENS[name]}'\n").verdict == "Passed"


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("prefix", ["", "TEST", "EXAMPLE-"])
def test_a_private_key_is_found_however_it_is_spelled(name: str, prefix: str) -> None:
    verdict = added(f"{prefix}{KEYS[name]}\n")
    assert "app/settings.py:1 private key" in verdict.excerpt


@pytest.mark.parametrize("word", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_in_a_secrets_manifest_is_found(word: str) -> None:
    key = f"{BEGIN} {word}PRIVATE KEY-----\n{made(64)}\n"
    assert "private key" in added(f"  tls.key: {base64.b64encode(key.encode()).decode()}\n").excerpt


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-your-key-goes-here-please-do",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-...",
        "github_pat_" + "x" * 22 + "_" + "x" * 59,
        "github_pat_YOUR_FINE_GRAINED_TOKEN_HERE_WITH_ALL_ITS_RIGHTS_AND_MORE_WORDS_OF_IT",
        "AIza" + "X" * 35,
        "AIza" + made(34),
        "AIza" + made(50),
        "glpat-your-token-goes-here",
        "glpat-" + "x" * 20,
        "xoxb-your-token-goes-here",
        "xoxb-",
        "AGE-SECRET-KEY-1" + "...",
        "AGE-SECRET-KEY-1QQQ",
        "task-proj-" + made(40),
        "a/desk-ant-" + made(40),
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "-----END PRIVATE KEY-----",
        "BEGIN PRIVATE KEY is the first line of one",
        "- begin by making the private key",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
        "sha512-" + made(86) + "==",
        "self.assertEqual(hvs.name, the_name_of_the_hypervisor)",
        "hf_hub_download(repo_id, filename)",
    ],
)
def test_what_only_looks_like_one_passes(text: str) -> None:
    assert added(f"value = '{text}'\n").verdict == "Passed"


@pytest.mark.parametrize(
    "part",
    [
        *("-", "--BEGIN ", "-----BEGIN RSA ", "-----BEGIN A B C D PRIVATE ", " ", "%20", "\\n"),
        *(
            "sk-ant-",
            "xoxb-",
            "glpat-",
            "AIza",
            "github_pat_",
            "xoxe.",
            "sk-proj-",
            "a-",
            "&#",
            "=",
        ),
    ],
)
def test_no_text_takes_long(part: str) -> None:
    text = part * (300_000 // len(part))
    started = time.process_time()
    added(text)
    added("\n".join(text[i : i + 400] for i in range(0, len(text), 400)))
    assert time.process_time() - started < 5
