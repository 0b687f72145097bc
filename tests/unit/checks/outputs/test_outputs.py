"""What tools print, as findings and measures: as they print it, and nonsense in its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.checks import gates, outputs
from bernstein.checks.findings import Finding, NoListing, Unanswered
from bernstein.checks.gate import Command
from bernstein.checks.outputs import document, imports, radon

ROOT = "/workspace"
every_form = pytest.mark.parametrize("form", [*outputs.FINDINGS, *outputs.MEASURES])


def read(form: str, said: Any) -> Any:
    output = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    if form in outputs.MEASURES:
        return outputs.MEASURES[form].read(output, ROOT)
    return list(outputs.FINDINGS[form](output, ROOT))


def test_every_gate_prints_in_a_form_that_is_known() -> None:
    for gate in gates.GATES:
        if isinstance(gate.runs, Command):
            known = outputs.FINDINGS if gate.runs.tolerance is None else outputs.MEASURES
            scored = gate.runs.least is not None
            assert (gate.runs.output in known) is not scored, gate.name
            assert (gate.runs.output == "mutants") is scored, gate.name


def pyright(severity: str = "error", **more: Any) -> dict[str, Any]:
    place = {"start": {"line": 4, "character": 1}, "end": {"line": 4, "character": 9}}
    said = {
        "file": "/workspace/p/a.py",
        "severity": severity,
        "message": "no\n  str",
        "range": place,
    }
    return {"generalDiagnostics": [said | more], "summary": {"errorCount": 1}}


def test_errors_of_pyright_are_findings_and_its_warnings_are_not() -> None:
    found = read("pyright", pyright(rule="reportReturnType"))

    assert found == [Finding("p/a.py", 5, "reportReturnType", "no str")]
    assert read("pyright", pyright()) == [Finding("p/a.py", 5, "error", "no str")]
    assert read("pyright", pyright("warning")) == []


def test_a_file_that_bandit_cannot_read_is_a_finding_beside_what_it_finds() -> None:
    result = {
        "filename": "./p/a.py",
        "line_number": 6,
        "test_id": "B602",
        "issue_text": "subprocess call with shell=True identified, security issue.",
    }
    error = {"filename": "./b.py", "reason": "syntax error while parsing AST from file"}

    assert read("bandit", {"results": [result], "errors": [error]}) == [
        Finding("p/a.py", 6, "B602", "subprocess call with shell=True identified, security issue."),
        Finding("b.py", 0, "unread", "syntax error while parsing AST from file"),
    ]


def test_what_vulture_calls_unused_is_known_by_its_name() -> None:
    said = """p/a.py:2: unused import 'b' (90% confidence)
