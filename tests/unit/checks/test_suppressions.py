"""What silences a linter for more than a line, however it is written."""

from __future__ import annotations

import json
import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks import suppressions
from bernstein.checks.gates.lint_suppression import GATE
from bernstein.checks.reading import Reads
from bernstein.checks.verdict import Verdict
from tests.unit.checks.trees import Tree


def verdict(path: str, after: str | bytes, before: str | bytes = "") -> Verdict:
    assert isinstance(GATE.runs, Reads)
    return GATE.runs.scan(Tree({path: after}, {path: before}), Check("lint_suppression", "x"))


def is_found(path: str, after: str | bytes, before: str | bytes = "") -> bool:
    return verdict(path, after, before).reason == "SuppressionAdded"


def cell(*source: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": list(source)}


def notebook(*source: str) -> str:
    return json.dumps({"cells": [cell(*source)], "nbformat": 4, "nbformat_minor": 5})


PYTHON = [
    "# ruff: noqa",
    "#ruff:noqa:F401",
    "# RUFF: NOQA",
    "import re  # ruff: noqa",
    "# ruff: disable[F401]",
    "# flake8: noqa",
    "# flake8=noqa",
    "# pylint: skip-file",
    "# why not pylint: skip-file",
    "# pylint: disable=all",
    "# a word before pylint: disable=all",
    "    # pylint: disable=missing-docstring, skip-file",
    "# mypy: ignore-errors",
    "# type: ignore",
    "# pyright: basic",
    "# pyright: strict, reportUndefinedVariable=false",
    "#pyright:strict,reportAssignmentType = none",
    "# pyrefly: ignore-errors",
    "# pytype: skip-file",
    "# pyre-ignore-all-errors",
    "# isort: skip_file",
]
SCRIPT = [
    "/* eslint-disable */",
    "/*eslint-disable no-undef*/",
    "/*\n   eslint-disable\n*/",
    "/*\ufeffeslint-disable */",
    "// eslint-disable",  # oxlint's
    "/* eslint no-undef: 0 */",
    "/*\neslint no-undef: 0 */",
    "{/* eslint-disable */}",
    "// @ts-nocheck",
    "/// @TS-NoCheck",
    "// tslint:disable",
    "// oxlint-disable",
    "// biome-ignore-all lint: no",
    "/** biome-ignore-start lint: no */",
    "// deno-lint-ignore-file",
    "/* jshint ignore:start */",
    "// @noflow",
]
OTHERS = [
    ("a.vue", "<!-- eslint-disable -->"),
    ("a.svelte", "<!--eslint-disable no-undef-->"),
    ("a.astro", "<!--\n  eslint-disable\n-->"),
    ("a.html", "<!-- eslint-disable -->"),
    ("a.htm", "<script>/* eslint-disable */</script>"),
    ("a.vue", "<!-- biome-ignore-all lint: no -->"),
    ("a.html", "<!-- htmlhint attr-lowercase:false -->"),
    ("a.hbs", "{{!-- eslint-disable --}}"),
    ("a.md", "<!-- eslint-disable -->"),
    ("a.md", "<!-- markdownlint-disable-file -->"),
    ("a.md", "` <!-- eslint-disable -->`"),
    ("a.md", "`<!-- eslint-disable -->"),
    ("a.mdx", "{/* eslint-disable */}"),
    ("a.css", "/* stylelint-disable */"),
    ("a.graphql", "# eslint-disable"),
    ("a.yaml", "# yamllint disable-file"),
    ("a.yml", "# eslint-disable"),
    ("a.rs", "#![allow(clippy::all)]"),
    ("a.rs", "#/* */! [ expect (warnings)]"),
    ("a.rs", "#![cfg_attr(all(), allow(warnings))]"),
    ("a.rs", '#![cfg_attr(any(a = "]", b = "#!["), allow(warnings))]'),
    ("lib.rs", "#[allow(warnings)]\npub(crate) mod a;"),
    ("a.go", "//nolint:all\n\n// Package a\npackage a"),
    ("a.go", "package a //nolint"),
    ("a.go", "//lint:file-ignore U1000 no"),
    ("a.sh", "#!/bin/sh\n# Words\n\n# shellcheck disable=all\necho $x"),
    ("run", "#!/usr/bin/env bash\n# shellcheck source=/dev/null disable=SC2034\necho $x"),
    ("run", "#!/usr/bin/env python3\n# mypy: ignore-errors\n"),
    ("run", "#!/usr/bin/env -S deno run\n// deno-lint-ignore-file\n"),
    ("a.rb", "# rubocop:disable all"),
    ("a.c", "// NOLINTBEGIN"),
    ("a.cs", "#pragma warning disable"),
    ("A.java", "// CHECKSTYLE:OFF"),
    ("a.php", "// phpcs:ignoreFile"),
    ("a.kt", '@file:Suppress("all")'),
    ("a.swift", "// swiftlint:disable all"),
    ("a.dart", "// ignore_for_file: unused_import"),
    ("a.sql", "-- noqa: disable=all"),
    ("a.exs", "# credo:disable-for-this-file"),
]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *(("a.py", text) for text in PYTHON),
        *(("a.ts", text) for text in SCRIPT),
        *OTHERS,
    ],
)
def test_what_a_tool_takes_for_more_than_a_line_is_found(path: str, text: str) -> None:
    assert is_found(path, text)
    assert is_found(path, f"{text}\n")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "import os  # noqa: F401"),
        ("a.py", "x = y  # type: ignore[attr-defined]"),
        ("a.py", "x = y  # pylint: disable=no-member"),
        ("a.py", "# pylint: disable-next=no-member"),
        ("a.py", "# pyright: strict"),
        ("a.py", "# pyright: strict, reportMissingSuperCall=true"),
        ("a.py", "# -*- coding: latin-1 -*-"),
        ("a.py", "# words\n\n# coding: utf-7"),
        ("a.py", '"""How it is done: ruff: noqa, flake8: noqa."""'),
        ("a.ts", "// eslint-disable-next-line no-undef"),
        ("a.ts", "x() /* eslint-disable-line */"),
        ("a.ts", "// Here eslint-disable would be wrong"),
        ("a.ts", "rules: {'unicorn/no-abusive-eslint-disable': 'error'}"),
        ("a.ts", "// tslint:disable-next-line"),
        ("a.ts", "// biome-ignore lint: of the next line"),
        ("a.ts", "// @ts-expect-error of the next line"),
        ("a.vue", "<!-- eslint-disable-next-line -->"),
        ("a.md", "Write `# ruff: noqa`, or:\n\n    /* eslint-disable */\n"),
        ("a.md", "Templates have `<!-- eslint-disable -->` for that."),
        ("a.txt", "# ruff: noqa"),
        ("a.css", "/* stylelint-disable-next-line */"),
        ("a.yaml", "a: 1  # yamllint disable-line"),
        ("a.rs", "#[allow(dead_code)]\nfn f() {}"),
        ("a.rs", "#![feature(x)]\n\n#[allow(dead_code)]\nfn f() {}"),
        ("a.go", "package a\n\n//nolint:errcheck\nfunc f() {}"),
        ("a.sh", "x=1\n# shellcheck disable=SC2034\ny=2"),
        ("a.swift", "// swiftlint:disable:next force_cast"),
        ("a.ipynb", notebook("import os  # noqa: F401\n", "# words of ruff\n")),
    ],
)
def test_what_silences_one_line_or_only_names_it_is_not(path: str, text: str) -> None:
    assert verdict(path, text).verdict == "Passed"


