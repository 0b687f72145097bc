"""The YAML that an agent leaves: whatever it is, it becomes bounded JSON, or words of ours."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.documents import MOST_BYTES, values
from bernstein.core.documents.canonical import canonical
from bernstein.core.documents.values import MOST_LEVELS, MOST_VALUES, Problem
from tests.unit.core.documents.test_values import JSON_VALUES

GOOD = [
    ("a: 1\nb: [x, 'y', 1.5, true, null]\n", {"a": 1, "b": ["x", "y", 1.5, True, None]}),
    ("# only a comment\n", None),
    ("a: &a [1]\nb: *a\n", {"a": [1], "b": [1]}),
    ("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n", {"a": {"x": 1}, "b": {"x": 1, "y": 2}}),
    ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
    ('a: "2026-01-01"\n', {"a": "2026-01-01"}),
    ("'no': '1'\n", {"no": "1"}),
    ("é: 日本\n", {"é": "日本"}),
    ("[" * MOST_LEVELS + "]" * MOST_LEVELS, json.loads("[" * MOST_LEVELS + "]" * MOST_LEVELS)),
    ("[" + "0," * (MOST_VALUES - 1) + "]", [0] * (MOST_VALUES - 1)),
    (f"{values.LARGEST}", values.LARGEST),
]
OTHER = (
    "one of its values is no text, number, boolean, null, list or mapping (a date is none: "
    "put it in quotes)"
)
LONGER = "it has more than 65536 bytes"
DEEP = "it is nested deeper than 21"
KEY = "one of its keys is no text: put it in quotes"
LARGE = "one of its numbers is too large, or none"
INTEGER = "one of its integers does not fit into 64 bits"
WRITTEN_OUT = "with all aliases written out"
MANY = f"it has more than 2000 values {WRITTEN_OUT}"


def bomb(levels: int, of: str) -> str:
    """Each line stands for nine times the line above it."""
    lines = [f"a0: &a0 {of}"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


BAD = [
    (b"a: \xff\n", "it is no UTF-8"),
    ("a: 1".encode("utf-16"), "it is no UTF-8"),
    (b'a: "\\ud800"', values.HALF_A_PAIR),
    (b'"\\udc00": 1', values.HALF_A_PAIR),
    (b"a: \x00\n", "it is no YAML that is read"),
    (b"a:\n\t- 1\n", "it is no YAML that is read (line 2, column 1)"),
    (b"secret-words: [\n", "it is no YAML that is read (line 2, column 1)"),
    (b"a: 1\n---\nb: 2\n", "it is no YAML that is read (line 2, column 1)"),
    (b"a: *nowhere\n", "it is no YAML that is read (line 1, column 4)"),
    (b"a: !!python/name:os.system\n", "it is no YAML that is read (line 1, column 4)"),
    (b"a: !!binary aGVsbG8=\n", OTHER),
    (b"a: !!set {x, y}\n", OTHER),
    (b"a: 2026-01-01\n", OTHER),
    (b"a: 2026-01-01T10:00:00Z\n", OTHER),
    (b"a: 2026-99-99\n", "it is no YAML that is read"),
    (b'a: !!int ""\n', "it is no YAML that is read"),
    (b"a: !!bool x\n", "it is no YAML that is read"),
    (b"a: !!timestamp x\n", "it is no YAML that is read"),
    (b"a: 1\nb: 2\na: 3\n", "it has the same key twice (line 3, column 1)"),
    (b"1: a\n", KEY),
    (b".nan: a\n", KEY),
    (b"null: a\n", KEY),
    (b"? [a, b]\n: c\n", "it is no YAML that is read (line 1, column 3)"),
    (b"a: .nan\n", LARGE),
    (b"a: -.inf\n", LARGE),
    (b"a: 1.0e+400\n", LARGE),
    (b"a: 1" + b"0" * 400 + b"\n", INTEGER),
    (b"a: 1" + b"0" * 40_000 + b"\n", "it is no YAML that is read"),
    (b"a: 0x" + b"f" * 60_000 + b"\n", INTEGER),
    (b"[" * 10_000 + b"]" * 10_000, f"{DEEP} (line 1, column 22)"),
    (b"{a: " * 60, f"{DEEP} (line 1, column 82)"),
    (b"- " * 10_000, f"{DEEP} (line 1, column 43)"),
    (b"x" * (MOST_BYTES + 1), LONGER),
    (b"[" + b"0," * MOST_VALUES + b"]", f"{MANY} (line 1, column 1)"),
    (b"a: &a [*a]\n", "it has an alias inside of what it stands for (line 1, column 4)"),
    (bomb(9, "x").encode(), f"{MANY} (line 5, column 5)"),
    (bomb(4, "x" * 60_000).encode(), f"it has more than 65536 bytes {WRITTEN_OUT}"),
    (("a: &a " + "é" * 20_000 + "\nb: *a").encode(), "it has more than 65536 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "value"), GOOD)
def test_what_is_within_the_bounds_is_json_of_the_same_values(document: str, value: object) -> None:
    made = canonical(document.encode())

    assert isinstance(made, bytes)
    assert json.loads(made) == value
    assert values.parsed(made) == value


def test_it_keeps_the_order_of_the_document_which_nodes_of_a_workflow_have() -> None:
    assert canonical(b"b: 1\na: [x]\n") == b'{"b":1,"a":["x"]}'
    assert canonical(b'{"a": ["x"], "b": 1}') == b'{"a":["x"],"b":1}'


@pytest.mark.parametrize(("document", "why"), BAD)
def test_what_is_not_is_a_problem_in_our_words(document: bytes, why: str) -> None:
    assert canonical(document) == Problem(why)


def test_without_our_bounds_a_few_lines_stand_for_gigabytes() -> None:
    loaded = yaml.safe_load(bomb(4, "x" * 60_000))

    assert sum(len(text) for a in loaded["a3"] for b in a for text in b) == 9**3 * 60_000


_MARKS = "- |: |\n|  |\t|[|]|{|}|,|? |&a |*a|<<|>|%YAML 1.1\n|---\n|'|\"|\\|#|a|1:"
_TAGS = "!!|!!int |!!float |!!bool |!!binary |!!timestamp |!!str |!!set |!!omap |!x "
_VALUES = ["|\n", "0x", "1e9", ".inf", "2026-01-01", "~", "\u2028", "é", "\x85"]
PIECES = st.sampled_from([*_MARKS.split("|"), *_TAGS.split("|"), *_VALUES])


@given(st.binary() | st.lists(PIECES, max_size=60).map("".join).map(str.encode))
def test_no_document_is_an_error_and_what_is_made_is_within_the_bounds(document: bytes) -> None:
    made = canonical(document)

    if isinstance(made, bytes):
        assert not isinstance(values.parsed(made), Problem)
        assert canonical(made) == made


@given(JSON_VALUES)
def test_what_is_json_already_is_what_it_was_or_refused(value: object) -> None:
    written = json.dumps(value).encode()
    made = canonical(written)

    if isinstance(made, bytes) and not isinstance(values.parsed(written), Problem):
        assert json.loads(made) == _of_yaml(value)


def _of_yaml(value: object) -> object:
    """YAML 1.1 takes 1e+16 for a text, as it has no point."""
    if isinstance(value, float) and "." not in json.dumps(value):
        return json.dumps(value)
    if isinstance(value, list):
        return [_of_yaml(each) for each in value]
    return {k: _of_yaml(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "document",
    [
        "[" * MOST_BYTES,
        "- " * (MOST_BYTES // 2),
        "[" + "0," * (MOST_BYTES // 2 - 1) + "]",
        "1:" * (MOST_BYTES // 2 - 1) + "1",
        "a: 0x" + "f" * (MOST_BYTES - 5),
        "&a " * (MOST_BYTES // 3),
        "? " * (MOST_BYTES // 2),
        '"' + "\\\\" * (MOST_BYTES // 2 - 1) + '"',
        "'" + "''" * (MOST_BYTES // 2 - 1) + "'",
        "#" * MOST_BYTES,
        "\n" * MOST_BYTES,
        "a\n" * (MOST_BYTES // 2),
        "|\n" + " x\n" * (MOST_BYTES // 3 - 1),
        "{" + "a," * (MOST_BYTES // 2 - 1) + "}",
        "%YAML 1.1\n" * (MOST_BYTES // 10),
        "\n".join(f"k{n}: &a{n} x" for n in range(4_000)),
    ],
)
def test_the_largest_take_no_time(document: str) -> None:
    started = time.process_time()
    canonical(document.encode())

    assert time.process_time() - started < 5
