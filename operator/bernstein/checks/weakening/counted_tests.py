"""What a file of tests holds, counted without running it: tests, assertions, marks that skip.

A tree that an agent left is not executed to find out what it would run, and nobody parses it: it is
read as words, without its comments and strings, in linear time. A test is known by its name; what
stands between it and the next one is its own. Assertions that hold of themselves are none. Of the
tables that tests are run with, those of pytest, Jest and Vitest are counted.

Sources: the names by which pytest, unittest, Jest, Vitest, Mocha, node:test, go test, cargo,
JUnit, kotlin.test, NUnit, xUnit, MSTest, minitest, RSpec, GoogleTest and Catch2 find tests.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bernstein.checks.weakening.early_ends import early_ends, on_one_line
from bernstein.checks.weakening.rows import Table, tables

_SLASHES = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_HASHES = r"\#[^\n]*+"
_DOUBLE = r'"(?:[^"\\\n]++|\\.)*+(?:"|$)'
_SINGLE = r"'(?:[^'\\\n]++|\\.)*+(?:'|$)"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_TICKS = r"`(?:[^`\\]++|\\.)*+(?:`|\Z)"
_RAW_TICKS = r"`[^`]*+(?:`|\Z)"
_TRIPLE = (
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)',
    r"'''(?:[^'\\]++|\\.|'(?!''))*+(?:'''|\Z)",
)

_RETURNS = re.compile(r"\r\n?")
_NOT_EVERYWHERE = (
    "aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|nacl|netbsd|openbsd|plan9|solaris"
    "|wasip1|windows|zos|386|amd64|arm|arm64|loong64|mips|mips64|mips64le|mipsle|ppc64|ppc64le"
    "|riscv64|s390x|wasm"
)
"""Of the names of systems and processors that a file of Go ends with, those but Linux."""


def _words(*parts: str) -> re.Pattern[str]:
    """Comments and strings of a language; a string is the group `text`."""
    comments, *texts = parts
    together = rf"(?P<text>{'|'.join(texts)})|{comments}"
    return re.compile(together, re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class _Language:
    """How the tests of a language look, once its strings are marks such as "1f2e3d4c"."""

    words: re.Pattern[str]
    test: re.Pattern[str]
    """Where a test begins; a group that took part is its name."""
    assertion: re.Pattern[str]
    skip: re.Pattern[str]
    collected: re.Pattern[str] | None = None
    """Paths of the files that tests are looked for in, from a folder on; None: any."""
    passed_over: re.Pattern[str] | None = None
    """Names of the folders that tests are not looked for in."""
    table: Table | None = None
    """What tests are run with, row by row."""
    for_all: re.Pattern[str] | None = None
    """What keeps tests of other files from being run."""
    ends: re.Pattern[str] | None = None
    """What ends a line besides `\\n`."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.MULTILINE)