HASH = "\\u0023"


@pytest.mark.parametrize(
    "text",
    [
        notebook("import os\n", "# ruff: noqa\n"),
        notebook("# ru", "ff: no", "qa\n"),
        notebook("# pylint: disable=all\n"),
        notebook("import os\n").replace("import os", f"{HASH} ruff: noqa"),
        notebook("import os\n").replace("import os", f"{HASH} \\u0072uff: \\u006e\\u006fqa"),
        notebook("import os\n").replace('["import os\\n"]', '"import os\\n# ruff: noqa\\n"'),
        notebook("import os\n").replace("import os", "import os\\r# mypy: ignore-errors"),
        notebook("a\n").replace('"source"', '"source": ["# ruff: noqa"], "source"'),
        notebook("# ruff: noqa\n").encode("utf-16").decode("utf-16"),
    ],
)
def test_a_notebook_is_read_as_its_cells_are(text: str) -> None:
    assert is_found("a.ipynb", text)


def test_a_notebook_that_is_no_json_is_read_all_the_same() -> None:
    assert is_found("a.ipynb", '{"cells": [{"source": ["# ruff: noqa')
    assert verdict("a.ipynb", '"\\').verdict == "Passed"


@pytest.mark.parametrize(
    "before", ["\ufeff", "x = 1\r", "x = 1\r\n", "x = 1\f", "x = 1\v", "\ufeff\ufeff", " \t"]
)
@pytest.mark.parametrize("comment", ["# mypy: ignore-errors", "# pylint: disable=all"])
def test_whatever_a_tool_takes_for_the_start_of_a_line_is_one(before: str, comment: str) -> None:
    assert is_found("a.py", f"{before}{comment}\nimport os\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_wide_text_is_read(encoding: str) -> None:
    """As tsc reads it."""
    assert is_found("a.ts", "// @ts-nocheck\n".encode(encoding))


@pytest.mark.parametrize(
    "text",
    [
        "# coding: utf-7\n+ACM mypy: ignore-errors\n",
        "#!/usr/bin/python3\n# vim: set fileencoding=unicode_escape :\n",
        "\ufeff# -*- coding:utf_7 -*-\n",
        "# a\r# coding: utf-7\r",
        "#\f\f\fcoding=utf-7\n# coding: utf-8\n",
        "# coding: no-such-codec\n",
    ],
)
def test_an_encoding_that_makes_another_text_of_it_is_found(text: str) -> None:
    assert "coding: " in verdict("a.py", text).excerpt
    assert verdict("a.ts", text).verdict == "Passed", "Python's alone"


# --- what is added


def test_what_was_there_is_none_of_the_changes() -> None:
    before = "# ruff: noqa\nimport os\n"
    assert verdict("a.py", f"{before}import re\n", before).verdict == "Passed"
    assert verdict("a.py", f"import re\n{before}", before).verdict == "Passed"
    assert is_found("a.py", f"{before}{before}", before)
    with_more = notebook("# ruff: noqa\n", "x\n")
    assert verdict("a.ipynb", with_more, notebook("# ruff: noqa\n")).verdict == "Passed"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "# ruff: noqa: F401\n", "# ruff: noqa\n"),
        ("a.py", "    # pylint: disable=all\n", "# pylint: disable=all\n"),
        ("a.ts", "/* eslint-disable no-undef */\n", "/* eslint-disable */\n"),
        ("a.ts", "/*\neslint-disable\n  no-undef\n*/\n", "/*\neslint-disable\n*/\n"),
        ("a.ts", " eslint-disable is bad */\n", "/*\n eslint-disable is bad */\n"),
        ("a.py", "# see: ruff: noqa\n", "# see:\n# ruff: noqa\n"),
    ],
)
def test_what_silences_more_than_before_is_found(path: str, before: str, after: str) -> None:
    assert is_found(path, after, before)


