"""Bills of materials: which packages they name, and that they are CycloneDX."""

from __future__ import annotations

import json
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from release import bom
from release.bom import Package
from release.layers import Layer, merged
from tests.unit.docs.pages import ROOT

STATUS = """\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u9
Description: C library
 with a second line

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""
TELLING = {
    "var/lib/dpkg/status": STATUS,
    "opt/x/Some_Thing-1.0.dist-info/METADATA": "Name: Some_Thing\nVersion: 1.0\n\nText",
    "opt/x/node_modules/@scope/a/package.json": '{"name": "@scope/a", "version": "2.0.0"}',
    "opt/x/node_modules/b/package.json": '{"type": "module"}',
    "opt/x/node_modules/c/package.json": '["c"]',
    "opt/x/node_modules/d/package.json": '{"name": "d", "version": 4}',
    "opt/x/node_modules/e/package.json": '{"name": {"a": "e"}, "version": "1"}',
    "opt/x/node_modules/f/package.json": "{",
    "opt/x/node_modules/g/package.json": '{"name": "g"}',
    "opt/x/node_modules/h/package.json": "[" * 100_000,
    "opt/x/Nameless-1.0.dist-info/METADATA": "Version: 1.0\n\nText",
    "opt/y/node_modules/plain/package.json": '{"name": "plain", "version": "3.0.0-linux-x64"}',
}
FOUND = [
    Package("deb", "libc6", "2.36-9+deb12u9", "debian", "amd64"),
    Package("npm", "a", "2.0.0", "@scope"),
    Package("npm", "plain", "3.0.0-linux-x64"),
    Package("pypi", "some-thing", "1.0"),
]


def document(packages: list[Package]) -> dict[str, Any]:
    text = bom.bom("container", "thing", "1.2.3", "ab" * 32, packages, 1000)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found: dict[str, Any] = json.loads(text)
    return found


def test_packages_of_an_image_are_those_that_say_what_they_are() -> None:
    assert sorted(bom.of_image(TELLING)) == FOUND


def test_a_document_is_valid_and_names_each_package() -> None:
    found = document(FOUND)

    assert found["metadata"]["component"]["name"] == "thing"
    assert found["metadata"]["timestamp"] == "1970-01-01T00:16:40+00:00"
    assert {each["purl"] for each in found["components"]} == {
        "pkg:deb/debian/libc6@2.36-9%2Bdeb12u9?arch=amd64",
        "pkg:npm/%40scope/a@2.0.0",
        "pkg:npm/plain@3.0.0-linux-x64",
        "pkg:pypi/some-thing@1.0",
    }


def test_the_same_packages_give_the_same_bytes() -> None:
    asked = ("container", "thing", "1", "ab" * 32)

    assert bom.bom(*asked, FOUND, 5) == bom.bom(*asked, [*FOUND[::-1], *FOUND], 5)


def test_a_wheel_is_told_with_all_that_is_installed_beside_it() -> None:
    locked = (ROOT / "requirements.lock").read_text()
    found = {package.name: package.version for package in bom.of_lock(locked)}

    assert {"kopf", "pydantic", "securesystemslib"} <= found.keys()
    lines = [line for line in locked.splitlines() if "==" in line and not line.startswith(" ")]
    assert len(found) == len(lines)


def test_what_a_later_layer_removes_or_replaces_is_not_in_an_image() -> None:
    below = Layer("", 0, "", {"a/METADATA": "1", "b/c/METADATA": "1", "d/METADATA": "1", "ab": "1"})
    above = Layer("", 0, "", {"d/METADATA": "2"}, ["a", "b/"])

    assert merged([below, above]) == {"ab": "1", "d/METADATA": "2"}