a:1.py:13: unreachable code after 'if' (100% confidence)
"""

    assert read("vulture", said) == [
        Finding("p/a.py", 2, "unused import 'b'", ""),
        Finding("a:1.py", 13, "unreachable code after 'if'", ""),
    ]


def test_imports_of_a_circle_are_findings_and_others_are_not() -> None:
    graph = {
        "p/a.py": ["p/b.py"],
        "p/b.py": ["p/c.py", "p/d.py"],
        "p/c.py": ["p/a.py"],
        "p/d.py": [],
        "p/e.py": ["p/a.py", "p/e.py"],
    }

    assert [(f.path, f.rule, f.other) for f in read("imports", graph)] == [
        ("p/a.py", "import-cycle", "p/b.py"),
        ("p/b.py", "import-cycle", "p/c.py"),
        ("p/c.py", "import-cycle", "p/a.py"),
    ]
    assert read("imports", graph)[0].message == "which leads back: p/b.py -> p/c.py -> p/a.py"


def test_a_long_way_back_is_cut_in_its_middle() -> None:
    graph = {f"{i}.py": [f"{(i + 1) % 30}.py"] for i in range(30)}

    assert read("imports", graph)[0].message == (
        "which leads back: 1.py -> 2.py -> 3.py -> 4.py -> ... -> 0.py"
    )


@given(st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=5), max_size=8))
def test_two_modules_are_in_one_part_where_each_leads_to_the_other(
    drawn: dict[int, list[int]],
) -> None:
    graph = {str(i): [str(to) for to in drawn.get(i, ())] for i in range(8)}
    reach = {name: {name} for name in graph}
    for _ in graph:
        for name in graph:
            reach[name] |= {far for to in graph[name] for far in reach[to]}

    part = imports.parts(graph)

    for one in graph:
        for other in graph:
            both = other in reach[one] and one in reach[other]
            assert (part[one] == part[other]) == both


def test_a_circle_of_all_modules_takes_no_stack_and_little_time() -> None:
    graph = {f"{i}.py": [f"{(i + 1) % 20_000}.py"] for i in range(20_000)}

    assert len(read("imports", graph)) == 20_000


def test_functions_are_measured_by_class_and_name() -> None:
    block = {"type": "method", "name": "f", "classname": "C", "complexity": 4, "lineno": 3}
    said = {
        "/workspace/p/a.py": [
            {"type": "class", "name": "C", "complexity": 9, "methods": [block]},
            block,
            block | {"complexity": 3},
            {"type": "function", "name": "g", "complexity": 2},
        ],
        "/workspace/b.py": {"error": "invalid syntax (<unknown>, line 1)"},
    }

    assert read("radon", said) == {"p/a.py:C.f": 4, "p/a.py:g": 2}
    assert unread(said) == {"b.py": "invalid syntax (<unknown>, line 1)"}


def unread(said: dict[str, Any]) -> Mapping[str, str]:
    of_radon = outputs.MEASURES["radon"].unread
    assert of_radon is not None
    return of_radon(json.dumps(said).encode(), ROOT)


def test_whatever_stands_in_place_of_functions_is_a_file_that_was_not_read() -> None:
    said: dict[str, Any] = {
        "./a.py": {},
        "/workspace/b.py": None,
        "c.py": {"error": 1},
        "d.py": [],
        "e": "x",
    }

    assert unread(said).keys() == {"a.py", "b.py", "c.py", "e"}


def test_files_that_were_not_read_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radon, "MOST", 2)

    with pytest.raises(NoListing):
        unread({f"{n}.py": {"error": ""} for n in range(3)})


@every_form
@pytest.mark.parametrize("text", ["[", "[]", "1", '"a"', "nothing at all", "[" * 100_000])
def test_what_is_not_in_the_form_is_never_passed_over(form: str, text: str) -> None:
    with pytest.raises(NoListing):
        read(form, text)


def covered(**files: tuple[int, int]) -> dict[str, Any]:
    """A report of files, each with its lines and those that are not run."""
    names = {name.replace("__", "/") + ".py": numbers for name, numbers in files.items()}
    return {
        "files": {
            name: {"summary": {"num_statements": lines, "missing_lines": missed}}
            for name, (lines, missed) in names.items()
        }
    }


WRONG: dict[str, list[Any]] = {
    "ruff": [{}, {"filename": 1, "location": 2}],
    "pyright": [{}, {"generalDiagnostics": [{}]}, pyright(range={}), {"generalDiagnostics": 1}],
    "bandit": [{}, {"results": []}, {"results": [{}], "errors": []}, {"results": 1, "errors": []}],
    "vulture": ["a.py: unused import 'b' (90% confidence)", "a.py:1: unused"],
    "imports": [{"a.py": "b.py"}, {"a.py": None}],
    "radon": [
        {"a.py": [{}]},
        {"a.py": [1]},
        {"a.py": [{"type": "f", "name": "a", "complexity": "x"}]},
    ],
    "coverage": [
        {"totals": {}},
        {"files": 1},
        {"files": {"a.py": {}}},
        covered(a=(1, 2)),
        {"files": {"a.py": {"summary": {"num_statements": 1.0, "missing_lines": 0}}}},
    ],
    "advisories": [{}, {"found": 1}, {"found": [{}]}, {"silent": "x"}],
    "benchmark": [{"a": 1}, {"benchmarks": [{}]}, {"benchmarks": [{"fullname": 1, "stats": 2}]}],
}


@pytest.mark.parametrize(
    ("form", "said"), [(f, said) for f, all_ in WRONG.items() for said in all_]
)
def test_a_report_without_what_it_must_have_is_none(form: str, said: Any) -> None:
    with pytest.raises(NoListing):
        read(form, said)


@pytest.mark.parametrize(("is_denied", "remedy"), [(True, "network.checks"), (False, "")])
def test_why_weaknesses_are_not_known_is_told_apart_from_what_the_program_said(
    is_denied: bool, remedy: str
) -> None:
    """It may be a line of the tree that pip-audit has not understood."""
    with pytest.raises(Unanswered) as why:
        read("advisories", {"silent": "pip-audit: a line\nof the tree", "denied": is_denied})

    assert why.value.said == "pip-audit: a line of the tree"
    assert "line" not in why.value.message
    assert remedy in why.value.message


def of_work(work: dict[str, Any], base: dict[str, Any]) -> Any:
    scale = outputs.MEASURES["coverage"]
    assert scale.beside is not None
    assert scale.of_work is not None
    folders = scale.beside(json.dumps(base).encode(), ROOT)
    return scale.of_work(json.dumps(work).encode(), folders, ROOT)


def test_coverage_is_that_of_all_lines_and_nothing_without_any() -> None:
    assert read("coverage", covered(a=(2, 1), p__b=(1, 0))) == {"coverage": 200 / 3}
    assert read("coverage", covered(a=(0, 0))) == {}
    assert read("coverage", {}) == {}


def test_a_base_of_which_nothing_is_run_is_nothing_to_be_measured_by() -> None:
    """Maybe nobody has measured: the tests run in other processes, or something else measures."""
    assert read("coverage", covered(a=(4, 4))) == {}
    assert of_work(covered(a=(4, 4)), covered(a=(4, 1))) == {"coverage": 0}


def test_what_tests_run_of_themselves_covers_nothing() -> None:
    assert read("coverage", covered(a=(4, 2), test_a=(96, 0))) == {"coverage": 50}


@pytest.mark.parametrize("name", ["test_x", "x_test", "conftest", "p__test_x", "tests__x"])
def test_code_that_is_called_like_a_test_and_not_run_is_not_covered(name: str) -> None:
    base = covered(a=(4, 0), test_a=(2, 0), p__b=(0, 0), p__test_b=(1, 0))

    assert of_work(covered(a=(4, 0), test_a=(2, 0), **{name: (4, 4)}), base) == {"coverage": 50}


def test_tests_that_this_run_does_not_come_to_are_left_out_beside_others_of_the_base() -> None:
    base = covered(a=(4, 0), tests__test_a=(2, 0), tests__more__test_b=(1, 1))
    work = covered(a=(4, 0), tests__test_a=(2, 0), tests__e2e__test_c=(9, 9))

    assert of_work(work, base) == {"coverage": 100}


def test_code_among_the_tests_counts_once_anything_of_it_is_run() -> None:
    base = covered(a=(4, 0), tests__test_a=(2, 0))

    assert of_work(covered(a=(4, 0), tests__test_a=(6, 4)), base) == {"coverage": 50}


def test_of_a_benchmark_the_quickest_round_counts() -> None:
    bench = {"fullname": "tests/test_a.py::test_b", "stats": {"min": 0.25, "mean": 9.0}}

    assert read("benchmark", {"benchmarks": [bench]}) == {"tests/test_a.py::test_b": 0.25}
    assert read("benchmark", {}) == {}


def test_every_form_is_tried_with_what_is_wrong_in_it() -> None:
    assert set(WRONG) == {*outputs.FINDINGS, *outputs.MEASURES}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_measure_is_a_number(value: str) -> None:
    block = f'{{"type": "function", "name": "f", "complexity": {value}}}'
    said = f'{{"a.py": [{block}]}}'

    with pytest.raises(NoListing):
        read("radon", said)


def test_a_document_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_BYTES", 10)
    with pytest.raises(NoListing):
        read("bandit", {"results": [], "errors": []})


WHOLE = "9" * 400
"""A number that no float holds."""
INFINITE = f"{WHOLE}.0"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("ruff", f'{{"filename": "a.py", "location": {{"row": {INFINITE}}}}}'),
        ("bandit", f'{{"results": [{{"filename": "a.py", "line_number": {INFINITE}}}]}}'),
        ("radon", f'{{"a.py": [{{"type": "function", "name": "f", "complexity": {WHOLE}}}]}}'),
        (
            "coverage",
            f'{{"files": {{"a": {{"summary": {{"num_statements": {WHOLE}, "missing_lines": 1}}}}}}',
        ),
        ("benchmark", f'{{"benchmarks": [{{"fullname": "f", "stats": {{"min": {WHOLE}}}}}]}}'),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_a_number_that_nothing_holds_is_no_listing(form: str, said: str) -> None:
    with pytest.raises(NoListing):
        read(form, said)


def test_a_line_that_no_number_tells_is_no_listing() -> None:
    place = {"start": {"line": float("inf")}}

    with pytest.raises(NoListing):
        read("pyright", pyright(range=place))