def test_the_place_and_the_words_are_told() -> None:
    found = verdict("pkg/a.py", "import os\n\n#   ruff:  noqa\n")
    assert found.excerpt.splitlines()[0] == "pkg/a.py:3 # ruff: noqa"
    assert verdict("a.ipynb", notebook("# ruff: noqa")).excerpt.startswith("a.ipynb # ruff: noqa\n")


def test_a_file_that_is_too_long_to_be_looked_at_does_not_pass() -> None:
    long = b"\n" * (suppressions.MOST_BYTES + 1)
    assert verdict("a.py", long).reason == "TooLarge"
    assert verdict("a.csv", long).verdict == "Passed"


@pytest.mark.parametrize(
    "part",
    [
        *("#", " ", "/", "/*", "//", "*", "<!--", "\n", "\\", '"', '",', '\\"', "{{!", "# ", "\r"),
        *("pylint:", "# pylint: disable", "eslint", "/* eslint-disable", "package ", "//nolint\n"),
        *(
            "#![",
            '#!["',
            "#[allow(",
            "#![cfg(#",
            "#/**/",
            "# shellcheck ",
            "coding:",
            "# mypy:",
            "<!-- eslint-disable",
        ),
    ],
)
@pytest.mark.parametrize("suffix", [".py", ".ts", ".ipynb", ".rs", ".go", ".sh", ".md"])
def test_no_text_takes_long(part: str, suffix: str) -> None:
    text = part * (400_000 // len(part))
    started = time.process_time()
    verdict(f"a{suffix}", text)
    assert time.process_time() - started < 4
