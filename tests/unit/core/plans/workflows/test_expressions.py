"""Conditions: Python's syntax, JSON's values, and never an error but when they are read."""

from __future__ import annotations

import pytest

from bernstein.core.documents.values import Json
from bernstein.core.plans.workflows.expressions import Expression, Values, parsed
from bernstein.core.plans.workflows.spelling import MOST_DEPTH

OUTPUT: Json = {
    "tests": {"run": 12, "failed": 3, "names": ["a", "b"]},
    "ok": True,
    "bad": False,
    "none": None,
    "ratio": 0.5,
    "one": 1,
    "text": "one two",
    "empty": [],
    "class": "a",
    "größe": 2,
    "same": [1, {"x": [True, 1.0]}],
    "like": [1.0, {"x": [True, 1]}],
    "unlike": [1, {"x": [1, 1]}],
}
VALUES = Values("failed", "3 of 12 tests failed", OUTPUT)

TRUE = (
    "status == 'failed'",
    'status == "failed"',
    "  status == 'failed'\n",
    "status != 'done'",
    "status in ('failed', 'cancelled')",
    "status in ['failed']",
    "status not in ('done', 'skipped')",
    "'tests failed' in result",
    "result",
    "result[0] == '3'",
    "result[-1] == 'd'",
    "output",
    "output.tests.failed == 3",
    "output['tests']['failed'] == 3",
    "output['tests'].failed == output.tests['failed']",
    "output.tests.failed > 2 and output.tests.failed <= 3",
    "2 < output.tests.failed < output.tests.run",
    "output.tests.failed >= 3.0",
    "output.tests.names == ['a', 'b']",
    "output.tests.names == ('a', 'b')",
    "output.tests.names[0] == 'a'",
    "output.tests.names[-2] == 'a'",
    "'b' in output.tests.names",
    "'tests' in output",
    "'x' not in output",
    "output.ok",
    "output.ok == true",
    "output.ok == True",
    "output.bad == false",
    "output.none == null",
    "output.none == None",
    "not output.bad",
    "not output.none",
    "not output.empty",
    "output.ratio < 1",
    "output.one == 1.0",
    "output.text < 'two'",
    "'two' in output.text",
    "'' in output.text",
    "output['class'] == 'a'",
    "output['gr\u00f6\u00dfe'] == 2",
    "output['gr\\u00f6\\u00dfe'] == 2",
    "output[output['class']] == null",
    "output[output.tests.names[0]] == null",
    "output.same == output.like",
    "output.same != output.unlike",
    "true and (false or not false)",
    "output.missing or 'x'",
    "(output.missing or 5) > 4",
    "-1 < 0 and 1e3 == 1000 and .5 == 0.5",
    "output.tests['failed'] == 3 == 3.0 != 4",
    "'a\\'b' == \"a'b\" and '\\\\' != '\\n'",
    # what there is not
    "output.missing == null",
    "output.missing.deeper[3]['x'] == null",
    "null.x == null",
    "result.x == null and result['x'] == null",
    "output.tests.names[2] == null",
    "output.tests.names[-3] == null",
    "output.tests.names['0'] == null",
    "output.tests.names[true] == null",
    "output.tests.names[0.0] == null",
    "output[0] == null",
    "output[null] == null",
    "(1, 2)[1] == 2 and [1, 2][2] == null",
    "1 != '1'",
    "output != null",
    "null == null",
    "[] == ()",
    "[1, [true]] == [1.0, [true]]",
)
FALSE = (
    "true == 1",
    "false == 0",
    "1 == true",
    "output.ok == 1",
    "output.one == true",
    "[true] == [1]",
    "true in [1, 2]",
    "true < 2",
    "false < true",
    "false <= false",
    "true >= true",
    "null < 1",
    "null >= null",
    "1 < null",
    "1 < '2'",
    "'1' < 2",
    "output.missing < 1",
    "output.missing >= 1",
    "[1] < [2]",
    "[1] <= [1]",
    "'x' in null",
    "null in output",
    "1 in output",
    "1 in 'a1'",
    "1 in 1",
    "null in null",
    "'x' in output.tests.names",
    "'x' in true",
    "1 < 3 < 2",
    "0",
    "''",
    "[]",
    "()",
    "null",
    "false",
    "not 'a'",
    "output.empty or output.none",
)

