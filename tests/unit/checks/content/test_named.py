"""Secrets in what is printed that are known by what stands before them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.checks.content.named import without
from bernstein.checks.content.printed import without_secrets

WEB_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQxS3pq1aa"
HEX = "a1b2c3d4e5f6a7b8c9d0"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (f"got {WEB_TOKEN}, expired", "got ***, expired"),
        (f"Authorization: Bearer {HEX}", "Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        (f"-H 'Authorization: token {HEX}' https://a", "-H 'Authorization: token ***' https://a"),
        (f"{{'Authorization': 'Bearer {HEX}'}}", "{'Authorization': 'Bearer ***'}"),
        (f"sent bearer {HEX}", "sent bearer ***"),
        ("API_TOKEN=abcdefgh", "API_TOKEN=***"),
        ("export DB_PASSWORD='s3cret'; run", "export DB_PASSWORD='***'; run"),
        (f"AWS_SECRET_ACCESS_KEY={KEY}", "AWS_SECRET_ACCESS_KEY=***"),
        (f"aws_secret_access_key = {KEY}", "aws_secret_access_key = ***"),
        ("password: hunter2", "password: ***"),
        ('password = "correct-horse"', 'password = "***"'),
        ('{"db_password": "hunter2", "a": 1}', '{"db_password": "***", "a": 1}'),
        (f"client_secret: {HEX}", "client_secret: ***"),
        (f"apiKey={HEX}&page=2", "apiKey=***&page=2"),
        (f"--api-key={HEX} --page 2", "--api-key=*** --page 2"),
        (f"E   token: '{HEX}'", "E   token: '***'"),
        ("PASSWORD=" + "x1" * 900 + " end", "PASSWORD=*** end"),
    ],
)
def test_a_secret_is_masked_and_its_name_stays(printed: str, shown: str) -> None:
    assert without(printed) == shown
    assert without_secrets(printed) == shown


CODE = [
    "token = tokens[i]",
    "token = next(tokens)",
    "self.token = self._read_token2(stream)",
    "if token == 'identifier': return",
    "password: str",
    "password:\nhunter2",
    "password: str = None",
    "password: SecretStr | None",
    "token: uint64",
    "def login(user: str, password: str, token: Token2) -> None:",
    "login(user=user1, password=password1)",
    "connect(password=settings.password, token=config.auth.token1)",
    "secret = hashlib.sha256(value).hexdigest()",
    "api_key = os.environ['API_KEY']",
    "API_TOKEN=${API_TOKEN}",
    "API_TOKEN=$(cat /run/secrets/token)",
    "API_TOKEN=os.environ.get",
    "MAX_TOKEN=4096",
    "PWD=/home/user1/work",
    "input_tokens=1200 output_tokens: 300",
    "token_type: bearer2",
    'headers["Authorization"] = "Bearer " + token',
    'f"Authorization: Bearer {token}"',
    "WWW-Authenticate: Bearer realm=example",
    "bearer authentication is required",
    "E   AssertionError: password: expected 3, got 4",
    '"token": "identifier"',
    "eyJust a word",
    "secret: ./run/secrets/key1",
]


@pytest.mark.parametrize("line", CODE)
def test_code_about_secrets_stays_as_it_is(line: str) -> None:
    assert without(line) == line


PIECES = st.sampled_from(
    [
        *CODE,
        *("password", "API_TOKEN", "secret", "_key", "api", "bearer", "Authorization", "eyJ"),
        *(":", "=", ": ", " = ", "==", "'", '"', "\n", " ", "***", "*", ".", "-", "(", "["),
        *(WEB_TOKEN, KEY, HEX, "hunter2", "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)


@given(TEXTS)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = without(text)

    assert without(once) == once


@given(st.lists(st.sampled_from(CODE), max_size=20))
def test_lines_without_secrets_stay_in_whatever_order(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert without(text) == text


@given(st.text(alphabet=st.characters(exclude_characters=":=")))
def test_nothing_is_lost_where_nothing_is_assigned(text: str) -> None:
    assert without(text) == text or "eyj" in text.lower() or "bearer" in text.lower()


@given(st.sampled_from(["Authorization: Bearer ", "API_TOKEN=", "password: "]), TEXTS)
def test_a_secret_is_masked_whatever_stands_on_other_lines(name: str, beside: str) -> None:
    assert HEX not in without(f"{beside}\n{name}{HEX}\n").rpartition(f"\n{name}")[2]
