"""What a change takes from tests that were there, and what it does not."""

from __future__ import annotations

import time

import pytest

from bernstein.checks.weakening.weakened import is_looked_at
from tests.unit.checks.weakening.told import found

A = "tests/test_a.py"
TESTS = """\
import pytest

def test_adds():
    assert add(1, 2) == 3
    assert add(0, 0) == 0

@pytest.mark.parametrize("n", [1, 2])
def test_takes(n):
    with pytest.raises(ValueError):
        take(n)

class TestAll:
    def test_both(self):
        self.assertEqual(add(1, 1), take(3))
"""


def after(text: str) -> list[str]:
    return found({A: TESTS}, {A: text})


@pytest.mark.parametrize(
    "text",
    [
        TESTS + "\ndef test_more():\n    pass\n",
        TESTS.replace("== 3", "== 4"),
        TESTS.replace("== 3", "== (3 or True)"),
        TESTS.replace("== 3", "== f(3 or True)"),
        TESTS.replace("add(1, 2) == 3", "(add(1, 2), 0) == (3, 0)"),
        TESTS.replace("test_adds", "test_sums"),
        "# about all of it\n" + TESTS,
        TESTS.replace("assert add(0, 0) == 0", "assert add(0, 0) == 0\n    assert add(1, 0)"),
        "import pytest\n\n" + TESTS.partition("\n\n")[2].replace("n", "n"),
        TESTS + '\n@pytest.mark.skip\ndef test_later():\n    "TODO"\n',
        TESTS.replace("import pytest", "import pytest\n\nSKIPPED = 'pytest.mark.skip'"),
    ],
    ids=[
        *("more", "other value", "or within", "or in a call", "tuples", "other name", "comment"),
        *("asserts", "same", "new skipped", "text"),
    ],
)
def test_tests_that_keep_what_they_have_are_not_weakened(text: str) -> None:
    assert after(text) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    assert add(0, 0) == 0\n", "", "test_adds has 1 of 2 assertions left"),
        ("    assert add(0", "    # assert add(0", "test_adds has 1 of 2 assertions left"),
        ("assert add(0, 0) == 0", "'''assert x'''", "test_adds has 1 of 2 assertions left"),
        ("assert add(0, 0) == 0", "assert True", "test_adds has 1 of 2 assertions left"),
        ("assert add(0, 0) == 0", "assert (1), 'x'", "test_adds has 1 of 2 assertions left"),
        ("assert add(0, 0) == 0", 'assert "text"', "test_adds has 1 of 2 assertions left"),
        ("add(0, 0) == 0", "add(0, 0) == 0 or True", "test_adds has 1 of 2 assertions left"),
        ("add(0, 0) == 0", "(add(0, 0) or 1), 'x'", "test_adds has 1 of 2 assertions left"),
        ("assert add(0, 0) == 0", "assert (add == 0, 'x')", "test_adds has 1 of 2 assertions left"),
        ("def test_adds", "def adds", "test_adds is gone"),
        ("def test_adds", "@pytest.mark.skip\ndef test_adds", "test_adds is marked"),
        ("def test_adds", "@pytest.mark.xfail(reason='x')\ndef test_adds", "test_adds is marked"),
        ("assert add(1", "pytest.skip()\n    assert add(1", "test_adds is marked"),
        ("assert add(1", "raise Skipped('x')\n    assert add(1", "test_adds is marked"),
        ("assert add(1", "os._exit(0)\n    assert add(1", "test_adds is marked"),
        ("class TestAll:", "class All:", "TestAll is gone"),
        ("class TestAll:", "class TestAll:\n    __test__ = False", "TestAll is marked"),
        ("with pytest.raises(ValueError):", "if True:", "test_takes has 0 of 1 assertions left"),
        ("import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n", "gets a mark or a"),
        ("import pytest\n", 'import pytest\ncollect_ignore = ["test_a.py"]\n', "gets a mark or a"),
    ],
)
def test_what_is_taken_from_a_test_is_told(old: str, new: str, told: str) -> None:
    assert old in TESTS

    (said,) = after(TESTS.replace(old, new))

    assert said.startswith(f"{A}: {told}")


