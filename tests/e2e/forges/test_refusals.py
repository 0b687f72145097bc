"""Rules of a real forge that keep an account or its token from what it is for: what is said of it,
that nobody tries again and again, and that it goes on once they let it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from bernstein.core import labels
from tests.e2e.conftest import EXISTS, Object, condition, does, writing
from tests.e2e.forges.conftest import OWNER, MakeTeam, Team
from tests.gitea import Gitea

NEW = [does("new", writing("new.py", "X = 1\n"))]
STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]},
]


def directly(spec: Object) -> None:
    spec["merge"] = {"strategy": "direct"}


def labelled(spec: Object) -> None:
    spec["merge"]["pullRequest"]["labels"] = ["ours"]


def protect(branch: str) -> Callable[[Team], None]:
    """Nobody may push there."""
    return lambda here: here.api("POST", "/branch_protections", rule_name=branch)


def unprotect(here: Team) -> None:
    for rule in here.api("GET", "/branch_protections"):
        name = rule["rule_name"].replace("/", "%2F")
        here.api("DELETE", f"/branch_protections/{name}")


def permit(account: str, permission: str) -> Callable[[Team], None]:
    path = f"/collaborators/{account}"
    return lambda here: here.api("PUT", path, permission=permission)


def forge_token(*scopes: str) -> Callable[[Team], None]:
    """The forge's account gets one with these."""
    return lambda here: give_token(here, here.forge.token("forge", *scopes))


def give_token(here: Team, token: str) -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "forge-token"}}
    here.apply({**secret, "stringData": {"token": token}})


class Cause(NamedTuple):
    """What keeps a Plan's pull request from being opened."""

    reason: str
    breaks: Callable[[Team], object]
    mends: Callable[[Team], object]
    names: str
    """A word of the message, that says where to look."""
    remedy: str
    tries: str = "propose"
    """The Job that meets it."""
    opened: int = 0
    """Pull requests that are there all the same."""

    @property
    def state(self) -> str:
        """Of the delivery."""
        return "CredentialRefused" if self.tries == "land" else "Pending"


GOOD_TOKEN = forge_token("write:repository", "write:issue")
RIGHTS = (
    "Give the token the right to write pull requests: 'forge-token' "
    "(spec.repositories[0].forge.token.name)."
)
CAUSES = {
    "no-right-to-branches-of-plans": Cause(
        *("BranchProtected", protect("bernstein/**"), unprotect),
        *("bernstein/shop-", "Let the deliver account push to the protected branch.", "land"),
    ),
    "a-token-that-only-reads": Cause(
        *("ForgeRightsMissing", forge_token("read:repository"), GOOD_TOKEN, "403", RIGHTS),
    ),
    "a-user-who-may-set-no-label": Cause(
        *("ForgeRightsMissing", permit("forge", "read"), permit("forge", "write"), "403", RIGHTS),
        opened=1,
    ),
}


def jobs(here: Team, kind: str) -> set[str]:
    return {
        job["metadata"]["name"]
        for job in here.all("jobs")
        if job["metadata"]["labels"].get(labels.JOB) == kind
    }


def stands_still(here: Team, kind: str, name: str, cause: Cause) -> Object:
    """It says why and what helps, and does no more about it."""
    found = here.stalled(kind, name, cause.reason, 240)
    told = condition(found, "Stalled")
    assert cause.names in told["message"]
    assert f"Remedy: {cause.remedy}" in told["message"]
    assert found["status"]["waiting"]["reason"] == cause.reason
    # Where nothing may be pushed at all, it is the Plan's first step that does not land.
    step = here.get("task", "shop-build-new") if kind == "plan" else found
    deliveries = (each["status"].get("delivery") or {} for each in (found, step))
    assert cause.state in [each.get("state") for each in deliveries]
    return found


