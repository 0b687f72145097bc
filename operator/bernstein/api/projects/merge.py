"""How verified work gets to the branch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Model, cel, refuses, rule
from bernstein.api.projects.commits import Commits, Signing
from bernstein.api.vocabulary import PlanMerge

Method = Literal["Merge", "Squash"]
SucceedOn = Literal["Merged", "Opened"]
Per = Literal["Plan", "Task"]
OnNewCommits = Literal["Stall", "Verify"]
_LABEL = r"^[^,\s]([^,\n\r\t]*[^,\s])?$"
Label = Annotated[str, Field(min_length=1, max_length=50, json_schema_extra={"pattern": _LABEL})]


class PullRequests(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "self.per != 'Task' || self.succeedOn != 'Opened'",
                "per Task waits until they are merged: Tasks need the code of those before them",
                fieldPath=".succeedOn",
                reason="FieldValueForbidden",
            ),
            rule(
                "!has(self.feedback) || size(self.feedback) == 0 || self.succeedOn != 'Opened'",
                "what is said of a pull request goes back to agents only where succeedOn is Merged",
                fieldPath=".feedback",
                reason="FieldValueForbidden",
            ),
            rule(
                "self.onNewCommits != 'Verify' || self.maxUpdates > 0",
                "with maxUpdates 0 nothing that is pushed is ever verified",
                fieldPath=".onNewCommits",
                reason="FieldValueForbidden",
            ),
        ),
    }

    per: Per = Field(
        default="Plan",
        description="Plan: one for all that a Plan delivers. Task: one for each of its Tasks, "
        "Closed once that is merged. A Plan goes on as it began; a Task without a Plan has its "
        "own always.",
    )
    draft: bool = Field(
        default=False, description="They are opened as drafts, which a person makes ready."
    )
    labels: Annotated[
        tuple[Label, ...], Field(max_length=10, json_schema_extra={"x-kubernetes-list-type": "set"})
    ] = Field(default=(), description="Labels that they get, beside those that people give them.")
    look_seconds: Annotated[int, Field(ge=5, le=3600)] = Field(
        default=30,
        description="Seconds between two looks at the forge for what has become of them.",
    )
    succeed_on: SucceedOn = Field(
        default="Merged",
        description="Merged: a Plan has succeeded once its pull request is merged. Opened: once "
        "it is there; what becomes of it is looked at no more. A Task's is always waited for.",
    )
    feedback: Annotated[
        tuple[Literal["Comments", "CI"], ...],
        Field(max_length=2, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = Field(
        default=(),
        description="What goes back to an agent while a pull request is open: Comments of people "
        "who may write to the repository, CI that fails. Without it nothing does.",
    )
    max_feedback: Annotated[int, Field(ge=1, le=10)] = Field(
        default=2, description="How often it goes back at most, for one pull request."
    )
    max_updates: Annotated[int, Field(ge=0, le=100)] = Field(
        default=5,
        description="How often an open one is made anew, verified and brought up to date, at most, "
        "because its branch has moved. 0: that is left to people.",
    )
    on_new_commits: OnNewCommits = Field(
        default="Stall",
        description="Where somebody else pushes to the branch of an open one. Stall: a person is "
        "needed. Verify: that is verified, and goes on where it passes; maxUpdates times at most.",
    )


class Merge(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            refuses("pullRequest", "self.strategy != 'pr'", "only strategy pr takes 'pullRequest'")
        ),
    }

    strategy: Literal["direct", "pr"] = Field(
        description="direct: verified work is pushed to the branch. pr: it is pushed to a branch "
        "of its own, for a pull request."
    )
    method: Method = Field(
        default="Merge",
        description="How a Plan's work is brought to its branch. Merge: by fast-forward; where the "
        "branch has moved meanwhile, by a merge commit. Squash: as one commit. Either new one is "
        "verified.",
    )
    per: Per | None = Field(
        default=None,
        description="Plan: all that a Plan delivers gets to the branch at its end, verified as a "
        "whole. Task: each of its Tasks by itself, once it is verified. A Plan goes on as it "
        "began. Absent: Plan.",
    )
    pull_request: PullRequests | None = None
    """How pull requests look; absent: as by default."""
    commit: Commits = Field(default_factory=Commits)
    """Who the commits are by that agents' work becomes, and those that merge it."""
    signing: Signing | None = Field(
        default=None,
        description="Signs the commit that is brought to the branch, or to that of a pull request: "
        "a Plan's is then always a new one. Those below it are not signed. Absent: none is.",
    )
    conflicts: Literal["Hold", "Resolve"] = Field(
        default="Hold",
        description="Where people have moved the branch so that a Plan's work does not merge with "
        "it. Hold: the Plan is Stalled, and the merge alone is tried again. Resolve: a Task "
        "resolves it first.",
    )

    def delivers(self, of_plan: PlanMerge | None) -> Per:
        """Whether a Plan with this `merge` delivers as a whole, or each of its Tasks by itself."""
        proposes = "pr" in (self.strategy, of_plan)
        return (self.pull_requests.per if proposes else self.per) or "Plan"

    @property
    def pull_requests(self) -> PullRequests:
        return self.pull_request or PullRequests()
