"""A test whose assertions may fail without anybody hearing of it."""

from __future__ import annotations

import time

import pytest

from tests.unit.checks.weakening.told import found

A = "tests/test_a.py"
ASSERTS = "    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"
TEST = f"def test_adds():\n{ASSERTS}\ndef test_takes():\n    assert take()\n"


def within(before: str, behind: str = "") -> str:
    """The test with its assertions in a block of this."""
    inner = "".join(f"    {line}\n" for line in ASSERTS.splitlines())
    return TEST.replace(ASSERTS, f"    {before}\n{inner}{behind}")


def after(text: str, before: str = TEST) -> list[str]:
    assert text != TEST
    return found({A: before}, {A: text})


SWALLOWS = [
    within("try:", "    except AssertionError:\n        print('no')\n"),
    within("try:", "    except (ValueError, AssertionError) as error:\n        error\n"),
    within("try:", "    except Exception:\n        pass\n"),
    within("try:", "    except Exception as error:  # later\n        pass\n"),
    within("try:", "    except BaseException: pass\n"),
    within("try:", "    except:\n        ...\n"),
    within("with suppress(AssertionError):"),
    within("with contextlib.suppress(ValueError, Exception):"),
    within("with pytest.raises(AssertionError):"),
    within("with pytest.raises(\n        BaseException):"),
]


@pytest.mark.parametrize("text", SWALLOWS)
def test_one_that_passes_over_what_it_asserts_is_told(text: str) -> None:
    assert after(text) == [f"{A}: test_adds passes over assertions that fail"]


@pytest.mark.parametrize(
    "text",
    [
        within("try:", "    except ValueError:\n        pass\n"),
        within("try:", "    except Exception as error:\n        raise Wrong from error\n"),
        within("with suppress(ValueError):"),
        within("with pytest.raises(Exception):"),
        within("if True:", "    text = 'except AssertionError'  # except: pass\n"),
        TEST + "\ndef test_more():\n    with pytest.raises(AssertionError):\n        add()\n",
        TEST + "\ndef test_more():\n    try:\n        add()\n    except Exception:\n        pass\n",
    ],
)
def test_what_passes_over_no_assertion_that_was_there_is_not(text: str) -> None:
    assert after(text) == []


@pytest.mark.parametrize("text", SWALLOWS)
def test_what_did_so_before_may_do_so_and_stop_doing_so(text: str) -> None:
    assert after(text + "\n", text) == []
    assert found({A: text}, {A: TEST}) in ([], [f"{A}: test_adds has 2 of 3 assertions left"])


WORDS = ["except ", "suppress(", "raises(", "except:\n", "assert x or ", f"assert ({',' * 300}"]


@pytest.mark.parametrize("word", WORDS)
def test_however_often_a_word_stands_there_it_is_read_in_no_time(word: str) -> None:
    began = time.process_time()

    after(TEST + "\ndef test_long():\n    " + word * (1_000_000 // len(word)))

    assert time.process_time() - began < 5
