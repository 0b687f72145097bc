"""Licences, regulated data and internal addresses in added lines."""

from __future__ import annotations

import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks.content import restricted, secrets
from bernstein.checks.gates import dlp_scan
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict
from tests.unit.checks.trees import Tree

SSPL_SENTENCE = "licensed under the Server Side Public License, version 1"
RESTRICTED = {
    "AGPL licence identifier": "# SPDX-License-Identifier: AGPL-3.0-or-later",
    "GPL licence identifier": "/* SPDX-License-Identifier: (GPL-2.0-only) */",
    "GPL licence": " * it under the terms of the GNU General Public License as published by",
    "AGPL licence": "                    GNU AFFERO GENERAL PUBLIC LICENSE",
    "SSPL licence": f"// This file is {SSPL_SENTENCE}",
    "medical record number": '{"MRN": "00482913"}',
    "health provider number": "NPI: 1234567893",
    "drug prescriber number": "dea_number = 'AB1234563'",
    "health service number": "NHS number 943 476 5919",
    "Medicare number": "1EG4-TE5-MK73",
    "passport number": "passport_no=C01234567",
    "magnetic stripe of a card": "%B4111111111111111^DOE/JO^2512101",
    "classification marking": "TOP SECRET//NOFORN",
    "internal host name": "url = 'https://jira.acme.corp/browse/X-1'",
    "internal host name of a cloud": "ip-10-1-2-3.eu-west-1.compute.internal",
}
ALLOWED = [
    "# SPDX-License-Identifier: MIT OR GPL-2.0-only",
    "# SPDX-License-Identifier: Apache-2.0",
    "We do not accept code under the GPL, nor the GNU General Public License.",
    "under the terms of the GNU Lesser General Public License",
    "NPI: 1234567890",
    "dea_number = 'AB1234567'",
    "MRN: EXAMPLE-00482913",
    "passport_no=TEST01234567",
    "x = settings.internal.timeout",
    "http://host.docker.internal:8080/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://host.containers.internal:9090/",
    "http://gateway.docker.internal/",
    "https://kubernetes.docker.internal:6443/",
    "http://host.minikube.internal:3000/",
    "http://docker.for.mac.host.internal/",
    "https://db.EXAMPLE.internal/",
    "passport_id = 12345678",
    "passport 20260101",
    "passport_no = 123456789",
    "passport number: 000000000",
    "https://db.example.internal/",
    "https://EXAMPLE.corp/",
    "http://api.default.svc.cluster.local/",
    "https://lan.example.com/",
    "https://corp.internal.example.com/",
]
SHOWN = {
    "private network address": "HOST = '10.1.2.3'",
    "date of birth": "dob: 1980-02-29",
    "card verification code": "cvv=123",
    "notice of confidentiality": "Company Confidential",
}


def added(text: str, before: str = "", own: frozenset[str] = frozenset()) -> Verdict:
    file = ChangedFile("src/a.txt", before.encode(), text.encode())
    return restricted.scan([file], own, secrets.mask)


@pytest.mark.parametrize("kind", RESTRICTED)
def test_what_is_restricted_fails_and_is_named_but_never_shown(kind: str) -> None:
    verdict = added(f"first\n{RESTRICTED[kind]}\n")

    assert (verdict.verdict, verdict.reason) == ("Failed", "RestrictedContent")
    assert f"src/a.txt:2 {kind}" in verdict.excerpt.split("\n")
    assert RESTRICTED[kind].strip() not in verdict.excerpt


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("passport number: 483920175", "passport number"),
        ("http://notdocker.internal/", "internal host name"),
        ("http://mydocker.internal/", "internal host name"),
    ],
)
def test_what_is_near_to_the_allowed_fails(line: str, kind: str) -> None:
    assert f"src/a.txt:1 {kind}\n" in added(f"{line}\n").excerpt


