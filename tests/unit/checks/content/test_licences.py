"""Licences that bind whoever takes in code: what grants one, and what only speaks of it."""

from __future__ import annotations

import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks.content import licences, restricted, secrets
from bernstein.checks.gates import dlp_scan
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict
from tests.unit.checks.trees import Tree

GPL_HEADER = """\
/*
 * This program is free software; you can redistribute it and/or modify
 * it under the terms of the GNU
 * General Public License as published by the Free Software Foundation.
 */
"""
ELASTIC_HEADER = """\
# or more contributor license agreements. Licensed under the Elastic
# License 2.0; you may not use this file except in compliance with it.
"""
GRANTS = {
    "wrapped behind asterisks": (GPL_HEADER, "GPL licence"),
    "wrapped behind #": (ELASTIC_HEADER, "Elastic licence"),
    "wrapped behind --": (
        "-- This file is\n-- licensed under the\n-- GNU Affero General Public License.\n",
        "AGPL licence",
    ),
    "a work": (
        "This work is licensed under a Creative Commons Attribution-NonCommercial 4.0 License.\n",
        "CC-BY-NC licence",
    ),
    "its use": (
        "Use of this software is governed by the Business Source License in the file LICENSE.\n",
        "BUSL licence",
    ),
    "short": ("# This module is released under the GPLv3.\n", "GPL licence"),
    "the text itself": ("Business Source License 1.1\n\nLicensor: Somebody\n", "BUSL licence"),
    "the text in two lines": ("  Server Side Public License\n  VERSION 1\n", "SSPL licence"),
    "a classifier": (
        '"License :: OSI Approved :: GNU General Public License v3 (GPLv3)",\n',
        "GPL licence",
    ),
}
IDENTIFIERS = {
    "JSON": ('{"name": "x", "license": "SSPL-1.0"}', "SSPL"),
    "a field of TOML": ('license = "GPL-3.0-or-later"', "GPL"),
    "a header": ("License: GPL-3.0-only", "GPL"),
    "a header behind #": ("#  License: AGPL-3.0-only", "AGPL"),
    "a header in other words": ("License: GPLv3+", "GPL"),
    "REUSE.toml": ('SPDX-License-Identifier = "GPL-3.0-only"', "GPL"),
    "both at once": ("# SPDX-License-Identifier: MIT AND GPL-2.0-only", "GPL"),
    "no other choice": ("# SPDX-License-Identifier: GPL-2.0-only AND (MIT OR ISC)", "GPL"),
    "a choice of two that bind": ("# SPDX-License-Identifier: GPL-2.0-only OR AGPL-3.0", "AGPL"),
    "an exception that frees nobody": (
        "# SPDX-License-Identifier: GPL-2.0-or-later WITH openvpn-openssl-exception",
        "GPL",
    ),
}
MENTIONS = [
    "# Unlike code covered by the GNU General Public License, this is free of duties.\n",
    "This project is not licensed under the GNU General Public License.\n",
    "Projects\nreleased under the GNU General Public License are listed below.\n",
    "## GNU General Public License\n",
    "The kernel is distributed under the terms of the GNU General Public License.\n",
    "This file is licensed under either the MIT license or the GNU General Public License.\n",
    "This file is licensed under the GNU General Public License or the MIT license.\n",
    "This library is released under a GPL-compatible license.\n",
    "This file is licensed under the GNU Lesser General Public License.\n",
    "- Business Source License 1.1\n",
    'DENIED = ["GPL-3.0-only", "SSPL-1.0"]\n',
    "License: GPL-3.0 is not accepted here.\n",
    'if license == "GPL-3.0-only":\n',
    "# SPDX-License-Identifier: MIT AND (GPL-2.0-only OR Apache-2.0)\n",
    "// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0\n",
    "/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */\n",
    'license = "GPL-3.0-or-later WITH GCC-exception-3.1"\n',
    'license = "MIT/GPL-2.0"\n',
    "# SPDX-License-Identifier: LGPL-3.0-only\n",
]


def added(text: str, path: str = "src/a.txt") -> Verdict:
    return restricted.scan([ChangedFile(path, b"", text.encode())], (), secrets.mask)


@pytest.mark.parametrize("form", GRANTS)
def test_a_file_that_is_under_a_binding_licence_fails(form: str) -> None:
    text, kind = GRANTS[form]

    verdict = added(f"first\n{text}")

    assert (verdict.verdict, verdict.reason) == ("Failed", "RestrictedContent")
    assert kind in [
        line.split(" ", 1)[1] for line in verdict.excerpt.split("\n") if ".txt:" in line
    ]


