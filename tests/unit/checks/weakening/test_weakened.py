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
        TESTS.replace("test_adds", "test_sums"),
        "# about all of it\n" + TESTS,
        TESTS.replace("assert add(0, 0) == 0", "assert add(0, 0) == 0\n    assert add(1, 0)"),
        "import pytest\n\n" + TESTS.partition("\n\n")[2].replace("n", "n"),
        TESTS + '\n@pytest.mark.skip\ndef test_later():\n    "TODO"\n',
        TESTS.replace("import pytest", "import pytest\n\nSKIPPED = 'pytest.mark.skip'"),
    ],
    ids=["more", "other value", "other name", "comment", "asserts", "same", "new skipped", "text"],
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
        [("it('adds'", "it.skip('adds'"), ("expect(take(1)).toBe(0)", "expect(true).toBe(true)")],
    ),
    "pkg/a_test.go": (
        'func TestAdd(t *testing.T) {\n\tif add(1) != 2 {\n\t\tt.Fatal("no")\n\t}\n}\n',
        [("TestAdd", "testAdd"), ("\tif add", "\tt.Skip()\n\tif add"), ("t.Fatal", "t.Log")],
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