def test_a_file_of_tests_that_is_deleted_is_told_with_their_number() -> None:
    assert found({A: TESTS}, {}) == [f"{A}: is deleted, with 4 tests"]
    assert found({"tests/data.py": "ROWS = [1]\n"}, {}) == []


def test_tests_that_move_to_another_file_are_the_same() -> None:
    first, *rest = TESTS.split("\n\n")
    split = {"tests/unit/test_adds.py": f"{first}\n\n{rest[0]}\n"}
    split["tests/unit/test_rest.py"] = "\n\n".join([first, *rest[1:]])

    assert found({A: TESTS}, {"tests/unit/test_a.py": TESTS}) == []
    assert found({A: TESTS}, split) == []


def test_a_test_that_moves_to_where_nobody_looks_for_tests_is_told() -> None:
    said = found({A: TESTS}, {"tests/a.py": TESTS})

    assert len(said) == 4
    assert f"{A}: test_adds is in tests/a.py, where no tests are looked for" in said


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        *((A, f"{folder}/test_a.py") for folder in ("build", "tests/dist", "venv", ".x", "a.egg")),
        *((A, f"tests/{folder}/test_a.py") for folder in ("node_modules", "CVS", "__pycache__")),
        ("p/a_test.go", "p/a_windows_test.go"),
        ("p/a_test.go", "p/a_linux_arm64_test.go"),
        ("p/a_test.go", "p/_a_test.go"),
        ("p/a_test.go", "p/testdata/a_test.go"),
        ("tests/a_test.go", "tests/a.go"),
        ("tests/a.test.ts", "tests/a.ts"),
        ("src/__tests__/a.ts", "src/tests/a.ts"),
        ("a.test.ts", "node_modules/a.test.ts"),
        ("spec/a_spec.rb", "spec/a.rb"),
    ],
)
def test_so_is_one_in_a_folder_or_of_a_name_that_its_runner_passes_over(
    path: str, moved: str
) -> None:
    text = TESTS if path == A else LANGUAGES[OF_SUFFIX[path.rpartition(".")[2]]][0]

    assert any(
        f"is in {moved}, where no tests" in each for each in found({path: text}, {moved: text})
    )
    assert found({moved: text}, {path: text}) == []
    assert found({moved: text}, {moved: text + "\n"}) == []


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("p/a_test.go", "p/a_linux_test.go"),
        ("p/a_test.go", "q/windows_test.go"),
        ("a.test.ts", "src/__tests__/a.ts"),
        ("a.test.ts", "src/a-spec.mts"),
        ("tests/a.ts", "tests/b/a.ts"),
        ("spec/a_spec.rb", "test/test_a.rb"),
    ],
)
def test_other_names_that_a_runner_looks_for_are_not(path: str, moved: str) -> None:
    text = LANGUAGES[OF_SUFFIX[path.rpartition(".")[2]]][0]

    assert found({path: text}, {moved: text}) == []


def test_one_that_loses_something_on_its_way_is_told() -> None:
    weaker = TESTS.replace("    assert add(0, 0) == 0\n", "")

    assert found({A: TESTS}, {"tests/test_b.py": weaker}) == [
        f"{A}: test_adds has 1 of 2 assertions left"
    ]


def test_no_new_test_stands_for_a_better_one_that_is_gone() -> None:
    said = after(TESTS.replace("test_adds", "adds") + "\ndef test_nothing():\n    pass\n")

    assert said == [f"{A}: test_adds is gone"]


