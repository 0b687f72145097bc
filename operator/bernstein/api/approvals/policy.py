"""When a person must say yes, beside all checks: of a Project, and stricter of a Plan."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import CelRule, Model, cel, rule
from bernstein.api.money import Dollars

PLANS = ("Never", "AboveCost", "Always")
"""Which Plans are asked about, from the loosest policy to the strictest."""
RESULTS = ("Never", "HighRisk", "Always")
"""Which work is asked about before it lands, in the same order."""
MOVED_BASE = ("Ask", "Keep")
"""What holds of an approval where other work has landed since."""
EXPIRES_AFTER_SECONDS = (60, 31536000)
"""The shortest and the longest time for a decision."""

PROTECTED_PATHS = (
    *(".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitea/workflows"),
    *(".forgejo/workflows", ".circleci", ".buildkite", ".drone.yml", ".travis.yml"),
    *(".woodpecker", ".woodpecker.yml", "azure-pipelines.yml", "Jenkinsfile"),
    *(".claude", ".codex", ".gemini", ".cursor", ".mcp.json", "AGENTS.md", "CLAUDE.md"),
    *("AGENTS.override.md", "CLAUDE.local.md", "GEMINI.md", ".agents", ".opencode"),
    *("opencode.json", "opencode.jsonc", ".github/copilot-instructions.md", ".github/instructions"),
    *(".vscode", ".devcontainer", ".husky", ".pre-commit-config.yaml"),
    *(".bernstein", "bernstein.yaml"),
)
"""Without a list of the Project: what CI runs with its secrets, what steers the next agent, and
what says where the commands of whoever works in the checkout go."""


class DecisionPolicy(Model):
    """What holds of every decision, and which work is decided about."""

    result: Literal["Never", "HighRisk", "Always"] = Field(
        default="Never",
        description="Verified work that waits for a yes, beside changes of protected paths, which "
        "always do. HighRisk: role security, complexity high, weaker tests, configuration of "
        "checks, undeclared files.",
    )
    expires_after_seconds: (
        Annotated[int, Field(ge=EXPIRES_AFTER_SECONDS[0], le=EXPIRES_AFTER_SECONDS[1])] | None
    ) = Field(
        default=None,
        description="Seconds after which what nobody has decided is rejected for good. Absent: it "
        "stays pending. Nothing is ever approved by time.",
    )
    approver_is_not_author: bool = Field(
        default=False,
        description="true: whoever made the Plan, or the Task without one, may not decide. It "
        "needs spec.author there.",
    )
    moved_base: Literal["Ask", "Keep"] | None = Field(
        default=None,
        description="Where other work has landed since the approval, and the same change was "
        "verified again. Ask: a person is asked again. Keep: it holds, where the Project says it. "
        "Absent: as that does, else Ask.",
    )


class ApprovalPolicy(DecisionPolicy):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                # Of a default the API server sees no default below it.
                "(has(self.plan) && self.plan == 'AboveCost') == has(self.aboveUsd)",
                "aboveUsd goes with plan: AboveCost, and only with that",
                fieldPath=".aboveUsd",
            ),
        ),
    }

    plan: Literal["Never", "AboveCost", "Always"] = Field(
        default="Never",
        description="Plans whose Tasks start only once a person has approved the Plan. AboveCost: "
        "those whose estimate is above aboveUsd, or is not known.",
    )
    above_usd: Dollars | None = Field(
        default=None,
        description="US dollars: 5, '5.50' or '$5.50'; a number with a point needs quotes. For "
        "plan: AboveCost.",
    )


_WAS, _IS = "oldSelf.spec.approval", "self.spec.approval"


def only_stricter() -> tuple[CelRule, ...]:
    """Rules for the root of a kind: its `spec.approval` never asks for less than before."""
    return (
        _stricter(f"has({_IS})", ""),
        _stricter(f"!has({_IS}) || ({_ranks('plan', PLANS)})", ".plan"),
        _stricter(f"!has({_IS}) || ({_ranks('result', RESULTS)})", ".result"),
        _stricter(
            f"!has({_IS}) || !has({_WAS}.aboveUsd) || {_IS}.plan == 'Always' || "
            f"(has({_IS}.aboveUsd) && ({_IS}.aboveUsd == {_WAS}.aboveUsd || "
            f"{_dollars(_IS)}.compareTo({_dollars(_WAS)}) <= 0))",
            ".aboveUsd",
        ),
        _stricter(
            f"!has({_IS}) || !has({_WAS}.expiresAfterSeconds) || "
            f"(has({_IS}.expiresAfterSeconds) && "
            f"{_IS}.expiresAfterSeconds <= {_WAS}.expiresAfterSeconds)",
            ".expiresAfterSeconds",
        ),
        _stricter(
            f"!has({_IS}) || !{_WAS}.approverIsNotAuthor || {_IS}.approverIsNotAuthor",
            ".approverIsNotAuthor",
        ),
        _stricter(
            f"!has({_IS}) || !has({_WAS}.movedBase) || {_WAS}.movedBase != 'Ask' || "
            f"(has({_IS}.movedBase) && {_IS}.movedBase == 'Ask')",
            ".movedBase",
        ),
    )


def _dollars(policy: str) -> str:
    """CEL: its `aboveUsd`, which may be a number, as an amount that can be compared exactly."""
    return f"quantity(string({policy}.aboveUsd).replace('$', ''))"


def _ranks(field: str, words: tuple[str, ...]) -> str:
    """CEL: the new word is no looser than the old one. Spelled out: to search for a word
    costs more than the API server allows."""
    looser = [f"{_WAS}.{field} != '{old}'" for old in words[1:]]
    stricter = [_one_of(field, words[place:]) for place in range(1, len(words))]
    each = zip(looser, stricter, strict=True)
    return " && ".join(f"({was} || {now})" for was, now in each)


def _one_of(field: str, words: tuple[str, ...]) -> str:
    return "(" + " || ".join(f"{_IS}.{field} == '{word}'" for word in words) + ")"


def _stricter(expression: str, field: str) -> CelRule:
    return rule(
        f"!has({_WAS}) || ({expression})",
        "the policy of a Plan may only become stricter",
        fieldPath=f".spec.approval{field}" if field else ".spec",
        reason="FieldValueForbidden",
    )
