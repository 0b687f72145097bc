"""What a change makes of the configuration of runners for JavaScript and TypeScript."""

from __future__ import annotations

import json
import time

import pytest

from tests.unit.checks.weakening.told import found

OTHERS = {"src/a.test.ts": "it('a', () => { expect(a()).toBe(1) })\n"}
MOCHA = {"test/a.js": OTHERS["src/a.test.ts"]}
PACKAGE = {"name": "a", "scripts": {"test": "vitest", "build": "vite"}, "jest": {"bail": 1}}
VITE = "export default { plugins: [a()], test: { globals: true, include: ['src/**'] } }\n"
CHANGES = "changes how tests are run"


def package(**other: object) -> str:
    return json.dumps(PACKAGE | other)


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("jest.config.js", "module.exports = {}\n", "module.exports = {bail: 1}\n", "all of it"),
        ("jest.config.ts", None, "export default {testMatch: ['b']}\n", "all of it"),
        ("vitest.config.mts", "export default {}\n", None, "all of it"),
        ("vitest.unit.config.ts", "a('b')\n", "a('c')\n", "all of it"),
        ("web/.mocharc.yml", None, "ignore: test/a.js\n", "all of it"),
        ("vite.config.ts", VITE, VITE.replace("src", "lib"), "test"),
        ("vite.config.ts", VITE, VITE.replace("globals", "exclude: ['a'], globals"), "test"),
        ("vite.config.ts", "export default {}\n", VITE, "test"),
        ("package.json", package(), package(scripts={"test": "true"}), "scripts.test"),
        ("package.json", package(), package(jest={"testMatch": ["b"]}), "jest"),
        ("package.json", package(), package(mocha={"ignore": "a"}), "mocha"),
        ("package.json", package(), "[" * 100_000, "all of it, jest, scripts.test"),
    ],
)
def test_the_configuration_of_runners_keeps_running_tests_the_same_way(
    path: str, old: str | None, new: str | None, told: str
) -> None:
    before, after = ({path: text} if text is not None else {} for text in (old, new))

    assert found(before, after, OTHERS) == [f"{path}: {CHANGES}: {told}"]
    assert found(before, after, MOCHA) == [f"{path}: {CHANGES}: {told}"]
    assert found(before | OTHERS, after | OTHERS) == [f"{path}: {CHANGES}: {told}"]
    assert found(before, after | OTHERS) == []
    assert found(before, after, {"tests/test_a.py": "", path + ".md": ""}) == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("jest.config.js", "module.exports = {}\n", "// more\nmodule.exports =  {}\n"),
        ("vite.config.ts", VITE, VITE.replace("a()", "a(), b()")),
        ("vite.config.ts", VITE, VITE.replace("test:", "test:  ")),
        ("package.json", package(), package(dependencies={"b": "1"})),
        ("package.json", package(), package(scripts={"test": "vitest", "build": "tsc"})),
        ("package.json", "{", "{{"),
        ("vite.config.ts", None, "export default { rules: [{ test: /x/ }] }\n"),
    ],
)
def test_what_else_such_files_say_is_not_told(path: str, old: str | None, new: str) -> None:
    assert found({path: old} if old is not None else {}, {path: new}, OTHERS) == []


@pytest.mark.parametrize("path", ["vite.config.ts", "jest.config.js", "package.json", ".mocharc"])
@pytest.mark.parametrize("text", ["test: {" * 60_000, "test:" + " " * 400_000, "'\"`/*" * 80_000])
def test_however_such_a_file_is_made_up_it_is_read_in_no_time(path: str, text: str) -> None:
    begun = time.process_time()

    found({path: ""}, {path: text}, OTHERS)

    assert time.process_time() - begun < 10