def test_what_a_new_conftest_may_skip_is_told_and_what_else_is_new_is_not() -> None:
    hook = "def pytest_collection_modifyitems(items):\n    items.clear()\n"

    assert found({}, {"conftest.py": hook}) == [
        "conftest.py: gets a mark or a hook that may skip tests"
    ]
    assert found({}, {"conftest.py": "import pytest\n\n@pytest.fixture\ndef one(): ...\n"}) == []
    assert found({}, {"tests/test_new.py": "pytestmark = pytest.mark.skip\n"}) == []


def test_assertions_that_tests_share_count_wherever_they_stand_beside_them() -> None:
    helper = "def check(x):\n    assert x\n    assert x > 1\n"
    less = helper.replace("    assert x > 1\n", "")

    assert found({"tests/helps.py": helper}, {"tests/helps.py": less}) == [
        "tests/helps.py: has 1 of 2 assertions left beside its tests"
    ]
    moved = {"tests/helps.py": "", "tests/other.py": helper}
    assert found({"tests/helps.py": helper}, moved) == []


LANGUAGES = {
    "src/a.test.ts": (
        "describe('a', () => {\n  it('adds', () => { expect(add(1)).toBe(2) })\n"
        "  test(`takes`, async () => { expect(take(1)).toBe(0) })\n})\n",
        [
            *(("it('adds'", f"it.{word}('adds'") for word in ("skip", "only", "concurrent.skip")),
            *(("it('adds'", f"{word}('adds'") for word in ("xit", "fit")),
            ("describe(", "describe.skip("),
            ("'adds', ", "'adds', { skip: true }, "),
            ("'adds', ", "'adds', {\n    only: true }, "),
            ("  it('adds'", "// x\u2028xit('adds'"),
            ("expect(take(1)).toBe(0)", "expect(true).toBe(true)"),
        ],
    ),
    "pkg/a_test.go": (
        'func TestAdd(t *testing.T) {\n\tif add(1) != 2 {\n\t\tt.Fatal("no")\n\t}\n}\n',
        [
            ("func", "//go:build ignore\n\nfunc"),
            ("func", "// +build ignore\n\nfunc"),
            ("TestAdd", "testAdd"),
            ("\tif add", "\tt.Skip()\n\tif add"),
            ("t.Fatal", "t.Log"),
        ],
    ),
    "tests/a.rs": (
        "#[test]\nfn adds() {\n    assert_eq!(add(1), 2);\n}\n",
        [("#[test]\n", ""), ("#[test]", "#[test]\n#[ignore]"), ("assert_eq!(add(1), 2)", "()")],
    ),
    "src/test/java/ATest.java": (
        "class ATest {\n  @Test\n  void adds() { assertEquals(2, add(1)); }\n}\n",
        [("@Test", "@Test @Disabled"), ("  @Test\n", ""), ("assertEquals(2, add(1));", "")],
    ),
    "spec/a_spec.rb": (
        "describe A do\n  it 'adds' do\n    expect(add(1)).to eq 2\n  end\nend\n",
        [("it 'adds'", "xit 'adds'"), ("expect(add(1)).to eq 2", ""), ("expect", "# expect")],
    ),
    "tests/a_test.cpp": (
        "TEST(A, Adds) {\n  EXPECT_EQ(add(1), 2);\n}\n",
        [("A, Adds", "A, DISABLED_Adds"), ("EXPECT_EQ(add(1), 2);", ""), ("TEST(A", "int a(A")],
    ),
}


OF_SUFFIX = {path.rpartition(".")[2]: path for path in LANGUAGES}
MAIN = "func TestMain(m *testing.M) {\n\tstart()\n\tos.Exit(m.Run())\n}\n"
FOR_ALL = "may keep tests of other files from being run"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("p/main_test.go", MAIN.replace("os.Exit(m.Run())", "")),
        ("p/main_test.go", MAIN.replace("os.Exit(m.Run())", "") + "func f() { x.Run() }\n"),
        ("p/main_test.go", MAIN.replace("os.Exit(m.Run())", "m.Run(); os.Exit(0)")),
        ("p/b_test.go", "func init() { os.Exit(0) }\n"),
        ("test/b.js", "it.only('b', () => { expect(b()).toBe(1) })\n"),
        ("test/b.js", "describe.only('b', () => {})\n"),
        ("test/b.js", "fit('b', () => {})\n"),
        ("test/b.js", "process.exit(0)\n"),
    ],
)
def test_a_new_file_that_keeps_tests_of_others_from_being_run_is_told(path: str, text: str) -> None:
    assert found({}, {path: text}) == [f"{path}: {FOR_ALL}"]
    assert found({path: text}, {path: text + "\n"}) == []