WRONG = {
    "status == 'faild'": "no node has the status 'faild', did you mean 'failed'? (column 11)",
    "'Done' != status": "no node has the status 'Done', did you mean 'done'? (column 1)",
    "status in ['done', 'error']": "no node has the status 'error', known are done, failed, "
    "cancelled, skipped (column 20)",
    "output.ok and status == 1": "no node has the status 1, known are done, failed, cancelled, "
    "skipped (column 25)",
    " status ": "a status is always there, compare it: status == 'done' (column 2)",
    "status and output.ok": "a status is always there, compare it: status == 'done' (column 1)",
    "[status]": "a status is always there, compare it: status == 'done' (column 2)",
    "status.x == null": "a status is always there, compare it: status == 'done' (column 1)",
    "status == true": "no node has the status true, known are done, failed, cancelled, skipped "
    "(column 11)",
    "output.x == status": "no node has the status output.x, known are done, failed, cancelled, "
    "skipped (column 1)",
    "status in output.list": "a status is in a list, such as ['done', 'failed'] (column 11)",
    "'done' in status": "a status is in a list, such as ['done', 'failed'] (column 1)",
    "status < 'done'": "a status is compared by ==, !=, in and not in (column 10)",
    "": "it is empty",
    " \n\t": "it is empty",
    "x" * 301: "it has 301 characters, at most 300 are possible",
    "statuss == 1": "unknown name 'statuss', did you mean 'status'? (column 1)",
    "1 == Null": "unknown name 'Null', did you mean 'null'? (column 6)",
    "x": "unknown name 'x', known are status, result, output, true, false, null (column 1)",
    " \n x == 1": "unknown name 'x', known are status, result, output, true, false, null "
    "(column 4)",
    "'\u00e4\u00f6' == x": "unknown name 'x', known are status, result, output, true, false, null "
    "(column 9)",
    "__import__('os')": "calls are not possible (column 1)",
    "output.items()": "calls are not possible (column 1)",
    "output.a + 1 == 2": "arithmetic is not possible (column 10)",
    "1 - 1": "arithmetic is not possible (column 1)",
    "--1": "arithmetic is not possible (column 1)",
    "-output": "arithmetic is not possible (column 1)",
    "~1": "arithmetic is not possible (column 1)",
    "2 ** 9": "arithmetic is not possible (column 3)",
    "'a' % 1": "arithmetic is not possible (column 5)",
    "-'a'": "it has a value that JSON does not have (column 1)",
    "-true": "arithmetic is not possible (column 1)",
    "-True": "it has a value that JSON does not have (column 1)",
    "-None": "it has a value that JSON does not have (column 1)",
    "1e999": "it has a value that JSON does not have (column 1)",
    "...": "it has a value that JSON does not have (column 1)",
    "1j": "'1j' is no number (column 1)",
    "0x10": "'0x10' is no number (column 1)",
    "1_000": "'1_000' is no number (column 1)",
    "1and 2": "'1and' is no number (column 1)",
    "1.e": "'1.e' is no number (column 1)",
    "status = 'done'": "'=' compares nothing, write '==' (column 8)",
    "status === 'done'": "'=' compares nothing, write '==' (column 10)",
    "(x := 1)": "neither parts of lists nor ':=' are possible (column 4)",
    "result[1:2]": "neither parts of lists nor ':=' are possible (column 9)",
    "status == 'a' && true": "write 'and' (column 15)",
    "status == 'a' || true": "write 'or' (column 15)",
    "!output": "write 'not', or '!=' (column 1)",
    "status is None": "write '==' (column 8)",
    "status is not None": "write '==' (column 8)",
    "lambda: 1": "'lambda' is not possible, but comparisons, and, or, not, in are (column 1)",
    "1 if true else 2": "'if' is not possible, but comparisons, and, or, not, in are (column 3)",
    "[x for x in output]": "'for' is not possible, but comparisons, and, or, not, in are "
    "(column 4)",
    "await status": "'await' is not possible, but comparisons, and, or, not, in are (column 1)",
    "output.class": "'class' is a word of its own, write ['class'] (column 8)",
    "output.in == 1": "'in' is a word of its own, write ['in'] (column 8)",
    "output.gr\u00f6\u00dfe == 1": "'\u00f6' is only possible within quotes (column 10)",
    "{'a': 1}": "an object cannot be written, ask for its fields (column 1)",
    "f'{status}'": "'f' cannot stand before a text (column 2)",
    "b'x' == status": "'b' cannot stand before a text (column 2)",
    "status == r'\\n'": "'r' cannot stand before a text (column 12)",
    "'''a'''": "texts must not touch each other: they begin and end with one quote (column 3)",
    "status == 'done": "a text has no end (column 11)",
    "status == 'a\\d'": "a text has '\\d', which is no escape: write '\\\\' for a backslash "
    "(column 11)",
    "status == '\\777'": "a text has '\\7', which is no escape: write '\\\\' for a backslash "
    "(column 11)",
    "status # comment": "comments are not possible (column 8)",
    "status == \\\n1": "it has a character that nobody sees, write it as an escape within quotes "
    "(column 12)",
    "status\n== 1": "it has a character that nobody sees, write it as an escape within quotes "
    "(column 7)",
    "status == '\u202e'": "it has a character that nobody sees, write it as an escape within "
    "quotes (column 12)",
    "status == '\0'": "it has a character that nobody sees, write it as an escape within quotes "
    "(column 12)",
    "status == '\ud800'": "it has a character that nobody sees, write it as an escape within "
    "quotes (column 12)",
    "$status": "'$' is only possible within quotes (column 1)",
    "status; 1": "';' is only possible within quotes (column 7)",
    "output[(1, 2)]": "an index is a text or a whole number (column 8)",
    "output[1, 2]": "an index is a text or a whole number (column 8)",
    "status ==": "it is not complete, or has something in the wrong place (column 9)",
    "status == == 1": "it is not complete, or has something in the wrong place (column 11)",
    "(status": "it is not complete, or has something in the wrong place (column 1)",
    "status 'a'": "it is not complete, or has something in the wrong place (column 8)",
    "status'a'": "'status' cannot stand before a text (column 7)",
    "status)": "it is not complete, or has something in the wrong place (column 7)",
    "(" * 21 + "1" + ")" * 21: "more than 20 levels in each other (column 21)",
    "(" * 300: "more than 20 levels in each other (column 21)",
    "[" * 150 + "]" * 150: "more than 20 levels in each other (column 21)",
    "not " * 70 + "1": "more than 20 levels in each other (column 81)",
    "output" + ".a" * 140: "more than 20 levels in each other (column 1)",
    "output" + "[0]" * 90: "more than 20 levels in each other (column 1)",
}