_PYTHON = _Language(
    _words(_HASHES, *_TRIPLE, _DOUBLE, _SINGLE),
    _pattern(
        r"^(?:[ \t]*@[^\n]*\n){0,30}+[ \t]*"
        r"(?:(?:async[ \t]+)?def[ \t]+(test\w*)|class[ \t]+(Test\w*))"
    ),
    _pattern(
        r'\bassert\b(?![ \t(]*(?:True|1|not[ \t]+(?:False|0|None)|"\w+")[ \t)]*(?:$|,))'
        r'(?![^\n]{0,300}?\bor[ \t]+(?:True|1)[ \t]*(?:$|,[ \t]*"\w+"[ \t]*$))'
        # Of brackets around all of it: one that holds of itself within, or a tuple.
        r"(?![ \t]*\((?:[^()\n]|\([^()\n]{0,100}+\)){0,100}?"
        r"\bor[ \t]+(?:True|1)[ \t]*\)[ \t]*(?:$|,))"
        r"(?![ \t]*\([^(),\n]*+,[^()\n]*+\)[ \t]*$)"
        r"|\bassert\w+[ \t]*\((?![ \t]*(?:True|1)[ \t]*[,)])|\b(?:raises|warns)[ \t]*\("
    ),
    _pattern(
        r"(?:\b(?:pytest|unittest|mark|self)[ \t]*\.[ \t]*|@[ \t]*)(?:skip|skipif|xfail|exit)\b"
        r"|\b(?:skip|exit|_exit)[ \t]*\(|\braise[ \t]+(?:\w+\.)*(?:Skipped|XFailed)\b"
        r"|\b(?:skipif|skipIf|skipUnless|skipTest|SkipTest|xfail|importorskip|expectedFailure"
        r"|collect_ignore(?:_glob)?|__test__|pytest_(?:ignore_collect|collection_\w+|collect_\w+"
        r"|pycollect_\w+|pyfunc_call|runtest_\w+|sessionfinish|generate_tests|deselected))\b"
    ),
    re.compile(r"test_[^/]*\.pyi?|[^/]*_test\.pyi?|conftest\.py"),
    re.compile(r"\..*|.*\.egg|_darcs|build|CVS|dist|node_modules|venv|\{arch\}|__pycache__"),
    Table(_pattern(r"\bparametrize[ \t]*\("), argument=1),
    ends=_RETURNS,
)
_SWALLOWS = _pattern(
    r"\bexcept\b[^:\n]{0,200}\bAssertionError\b"
    r"|\bexcept(?:[ \t]+(?:Base)?Exception(?:[ \t]+as[ \t]+\w+)?)?[ \t]*:\s{0,200}(?:pass\b|\.\.\.)"
    r"|\bsuppress[ \t]*\([^)\n]{0,200}\b(?:AssertionError|Exception|BaseException)\b"
    r"|\braises[ \t]*\([^)\n]{0,200}\b(?:AssertionError|BaseException)\b"
)
"""Where a test in Python goes on, or passes, though an assertion of it has failed."""
_SCRIPT = _Language(
    _words(_SLASHES, _DOUBLE, _SINGLE, _TICKS),
    _pattern(
        r"(?<![\w.$])(?:it|test|specify)(?:[ \t]*\.[ \t]*(?:each|concurrent|serial|failing))*+"
        r'[ \t]*\(\s*("\w+")?'
    ),
    _pattern(
        r"\bexpect(?:\.\w+)?[ \t]*\((?![ \t]*(?:true|false|1|0)[ \t]*\))"
        r"|\bassert\w*(?:\.\w+)*+[ \t]*\((?![ \t]*(?:true|1)[ \t]*[,)])|\.[ \t]*should\b"
        r"|\bt[ \t]*\.[ \t]*(?!skip|plan|end|pass|comment)\w+[ \t]*\("
    ),
    _pattern(
        r"(?<![\w.$])(?:xit|xtest|xdescribe|xspecify|xcontext|fit|fdescribe|fcontext)[ \t]*\("
        r"|\b(?:it|test|describe|suite|context|specify|this|t)[ \t]*\.[ \t]*"
        r"(?:skip|only|todo|fails|failing|fixme|skipIf|runIf)\b"
        r"|[{,]\s*+(?:skip|only|todo|fails)[ \t]*:(?![ \t]*(?:false\b|\d))"
    ),
    re.compile(r"(?:[^/]*[._-])?(?:test|spec)\.[cm]?[jt]sx?|__tests__/.*"),
    re.compile(r"\.git|node_modules|dist"),
    ends=re.compile("\r\n?|[\u2028\u2029]"),
    for_all=_pattern(
        r"\b(?:it|test|describe|suite|context|specify)[ \t]*\.[ \t]*only\b"
        r"|(?<![\w.$])(?:fit|fdescribe|fcontext)[ \t]*\("
        r"|\bprocess[ \t]*\.[ \t]*exit[ \t]*\([ \t]*(?:0|\))"
    ),
    table=Table(
        _pattern(
            r"(?<![\w.$])(?:it|test|specify|describe|suite|context)"
            r"(?:[ \t]*\.[ \t]*(?:concurrent|serial|failing|skip|only))*+[ \t]*\.[ \t]*each[ \t]*\("
        ),
        argument=0,
    ),
)
_GO = _Language(
    _words(
        r"//(?!go:build|[ \t]*\+build)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)",
        _DOUBLE,
        _RAW_TICKS,
    ),
    _pattern(r'^func[ \t]+((?:Test|Benchmark|Fuzz|Example)\w*)|\bt\.Run\([ \t]*("\w+")?'),
    _pattern(
        r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\b"
        r"|\b(?:assert|require|is|qt|cmp)\.\w+[ \t]*\("
    ),
    _pattern(r"\b[tbf]\.Skip\w*|//go:build\b|//[ \t]*\+build\b|\btesting\.Short\b"),
    re.compile(rf"(?![._])(?![^/]*_(?:{_NOT_EVERYWHERE})_test\.go)[^/]*_test\.go"),
    re.compile(r"[._].*|testdata|vendor"),
    for_all=_pattern(
        r"\b(?:os|syscall)\.Exit[ \t]*\([ \t]*0"
        # Up to the next function: what has no `m.Run` runs no test of the folder.
        r"|^func[ \t]+TestMain\b(?:(?!\.Run[ \t]*\(|^func\b)(?s:.))*+(?=^func\b|\Z)"
    ),
)
_RUST = _Language(
    _words(_SLASHES, _DOUBLE, _CHARACTER),
    _pattern(
        r"#\[[ \t]*(?:\w+::)*test\b[^\]\n]*\](?:\s*#\[[^\]\n]*\]){0,20}\s*"
        r"(?:\w+[ \t]+){0,8}?fn[ \t]+(\w+)"
    ),
    _pattern(
        r"\b(?:debug_|prop_)?assert\w*![ \t]*\((?![ \t]*true[ \t]*[,)])|\bpanic!|\bshould_panic\b"
    ),
    _pattern(r"#\[[ \t]*(?:ignore|cfg|cfg_attr)\b"),
)
_JVM = _Language(
    _words(_SLASHES, _DOUBLE, _CHARACTER),
    _pattern(
        r"(?:@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|Property)"
        r"|\[(?:Test|TestCase|Fact|Theory|TestMethod|DataTestMethod))\b"
        r"(?:[^;{}]{0,300}?\b(\w+)[ \t]*\()?"
    ),
    _pattern(
        r"\b(?:assert\w*|fail|verify\w*|expect\w*|should\w*)[ \t]*[({](?![ \t]*true[ \t]*[,)])"
        r"|\b(?:Assert|Assertions|StringAssert|CollectionAssert)[ \t]*\.[ \t]*\w+|\bshould\w*\b"
    ),
    _pattern(
        r"@(?:\w+\.)*(?:Disabled\w*|Ignore\w*)\b|\bassume\w*[ \t]*\(|\[Ignore\b|\bSkip[ \t]*="
    ),
    ends=_RETURNS,
)
_RUBY = _Language(
    _words(_HASHES, _DOUBLE, _SINGLE),
    _pattern(
        r'^[ \t]*(?:def[ \t]+(test_\w+)|(?:it|specify|test|scenario|example)\b[ \t(]*("\w+")?)'
    ),
    _pattern(r"\b(?:assert\w*|refute\w*|expect|must_\w+|wont_\w+|should\w*|is_expected)\b"),
    _pattern(
        r"^[ \t]*(?:skip|pending|xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe|fcontext)\b"
        r"|\bskip:|\bpending:|\bfocus:"
    ),
    re.compile(r"[^/]*_(?:spec|test)\.rb|test_[^/]*\.rb"),
)
_C = _Language(
    _words(_SLASHES, _DOUBLE, _CHARACTER),
    _pattern(
        r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|TEST_CASE|SCENARIO|SECTION)"
        r'[ \t]*\([ \t]*([\w", \t]{0,200})'
    ),
    _pattern(
        r"\b(?:(?:ASSERT|EXPECT|CHECK|REQUIRE)\w*|assert\w*)[ \t]*\((?![ \t]*(?:true|1)[ \t]*[,)])"
    ),
    _pattern(r"\bGTEST_SKIP\b|\bDISABLED_\w+|\bSKIP[ \t]*\("),
)
_LANGUAGES: Mapping[str, _Language] = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), _SCRIPT),
    **dict.fromkeys((".java", ".kt", ".kts", ".scala", ".cs", ".groovy"), _JVM),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"), _C),
    ".go": _GO,
    ".rs": _RUST,
    ".rb": _RUBY,
}


