"""The page on GitHub Apps says of each account what its token may do, and of each reason what it
means; its example fits together."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import yaml

from bernstein.api import encoding
from bernstein.api.programs.mint import REMEDIES, MintConfig, MintReason
from bernstein.controllers.settings import LINK_LOCAL
from bernstein.forges.github_app import PERMISSIONS
from tests.unit.docs.pages import ROOT, rows

PAGE = ROOT / "docs/how-to/use-a-github-app.md"
EXAMPLE = ROOT / "docs/examples/github-app/minter.yaml"
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all(EXAMPLE.read_text()))


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in DOCUMENTS if each["kind"] == kind]


def pod() -> dict[str, Any]:
    (cron,) = of_kind("CronJob")
    spec: dict[str, Any] = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def test_the_permissions_of_each_account_are_on_the_page() -> None:
    told = {
        account: dict(re.findall(r"`(\w+): (\w+)`", permissions))
        for account, permissions in re.findall(
            r"^\| \*(\w+)\* \|(.*)\|$", PAGE.read_text(), re.MULTILINE
        )
    }
    assert told == PERMISSIONS


def test_every_reason_is_on_the_page_and_has_a_remedy() -> None:
    told = {cells[0].strip("`") for cells in rows(PAGE)}
    assert set(MintReason) <= told
    assert set(REMEDIES) == set(MintReason)


def test_every_field_that_people_write_is_on_the_page() -> None:
    told = {cells[0].strip("`") for cells in rows(PAGE)}
    of_pods = {"cluster", "account_folder"}
    assert {each.name for each in dataclasses.fields(MintConfig)} - of_pods <= told


def test_the_example_s_role_names_the_secrets_that_are_filled_and_no_more() -> None:
    (role,) = of_kind("Role")
    configs = [encoding.load(MintConfig, each["args"][0]) for each in pod()["containers"]]
    filled = [wanted.secret for config in configs for wanted in config.tokens]

    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": filled, "verbs": ["patch"]}
    ]
    assert filled == [each["metadata"]["name"] for each in of_kind("Secret")]
    assert {w.account for c in configs for w in c.tokens} == set(PERMISSIONS)


def test_no_app_of_the_example_both_works_and_delivers() -> None:
    for each in pod()["containers"]:
        accounts = {w.account for w in encoding.load(MintConfig, each["args"][0]).tokens}
        assert not {"work", "deliver"} <= accounts


def test_each_container_of_the_example_has_the_key_of_its_app_alone() -> None:
    mounted = [[mount["name"] for mount in each["volumeMounts"]] for each in pod()["containers"]]
    assert mounted == [[volume["name"]] for volume in pod()["volumes"]]


def test_the_example_reaches_no_metadata_server() -> None:
    (policy,) = of_kind("NetworkPolicy")
    for rule in policy["spec"]["egress"]:
        assert rule["to"], "without it the rule is for every address"
        blocks = [each["ipBlock"] for each in rule["to"] if "ipBlock" in each]
        excepted = {address for block in blocks for address in block["except"]}
        assert not blocks or excepted == set(LINK_LOCAL)