def read(text: str) -> Expression:
    expression = parsed(text)
    assert isinstance(expression, Expression), expression
    return expression


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert read(text).holds(VALUES)


@pytest.mark.parametrize("text", FALSE)
def test_what_does_not_hold(text: str) -> None:
    assert not read(text).holds(Values("", VALUES.result, OUTPUT))


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_condition(text: str, message: str) -> None:
    assert parsed(text) == message


def test_an_escape_that_is_cut_short_is_refused() -> None:
    message = "it is not complete, or has something in the wrong place"

    assert str(parsed("status == '\\x1'")).startswith(message)


def test_what_is_not_there_is_null_in_all_three() -> None:
    assert read("result == null and output == null and not result and not output").holds(
        Values("skipped")
    )


@pytest.mark.parametrize("depth", range(1, MOST_DEPTH))
def test_conditions_may_have_some_depth(depth: int) -> None:
    for text in ("(" * depth + "1" + ")" * depth, "[" * depth + "1" + "]" * depth):
        assert read(text).holds(VALUES)
    assert read("output" + ".a" * depth).holds(VALUES) is False


def test_the_longest_condition_is_read() -> None:
    text = "status == 'failed'"
    text += " or result" * ((300 - len(text)) // len(" or result"))

    assert read(text.ljust(300)).holds(VALUES)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("true", set()),
        ("status == 'done' or result", {"status", "result"}),
        ("status == 'done' and output.status", {"status", "output"}),
        ("[result][0]", {"result"}),
        ("1 == 2 and output", {"output"}),
    ],
)
def test_it_tells_which_values_it_asks_for(text: str, reads: set[str]) -> None:
    assert read(text).reads == reads


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("status == 'failed'", 'status = "failed"'),
        ("true", 'status = "failed"'),
        ("output.tests.failed > 2", "output.tests.failed = 3"),
        ("output.a.b[0] == 1 or status == 'failed'", 'output.a.b[0] = null, status = "failed"'),
        (
            "output.ok and output.ok == true and output.ratio",
            "output.ok = true, output.ratio = 0.5",
        ),
        ("output or output.one", "output = object of 13, output.one = 1"),
        ("output.one or output", "output.one = 1, output = object of 13"),
        ("output.tests.names == ['a']", "output.tests.names = list of 2"),
        ("'x' in output", "output = object of 13"),
    ],
)
def test_it_shows_what_it_asks_for(text: str, shown: str) -> None:
    assert read(text).shown(VALUES) == shown


def test_what_it_shows_is_short_and_seen() -> None:
    hostile = Values("failed", "a\n\x1b[31m\u202e\u2028" + "b" * 5_000, {"a": "x" * 5_000})

    assert read("result").shown(hostile) == (
        'result = "a\\n\\u001b[31m\\u202e\\u2028bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…'
    )
    assert len(read("result and output.a and status != 'done'").shown(hostile)) == 100


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("output.ok", True),
        ("not result", True),
        ("true and output.ok", True),
        ("output.ok or status == 'done'", True),
        ("(status == 'failed' or output.a) and output.b", True),
        ("not (status == 'failed' and output.ok)", True),
        ("status == 'failed' and output.ok", False),
        ("output.ok and (output.more or result) and status != 'skipped'", False),
        ("not (status == 'done' or output.ok)", False),
        ("status in ['done', 'failed']", False),
        ("true", False),
    ],
)
def test_whether_an_agents_word_alone_may_make_it_hold(text: str, takes: bool) -> None:
    assert read(text).takes_word is takes
