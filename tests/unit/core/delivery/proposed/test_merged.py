"""What the forge calls merged is looked for on the branch."""

from __future__ import annotations

from bernstein.core.actions import RunSeek
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.waiting import parted
from tests.unit.core.delivery.plans import ONTO, there
from tests.unit.core.delivery.proposed.proposals import opened, seen, watched
from tests.unit.core.objects import failed, job, over, sha, stalled_for


def test_what_is_called_merged_and_is_not_on_the_branch_is_told_and_looked_for_again() -> None:
    of = watched("Merged")
    begun = seen(opened(), of=of).status

    status = there(seen, begun, state="Moved", of=of)

    assert status.delivery is not None
    assert (status.phase, status.delivery.state) == ("Stalled", "Unknown")
    assert stalled_for(status.conditions) == "PullRequestChanged"
    assert status.waiting is not None
    cause, remedy = parted(status.waiting.message)
    assert f"'main' has neither {sha(2)} nor the same change" in cause
    assert remedy == f"Merge {sha(2)} into 'main' with git, or cancel the Plan."
    assert seen(status, of=of).actions == ()
    (again,) = seen(status, of=of, now=PROBE_SECONDS).actions
    assert again == RunSeek("web-land-4", "refs/pull/7/head", sha(2), ONTO)
    merged = there(seen, status, of=of, now=PROBE_SECONDS)
    assert (merged.phase, merged.waiting) == ("Succeeded", None)
    assert (merged.delivery.reason, merged.delivery.message) == (None, None)


def test_where_it_cannot_be_looked_for_another_job_tries_later() -> None:
    of = watched("Merged")
    begun = seen(opened(), of=of).status
    refused = over(failed("land", "RepositoryUnreachable", "no route"))

    status = seen(begun, job("web-land-3", refused), of=of).status

    assert stalled_for(status.conditions) == "RepositoryUnreachable"
    assert seen(status, of=of).actions == ()
    (again,) = seen(status, of=of, now=PROBE_SECONDS).actions
    assert isinstance(again, RunSeek)
    assert again.job == "web-land-4"


def test_it_is_looked_for_though_nobody_can_look_at_the_forge_meanwhile() -> None:
    blind = watched("Merged", reason="ForgeTokenRefused", message="the token is refused")
    begun = seen(opened(), of=watched("Merged")).status

    (asked,) = seen(begun, of=blind).actions
    assert isinstance(asked, RunSeek)
    not_there = there(seen, begun, state="Moved", of=blind)
    assert stalled_for(not_there.conditions) == "PullRequestChanged"
    assert seen(not_there, of=blind).actions == (), "again after a while alone"
    assert there(seen, begun, of=blind).phase == "Succeeded"
