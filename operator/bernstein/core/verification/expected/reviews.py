"""The review of one Task's work by models of other makers, as a check like any other."""

from __future__ import annotations

from bernstein.api.programs.judge import Asked
from bernstein.api.project import ProjectSpec
from bernstein.api.reasons import VerdictReason
from bernstein.checks import prompts
from bernstein.checks.rules import cross_model
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.verification.expected.reviewers import Writer, review


def of_work(project: ProjectSpec, subject: Subject, writer: Writer) -> tuple[CheckSpec, ...]:
    """The check; none where the Project asks for no review.

    All reviewers answer for one verdict, so that whoever reads verdicts need not know of them.
    """
    settings = project.gates.cross_model
    if not (project.gates.enabled and settings.enabled):
        return ()
    found = review(project, writer)
    names = tuple(model.name for model in found.reviewers)
    asked = Asked(
        name=cross_model.NAME,
        prompt=prompts.current(cross_model.ASKS.prompt),
        form=cross_model.ASKS.form,
        model=names[0] if names else "",
        also=names[1:],
        quorum=settings.quorum,
        room=settings.max_diff_characters,
        tokens=settings.max_tokens,
    )
    check = CheckSpec(
        name=cross_model.NAME,
        kind="gate",
        title=cross_model.NAME,
        required=settings.on_issues == "Block",
        timeout=project.gates.timeout_seconds,
        asks=asked,
        asked_of=tuple(v for m in found.reviewers for v in (m.provider, m.base_url or "")),
        unfit=found.problem,
        condition=cross_model.CONDITION,
        skipped=None if subject.meets(cross_model.CONDITION) else VerdictReason.CONDITION_NOT_MET,
    )
    return (check,)


def problem(project: ProjectSpec, writer: Writer) -> str | None:
    """Why nobody could review what `writer` writes, where its work may not land without; None:
    somebody can, or nobody has to."""
    settings = project.gates.cross_model
    if not (project.gates.enabled and settings.enabled and settings.on_issues == "Block"):
        return None
    return review(project, writer).problem or None