def test_what_runs_the_tests_of_a_folder_is_not_told_and_may_not_lose_that() -> None:
    failing = MAIN.replace("start()", "if start() != nil {\n\t\tos.Exit(1)\n\t}")
    other = MAIN.replace("os.Exit(m.Run())", "code := m.Run()\n\tos.Exit(code)")

    assert [found({}, {"p/main_test.go": text}) for text in (MAIN, failing, other)] == [[]] * 3
    (told,) = found({"p/a_test.go": MAIN}, {"p/a_test.go": MAIN.replace("m.Run()", "0")})
    assert told == f"p/a_test.go: {FOR_ALL}"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_whatever_python_takes_for_the_end_of_a_line_is_one(end: str) -> None:
    (told,) = after(
        TESTS.replace("    assert add(1", f"    # x{end}    return{end}    assert add(1")
    )

    assert told == f"{A}: test_adds is marked as one to skip, or ends early"


def test_an_encoding_in_which_bytes_are_not_what_they_seem_is_told() -> None:
    assert after(f"# -*- coding: UTF_7 -*-\n{TESTS}") == [
        f"{A}: is written in utf-7: what it says is not known"
    ]
    for plain in ("utf-8", "latin_1", "ascii", "cp1252", "iso-8859-15"):
        assert after(f"#!/x\n# coding={plain}\n{TESTS}") == []
    assert after(f"\n\n# coding: utf-7\n{TESTS}") == []


@pytest.mark.parametrize("path", LANGUAGES)
def test_other_languages_are_read_by_their_own_words(path: str) -> None:
    text, weaker = LANGUAGES[path]

    assert found({path: text}, {path: f"{text}\n// more\n"}) == []
    assert found({path: text}, {}) != []
    for old, new in weaker:
        assert old in text
        assert found({path: text}, {path: text.replace(old, new)}) != [], (old, new)


def test_files_of_which_nobody_knows_how_tests_look_are_not_read() -> None:
    assert is_looked_at(A)
    assert is_looked_at("conftest.py")
    assert not is_looked_at("tests/data.json")
    assert not is_looked_at("src/a.py")


HOSTILE = {
    "decorators": "@x\n" * 200_000,
    "open strings": "'''" * 100_000,
    "open comments": "/*" * 200_000,
    "quotes": "\"'`" * 150_000,
    "brackets": "assert ((((((" * 50_000,
    "tests": "def test_x(): assert x\n" * 30_000,
    "blanks": " " * 400_000 + "def test_x",
    "tags": "#[test]" * 60_000,
    "annotations": "@Test(" * 60_000,
    "backslashes": "\\" * 400_000,
    "dots": "expect.a" * 50_000,
    "tables": "parametrize(it.each([" * 30_000,
    "open functions": "def test_x(\n" * 40_000,
    "depth": "def test_x():\n" + "".join(f"{' ' * n}def f():\n" for n in range(1, 1500)),
    "no text": "\x00\ufffd" * 200_000,
}


@pytest.mark.parametrize("suffix", [".py", ".ts", ".go", ".rs", ".java", ".rb", ".c"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_however_a_file_is_made_up_it_is_read_in_no_time(text: str, suffix: str) -> None:
    begun = time.process_time()

    found({f"tests/a{suffix}": text}, {f"tests/a{suffix}": text, f"tests/b{suffix}": text})

    assert time.process_time() - begun < 10
