"""What a gate in Python is asked, and what comes of its result."""

from __future__ import annotations

import pytest

from tests.programs.plugins.gate import FILE, NO_FOO, Gates, of, says

pytestmark = pytest.mark.verification


def test_a_change_that_it_has_nothing_against_passes(gates: Gates) -> None:
    run = gates.judge({"a.txt": "bar\n"})

    assert run.verdict is not None, run.output
    assert (run.verdict.verdict, run.verdict.reason) == ("Passed", "")
    assert (run.verdict.excerpt, run.verdict.required, run.code) == ("Clean", True, 0)


def test_a_change_that_it_is_against_fails_with_its_words(gates: Gates) -> None:
    run = gates.judge({"a.txt": "foo\n", "b.txt": "bar\n"})

    assert run.verdict is not None, run.output
    assert (run.verdict.verdict, run.verdict.reason) == ("Failed", "PluginSaysNo")
    assert run.verdict.excerpt == "Found 'foo' in ['a.txt']"


def test_it_sees_files_that_were_added_or_edited_and_none_that_was_deleted(gates: Gates) -> None:
    before = {"gone.txt": "foo", "same.txt": "foo", "old.txt": "1", "folder/x": "1"}
    change = {"gone.txt": None, "old.txt": "2", "new name.txt": "1", "link": "->old.txt"}
    plugin = of(says("fail", "repr(sorted(changed_files))"))

    run = gates.judge({**change, "sub": "!" + "1" * 40}, {**before, FILE: plugin})

    assert run.verdict is not None, run.output
    assert run.verdict.excerpt == "['link', 'new name.txt', 'old.txt']"


def test_on_the_base_it_is_asked_about_those_that_were_there(gates: Gates) -> None:
    plugin = of(says("fail", "repr([(f, open(f).read()) for f in changed_files])"))

    run = gates.judge(
        {"old.txt": "2", "new.txt": "1"}, {"old.txt": "1", FILE: plugin}, on_base=True
    )

    assert run.verdict is not None, run.output
    assert run.verdict.excerpt == "[('old.txt', '1')]"


def test_it_runs_in_the_tree_and_knows_the_task(gates: Gates) -> None:
    words = "f'{run_dir == run_dir.cwd()} {run_dir.name} {task_title} {task_description}'"

    run = gates.judge({"a": "1"}, {FILE: of(says("fail", words))})

    assert run.verdict is not None, run.output
    assert run.verdict.excerpt == "True workspace A title A description"


@pytest.mark.parametrize(
    ("condition", "changed", "verdict"),
    [
        ("always", "a.txt", "Failed"),
        ("any_changed", "a.txt", "Failed"),
        ("python_changed", "a.txt", "Skipped"),
        ("python_changed", "a.py", "Failed"),
        ("changed_files.any('.py')", "a.py", "Failed"),
        ("changed_files.any('.py')", "a.txt", "Skipped"),
        ("tests_changed", "tests/a.txt", "Failed"),
        ("deps_changed", "go.mod", "Failed"),
        ("deps_changed", "a.txt", "Skipped"),
    ],
)
def test_its_own_condition_counts_where_the_project_has_none(
    condition: str, changed: str, verdict: str, gates: Gates
) -> None:
    run = gates.judge({changed: "1"}, {FILE: of(says("fail"), condition=condition)})

    assert run.verdict is not None, run.output
    assert run.verdict.verdict == verdict
    assert (run.verdict.reason == "ConditionNotMet") == (verdict == "Skipped")


def test_the_projects_condition_counts_before_its_own(gates: Gates) -> None:
    plugin = of(says("fail"), condition="python_changed")

    run = gates.judge({"a.txt": "1"}, {FILE: plugin}, ask_condition=False)

    assert run.verdict is not None, run.output
    assert run.verdict.verdict == "Failed"


def test_it_says_itself_whether_it_is_required(gates: Gates) -> None:
    run = gates.judge({"a.txt": "1"}, {FILE: of(says("fail"), required="False")})

    assert run.verdict is not None, run.output
    assert run.verdict.required is False


def test_it_may_find_that_a_change_is_nothing_for_it(gates: Gates) -> None:
    run = gates.judge({"a.txt": "1"}, {FILE: of(says("skipped", "'no pictures'"))})

    assert run.verdict is not None, run.output
    assert (run.verdict.verdict, run.verdict.reason) == ("Skipped", "ConditionNotMet")


def test_a_name_that_is_no_text_reaches_it_and_its_file_is_read(gates: Gates) -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    plugin = of(says("fail", "ascii([(f, open(f).read()) for f in changed_files])"))

    run = gates.judge({name: "x"}, {FILE: plugin})

    assert run.verdict is not None, run.output
    assert run.verdict.excerpt == r"[('caf\udce9', 'x')]"


@pytest.mark.parametrize("text", ["'é' * 9999", "'\\U0001f600' * 9999", "'\\x00' * 9999"])
def test_long_words_are_cut_to_what_a_pod_may_leave(text: str, gates: Gates) -> None:
    run = gates.judge({"a": "1"}, {FILE: of(says("fail", text))})

    assert run.verdict is not None, run.output
    assert 300 < len(run.verdict.excerpt) <= 1500
    assert (gates.folder / "termination-log").stat().st_size <= 4000


def test_what_it_prints_is_in_the_log(gates: Gates) -> None:
    run = gates.judge({"a": "1"}, {FILE: of("print('I looked')\n" + says())})

    assert run.verdict is not None, run.output
    assert "I looked" in run.output


def test_a_file_of_helpers_is_no_gate(gates: Gates) -> None:
    helper = "from bernstein_gates import GatePlugin\nclass Common(GatePlugin):\n    pass\n"

    run = gates.judge({"a": "1"}, {".bernstein/gates/common.py": helper, FILE: NO_FOO})

    assert run.verdict is not None, run.output
    assert run.verdict.verdict == "Passed"