@pytest.mark.parametrize("form", IDENTIFIERS)
def test_an_expression_that_leaves_no_free_choice_fails(form: str) -> None:
    text, family = IDENTIFIERS[form]

    assert f"src/a.txt:1 {family} licence identifier" in added(f"{text}\n").excerpt


@pytest.mark.parametrize("text", MENTIONS)
def test_who_only_speaks_of_a_licence_takes_in_nothing(text: str) -> None:
    assert added(text) == Verdict("Passed")


def test_a_grant_is_found_wherever_a_long_text_is_cut() -> None:
    for lines in range(120, 170, 3):
        assert "GPL licence" in added("x = 1234567890123456789\n" * lines + GPL_HEADER).excerpt


def test_a_grant_is_told_once_and_where_it_begins() -> None:
    assert added(f"\n{GPL_HEADER}").excerpt.split("\n")[:2] == [
        "src/a.txt:4 GPL licence",
        licences.HINT,
    ]


def test_the_hint_on_made_up_values_is_for_those_alone() -> None:
    licence, number = "License: GPL-3.0-only\n", "passport_no=C01234567\n"

    assert "FAKE" not in added(licence).excerpt
    assert "LICENSE" not in added(number).excerpt
    assert "FAKE" in added(number).excerpt
    both = added(licence + number).excerpt
    assert "FAKE" in both
    assert "LICENSE" in both


@pytest.mark.parametrize("path", ["package-lock.json", "web/pnpm-lock.yaml", "Cargo.lock"])
def test_what_a_lock_file_says_of_packages_is_shown_alone(path: str) -> None:
    verdict = added('"license": "GPL-3.0"\n', path)

    assert verdict.verdict == "Passed"
    assert verdict.excerpt == f"{path}:1 GPL licence identifier (does not block)"


def judged(
    after: dict[str, str], before: dict[str, str], pinned: dict[str, str] | None = None
) -> str:
    tree = Tree(after, before=before, pinned=pinned)
    return dlp_scan.scan(tree, Check("dlp_scan", "dlp_scan")).verdict


GPL = "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3\n"
LGPL = """\
                   GNU LESSER GENERAL PUBLIC LICENSE
                       Version 3, 29 June 2007

  This version of the GNU Lesser General Public License incorporates
the terms and conditions of version 3 of the GNU General Public
License, supplemented by the additional permissions listed below.
"""
NEW = {"a.py": "# SPDX-License-Identifier: GPL-3.0-only\n"}


@pytest.mark.parametrize(
    "own",
    [
        {"LICENSES/GPL-3.0-only.txt": GPL},
        {"LICENSES/GPL-3.0-only.txt": GPL, "LICENSES/MIT.txt": "MIT License\n"},
        {"REUSE.toml": 'SPDX-License-Identifier = "GPL-3.0-only"\n'},
        {".reuse/dep5": "Files: *\nLicense: GPL-3.0-only\n"},
        {"LICENSE": "Copyright Somebody\n\nThis program is licensed under the GPL version 3.\n"},
        {"LICENSE": "GNU General Public License v3.0\n\nCopyright Somebody\n"},
    ],
)
def test_what_a_repository_is_under_may_be_said_in_many_ways(own: dict[str, str]) -> None:
    assert judged(own | NEW, before=own) == "Passed"
    assert judged(own | {"a.py": "License: AGPL-3.0-only\n"}, before=own) == "Failed"


@pytest.mark.parametrize(
    "other",
    [
        {"COPYING.LESSER": LGPL},
        {"COPYING.LESSER": LGPL, "COPYING": GPL},
        {"LICENSES/MIT.txt": "MIT License\n"},
        {"docs/LICENSES/GPL-3.0-only.txt": GPL},
        {"LICENSE": "MIT License\n\nNothing here is under the GNU General Public License.\n"},
    ],
)
def test_another_licence_lets_no_binding_one_in(other: dict[str, str]) -> None:
    assert judged(other | NEW, before=other) == "Failed"


def test_a_licence_that_agents_have_landed_since_the_start_lets_nothing_in() -> None:
    landed = {"LICENSE": GPL}

    assert judged(landed | NEW, before=landed, pinned={"LICENSE": "MIT License\n"}) == "Failed"
    assert judged(NEW, before={}, pinned=landed) == "Passed"


@pytest.mark.parametrize(
    "unit",
    [
        "this file is licensed under ", "Licensed under the ", "it under the terms of the GNU ",
        "license: ", "license=(", "license: GPL-3.0 OR ", "SPDX-License-Identifier: ((((",
        "this is the GNU General Public License or ", "GNU\nGeneral\nPublic\nLicense\n", "AGPL/",
        "License :: ", "this code is ",
    ],
)  # fmt: skip
def test_no_text_takes_long(unit: str) -> None:
    start = time.process_time()
    added(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 5