@dataclass(frozen=True, slots=True)
class Part:
    """One test with all behind it up to the next, or what stands before the first (name "")."""

    name: str
    assertions: int
    skips: int
    """Marks and calls that skip it, and places where it ends early."""
    rows: int = 0
    """Of the table that it is run with; of what stands before the first test, of all others."""
    is_async: bool = False
    """Python: without a plugin, nothing runs it."""
    for_all: int = 0
    """What stands before the first test: all in the file that keeps others' tests from being run.
    """
    swallows: int = 0
    """Python: places where it passes over assertions that fail."""


def is_read(path: str) -> bool:
    """Whether tests are looked for in such a file."""
    return _language(path) is not None


def is_collected(path: str) -> bool:
    """Whether a runner looks for tests in a file of that name, in such folders."""
    language = _language(path)
    if language is None:
        return False
    folders, over = path.split("/")[:-1], language.passed_over
    if over is not None and any(map(over.fullmatch, folders)):
        return False
    tails = (path, *_tails(path))
    return language.collected is None or any(map(language.collected.fullmatch, tails))


def _tails(path: str) -> Iterator[str]:
    """The path without its first folders."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def without_texts(path: str, content: bytes) -> str:
    """The file without comments, and with a mark for each string; as it is, where nobody knows how
    they look."""
    language = _language(path)
    return content.decode("utf-8", "replace") if language is None else _plain(language, content)


def parts(path: str, content: bytes) -> list[Part]:
    """The file's parts in order; the first is what stands before all tests."""
    language = _language(path)
    if language is None:
        return []
    text = _plain(language, content)
    if language is _PYTHON:
        text = on_one_line(text)
    begins = [*language.test.finditer(text)]
    ends = [*(begin.start() for begin in begins), len(text)]
    rows, others = _rows(language, text, begins)
    head = _part(language, "", text[: ends[0]], others)
    found = [replace(head, for_all=_count(language.for_all, text))]
    for begin, end, own in zip(begins, ends[1:], rows, strict=True):
        name = next(filter(None, begin.groups()), begin[0]).strip()
        found.append(_part(language, name, text[begin.start() : end], own))
    return found