@pytest.mark.parametrize("case", CAUSES)
def test_a_plan_says_what_keeps_its_pull_request_away_and_goes_on_once_that_is_mended(
    team: MakeTeam, case: str
) -> None:
    cause = CAUSES[case]
    here = team(NEW, labelled)
    here.await_("project", "default", lambda p: condition(p, "Ready")["status"] == "True")
    cause.breaks(here)
    here.plan("shop", STAGES)

    stands_still(here, "plan", "shop", cause)
    tried = jobs(here, cause.tries)
    assert len(here.pulls()) == cause.opened
    assert len(here.all("agentsessions")) == 1

    cause.mends(here)
    assert jobs(here, cause.tries) == tried, "it is looked at again every 5 minutes"
    here.bernstein("merge", "plan/shop", "--timeout", "2s")
    plan = here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 120
    )
    assert condition(plan, "Stalled").get("status") != "True"
    assert [pull["number"] for pull in here.pulls()] == [
        plan["status"]["delivery"]["pullRequest"]["number"]
    ]
    assert len(here.all("agentsessions")) == 1, "no agent works again"


DIRECT: list[Any] = [
    pytest.param(
        "plan",
        Cause(
            *("BranchProtected", protect("main"), unprotect, "refs/heads/main"),
            *("Let the deliver account push to the protected branch.", "land"),
        ),
        id="protected",
    ),
    pytest.param(
        "task",
        Cause(
            *("CredentialRefused", permit("deliver", "read"), permit("deliver", "write")),
            *("deliver", "Let the account push: work to refs/bernstein/, deliver to the branch."),
            "land",
        ),
        id="read-only",
    ),
]


@pytest.mark.parametrize(("kind", "cause"), DIRECT)
def test_what_may_not_land_on_the_branch_waits_and_lands_once_it_may(
    team: MakeTeam, kind: str, cause: Cause
) -> None:
    here = team(NEW, directly)
    here.await_("project", "default", lambda p: condition(p, "Ready")["status"] == "True")
    before = here.tip()
    cause.breaks(here)
    if kind == "plan":
        here.plan("shop", STAGES)
    else:
        here.task("shop", title="new", completionSignals=[EXISTS])

    stands_still(here, kind, "shop", cause)
    assert here.tip() == before

    cause.mends(here)
    here.bernstein("merge", "--timeout", "90s")
    if kind == "plan":
        here.await_(kind, "shop", lambda p: p["status"]["phase"] == "Succeeded", 120)
    else:
        here.closed("shop")
    assert "new.py" in here.files()
    assert len(here.all("agentsessions")) == 1, "no agent works again"


def read_only(account: str, spec: Object, forge: Gitea) -> None:
    name = spec["repositories"][0]["url"].rpartition("/")[2].removesuffix(".git")
    path = f"/repos/{OWNER}/{name}/collaborators/{account}"
    forge.api("PUT", path, user=OWNER, permission="read")


def stranger(account: str, spec: Object, _: Gitea) -> None:
    spec["repositories"][0]["credentials"][account]["secretName"] = "of-nobody"


@pytest.mark.parametrize(
    ("account", "weak"),
    [
        # That deliver may only read shows at its first push: Gitea lets readers begin one.
        pytest.param("work", read_only, id="work-reads"),
        pytest.param("work", stranger, id="work-of-nobody"),
        pytest.param("deliver", stranger, id="deliver-of-nobody"),
    ],
)
def test_a_project_says_which_account_may_not_push_before_anybody_works(
    team: MakeTeam, forge: Gitea, account: str, weak: Callable[..., None]
) -> None:
    here = team(NEW, lambda spec: weak(account, spec, forge))
    nobody = {"username": account, "password": "0" * 40}
    here.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "of-nobody"},
            "stringData": nobody,
        }
    )
    project = here.await_(
        "project", "default", lambda p: condition(p, "Ready")["reason"] == "CredentialRefused"
    )
    told = condition(project, "Ready")["message"]
    assert told.startswith(f"{account}: ")
    assert "If its login is refused, mend its Secret." in told
    assert len(jobs(here, "probe")) == 1

    permit(account, "write")(here)
    mended = {"name": "mended", f"credentials/{account}": {"secretName": f"git-{account}"}}
    changes = [
        {"op": "replace", "path": f"/spec/repositories/0/{key}", "value": value}
        for key, value in mended.items()
    ]
    here.kubectl("patch", "project", "default", "--type=json", "-p", json.dumps(changes))
    here.await_("project", "default", lambda p: condition(p, "Ready")["status"] == "True")
    assert here.all("agentsessions") == []