REGISTRIES = [
    ("package-lock.json", '"resolved": "https://npm.acme.corp/x/-/x-1.0.0.tgz"'),
    ("web/yarn.lock", 'resolved "https://npm.acme.corp/x/-/x-1.0.0.tgz"'),
    ("uv.lock", 'source = { registry = "https://pypi.acme.corp/simple" }'),
    ("go.mod", "// GOPROXY=https://goproxy.lan"),
    (".npmrc", "registry=https://npm.acme.corp/"),
    ("requirements.txt", "--index-url https://pypi.acme.corp/simple"),
]


@pytest.mark.parametrize(("path", "line"), REGISTRIES)
def test_where_packages_come_from_is_shown_alone(path: str, line: str) -> None:
    file = ChangedFile(path, b"", line.encode())

    verdict = restricted.scan([file], (), secrets.mask)

    assert verdict.verdict == "Passed"
    assert verdict.excerpt == f"{path}:1 internal host name (does not block)"


@pytest.mark.parametrize("line", ALLOWED)
def test_what_only_looks_like_it_passes(line: str) -> None:
    assert added(line + "\n") == Verdict("Passed")


@pytest.mark.parametrize("kind", SHOWN)
def test_weaker_findings_are_shown_and_do_not_block(kind: str) -> None:
    verdict = added(SHOWN[kind] + "\n")

    assert verdict.verdict == "Passed"
    assert verdict.excerpt == f"src/a.txt:1 {kind} (does not block)"


def test_a_network_is_no_address() -> None:
    assert added("allow 10.0.0.0/8, 192.168.0.0/16 and 8.8.8.8\n").excerpt == ""


@pytest.mark.parametrize("kind", RESTRICTED)
def test_only_added_lines_count(kind: str) -> None:
    old = f"{RESTRICTED[kind]}\n"

    assert added(old + "more\n", before=old).verdict == "Passed"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_hide_nothing(encoding: str) -> None:
    data = "# SPDX-License-Identifier: SSPL-1.0\n".encode(encoding)

    assert restricted.scan([ChangedFile("a", b"", data)], (), secrets.mask).verdict == "Failed"


def judged(after: dict[str, str], before: dict[str, str] | None = None) -> str:
    return dlp_scan.scan(Tree(after, before=before or {}), Check("dlp_scan", "dlp_scan")).verdict


GPL_FILE = "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3\n"
NAMES_IT = {"a.py": "# SPDX-License-Identifier: GPL-3.0-only\n"}


@pytest.mark.parametrize("name", ["LICENSE", "COPYING", "LICENCE.txt", "license-gpl.md"])
def test_files_of_a_repository_may_name_its_own_licence(name: str) -> None:
    licence = {name: GPL_FILE}

    assert judged(NAMES_IT | licence, before=licence) == "Passed"
    assert judged({"a.py": RESTRICTED["AGPL licence"]} | licence, before=licence) == "Failed"


def test_no_work_puts_the_repository_under_a_licence_to_name_it() -> None:
    mit = {"LICENSE": "MIT License\n"}

    assert judged(NAMES_IT | {"LICENSE": GPL_FILE}, before=mit) == "Failed"
    assert judged(NAMES_IT | {"COPYING": GPL_FILE}, before=mit) == "Failed"
    assert judged(NAMES_IT | {"COPYING": "->GPL"} | mit, before=mit) == "Failed"


def test_a_licence_deeper_in_the_tree_is_not_that_of_the_repository() -> None:
    vendored = {"vendor/x/LICENSE": GPL_FILE}

    assert judged(NAMES_IT | vendored, before=vendored) == "Failed"


@pytest.mark.parametrize(
    "unit",
    [
        "a.", "SPDX-License-Identifier: ", "licensed ", "GNU ", "://a.", "git@a", "MRN ", "MRN:",
        "NHS number ", "passport", "1", "%B4111111111111", "ip-1-", "10.", "\n# ", " OR ", "://a@",
    ],
)  # fmt: skip
def test_no_text_takes_long(unit: str) -> None:
    start = time.process_time()
    added(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 5