def _plain(language: _Language, content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if language.ends is not None:
        text = language.ends.sub("\n", text)
    return language.words.sub(_mark, text)


def _language(path: str) -> _Language | None:
    return _LANGUAGES.get(posixpath.splitext(path)[1].lower())


def _mark(word: re.Match[str]) -> str:
    """What stands for a comment or string: nothing, or a word that is the same for the same. A
    table that is a text stands there as any other: row by row."""
    text = word["text"]
    if not text:
        return " "
    if text[0] == "`" and word.string.endswith(".each", 0, word.start()):
        rows = sum("${" in line for line in text.split("\n"))
        return f"([{','.join('0' * rows)}])"
    return f'"{zlib.crc32(text.encode("utf-8", "replace")):08x}"'


def _rows(language: _Language, text: str, begins: Sequence[re.Match[str]]) -> tuple[list[int], int]:
    """Rows of the tables in the lines with which each test begins, and those of all others."""
    rows, others, test = [0] * len(begins), 0, 0
    for start, count in tables(language.table, text) if language.table is not None else ():
        while test < len(begins) and begins[test].end() <= start:
            test += 1
        if test < len(begins) and begins[test].start() <= start:
            rows[test] += count
        else:
            others += count
    return rows, others


def _count(pattern: re.Pattern[str] | None, text: str) -> int:
    return sum(1 for _ in pattern.finditer(text)) if pattern is not None else 0


def _part(language: _Language, name: str, text: str, rows: int) -> Part:
    assertions, skips = _count(language.assertion, text), _count(language.skip, text)
    if language is not _PYTHON or not name:
        return Part(name, assertions, skips, rows)
    begin = language.test.match(text)
    is_async = begin is not None and "async" in begin[0].rpartition("\n")[2].split()
    swallows = _count(_SWALLOWS, text)
    return Part(name, assertions, skips + early_ends(text), rows, is_async, swallows=swallows)
