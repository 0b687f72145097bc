"""Names: of objects, label values and refs, made from what people write or from other names."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Protocol

LABEL_LIMIT = 63
"""Characters of a label's value, and of the names that become one."""
_OBJECT_LIMIT = 253
"""Characters of the name of an object that is no label's value."""
NAME_LIMIT = 40
"""Characters of a Plan's or Task's name, so that every name made from it fits LABEL_LIMIT."""
HASH_LENGTH = 6
_KEY_LENGTH = 8
"""Hexadecimals that tell Tasks of the same title apart."""
_HEXADECIMALS = hashlib.sha256().digest_size * 2
_PLAN_SHARE = 11
_STAGE_SHARE = 10
"""Characters of a Task's name that Plan and stage get where it does not fit as a whole."""

_REFS = "refs/bernstein"
ATTESTATIONS = f"{_REFS}/attestations"
"""The folder of refs that outlive what they are about, and belong to no Plan or Task."""
_ON_BASE = ".base"

_OF_OWNER = re.compile(rf"{_REFS}/[0-9a-z]{{1,16}}(/[0-9A-Za-z][-0-9A-Za-z_.]*){{1,3}}")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_LIKE_A_SESSION = re.compile(r"-s[0-9]+-")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")


def bounded(name: str, limit: int = LABEL_LIMIT) -> str:
    """The name; where it is longer than the limit, cut and made unique by a hash."""
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: limit - 9].rstrip('-.')}-{digest}"


def session(task: str, number: int) -> str:
    """Name of a Task's session, and of its Job."""
    return bounded(f"{task}-s{number}")


class JobNaming(Protocol):
    """Names the Jobs of one session, or of one Plan."""

    def __call__(self, check: str, number: int, *, is_rule: bool = False) -> str: ...


def session_job(session: str, check: str, number: int, *, is_rule: bool = False) -> str:
    """Name of a Job that follows a session: `<task>-s<k>-<check>-<number>`."""
    return bounded(f"{session}-{slug_of_check(check)}-{number}{_mark_of_check(check, is_rule)}")


def plan_job(
    plan: str, check: str, number: int, *, is_rule: bool = False, place: int | None = None
) -> str:
    """Name of a Plan's own Job: `<plan>-<check>-<number>`.

    Where that could be the name of a Job that follows a session, its number has a `p`. Behind it
    stands in which of its repositories it is at work, where that is not the first.
    """
    name = f"{plan}-{slug_of_check(check)}-"
    mark = "p" if _LIKE_A_SESSION.search(name) else ""
    where = "" if place is None else f"w{place}"
    return bounded(f"{name}{mark}{number}{where}{_mark_of_check(check, is_rule)}")


def probe_job(project: str, number: int) -> str:
    """Name of the Job that tries a Project's credentials: `<project>--probe-<number>`.

    No Job of a Plan or a session is called so: their numbers follow a name that begins and ends
    with a letter or digit, or have a mark.
    """
    return bounded(f"{project}--probe-{number}")


def watch_job(project: str, number: int, repository: str | None = None) -> str:
    """Name of the Job that watches a Project's pull requests, as `probe_job` has its own; those of
    another repository than the first by its name."""
    return _job_of_project(project, "watch", number, repository)


def prune_job(project: str, number: int, repository: str | None = None) -> str:
    """Name of the Job that deletes refs which nobody needs any more; as `watch_job`."""
    return _job_of_project(project, "prune", number, repository)


def close_job(project: str, number: int, repository: str | None = None) -> str:
    """Name of the Job that closes the pull request of what was deleted; as `watch_job`."""
    return _job_of_project(project, "close", number, repository)


def cache_job(project: str, number: int, repository: str | None = None) -> str:
    """Name of the Job that fills the cache of a repository; as `watch_job`."""
    return _job_of_project(project, "cache", number, repository)


def _job_of_project(project: str, what: str, number: int, repository: str | None) -> str:
    of = "" if repository is None else f"{repository}-"
    return bounded(f"{project}--{what}-{of}{number}")


PROBED_BRANCH = "refs/heads/bernstein/probe"
"""A branch that a Project's probe asks about, and that is never made."""


def probe_ref(uid: str) -> str:
    """A ref that a Project's probe asks about, and that is never made."""
    return f"{refs_of(uid)}/probe"


def slug_of_check(check: str) -> str:
    """The check as names of Jobs have it: with a hyphen for each underscore.

    The name of its Job, too, where an older release has made that.
    """
    return check.removesuffix(_ON_BASE).replace("_", "-")


def on_base(check: str) -> str:
    """What a check is called on the commit before the work; no gate has a dot in its name."""
    return check + _ON_BASE


def off_base(check: str) -> str:
    """The check that is called so, whether on the work or on the commit before."""
    return check.removesuffix(_ON_BASE)


def job_on_base(job: str) -> str:
    """Name of the Job that runs the check of this one on the base, too; not where that is so long
    that it is cut."""
    return f"{job}b"


def _mark_of_check(check: str, is_rule: bool) -> str:
    """What stands behind the number of a Job: where the check begins, if hyphens leave that open.

    Else `b_lint` of `a` would need the Job of `lint` of `a-b`. Then a `b`, if it is on the base.
    """
    name = check.removesuffix(_ON_BASE)
    # A rule has a hyphen of its own, where a Plan's name may have it.
    letter = "r" if is_rule else "u" if "_" in name else ""
    return (f"{letter}{len(name)}" if letter else "") + ("b" if name != check else "")


def approval(subject: str, digest: str) -> str:
    """Name of the Approval that asks what has this digest about a Task or a Plan."""
    return bounded(f"{subject}-approval-{digest[:10]}")


def network_policy(project: str, pods: str) -> str:
    """Name of the NetworkPolicy for some of a Project's pods."""
    return bounded(f"bernstein-{project}-{pods}")


def prompt(session: str) -> str:
    """Name of the ConfigMap with the parts of a session's prompt. An older release called it like
    the session, and it said something else."""
    return f"{session}-prompt"


def gate_cache(project: str) -> str:
    """Name of the ConfigMap that keeps verdicts of a Project's gates."""
    return bounded(f"{project}-gate-cache", _OBJECT_LIMIT)


def check_log(job: str) -> str:
    """Name of the ConfigMap that keeps what the check of this Job printed."""
    return f"{job}-report"


def agent_log(session: str) -> str:
    """Name of the ConfigMap that keeps what the agent of this session logged."""
    return f"{session}-log"


def documents(session: str) -> str:
    """Name of the ConfigMap with what the agent of this session left beside its code."""
    return f"{session}-documents"


def refs_of(uid: str) -> str:
    """The folder of all refs of a Plan and its Tasks, or of a Task without a Plan."""
    return f"{_REFS}/{uid.replace('-', '')[:16]}"


def integration_ref(plan_uid: str, place: int | None = None) -> str:
    """Where a Plan's Tasks land, before the Plan is delivered as a whole. `place`: as in plan_job;
    two of its repositories may be branches at one address."""
    where = "" if place is None else f"/r{place}"
    return f"{refs_of(plan_uid)}{where}/integration"


def old_integration_ref(plan_uid: str) -> str:
    """Where an older release put it: so few digits may be those of another Plan, too."""
    return f"{_REFS}/{plan_uid[:8]}/integration"


def is_work_ref(ref: str) -> bool:
    """Whether it is one of ours that is of no use once its work has landed: no branch, and no
    attestation, which is kept beside the branch. Programs in pods tell it by the same words."""
    return ref.startswith(f"{_REFS}/") and not ref.startswith(f"{ATTESTATIONS}/")


def is_of_owner(ref: str) -> bool:
    """Whether the ref has the name of one of a Plan or a Task: no branch, no tag, no
    attestation."""
    if ref.startswith(f"{ATTESTATIONS}/") or ".." in ref:
        return False
    return _OF_OWNER.fullmatch(ref) is not None


def attestation_ref(sha: str) -> str:
    """Where it is kept what was verified of the commit that landed."""
    return f"{ATTESTATIONS}/{sha}"


def folder(ref: str) -> str:
    """The folder that a ref is in."""
    return ref.rpartition("/")[0]


def work_ref(refs: str, task: str, number: int) -> str:
    """The ref of one session: whatever it pushes, even late, no other session's work is touched."""
    return f"{refs}/{task}/s{number}"


def candidate_ref(ref: str) -> str:
    """Where the work on this ref is put on a new tip, to be verified again."""
    return f"{folder(ref)}/candidate"


def marks_ref(ref: str) -> str:
    """Where both sides are put where the work on this ref does not merge."""
    return f"{folder(ref)}/conflict"


def formatted_ref(ref: str) -> str:
    """Where the work on this ref is put once it is formatted."""
    return f"{ref}-formatted"


def pull_request_ref(
    owner: str, uid: str, part: int | None = None, place: int | None = None
) -> str:
    """The branch of the pull request of a Plan or a Task: `bernstein/<name>-<8 digits of its uid>`.

    Each `part` of a Plan has one of its own, by a number: what was proposed before may be there.
    `place`: as in integration_ref.
    """
    where = "" if place is None else f"-{place}"
    name = f"bernstein/{owner}-{uid.replace('-', '')[:8]}{where}"
    return branch_ref(name if part is None else f"{name}-part-{part}")


_HEADS = "refs/heads/"


def branch_ref(branch: str) -> str:
    return f"{_HEADS}{branch}"


def branch_of(ref: str | None) -> str:
    """The branch that the ref is of, by the name that people know; "": there is none."""
    return (ref or "").removeprefix(_HEADS)


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits in words joined by `-`; "" when nothing is left."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NOT_ALPHANUMERIC.sub("-", ascii_text.lower()).strip("-")


def short_hash(*parts: str, length: int = HASH_LENGTH) -> str:
    """The first hexadecimals of a SHA-256 that tells `("a", "bc")` from `("ab", "c")`."""
    encoded = (part.encode("utf-8", "surrogatepass") for part in parts)
    prefixed = b"".join(len(part).to_bytes(8) + part for part in encoded)
    return hashlib.sha256(prefixed).hexdigest()[:length]


def plan_name(name: str) -> str:
    """A Plan's object name: the slug of its name, cut and hashed where it is too long or empty."""
    return _object_name(name, "plan")


def produced_plan(name: str, task_uid: str) -> str:
    """Name of the Plan of this name that a Task has produced: each Task has its own."""
    return _keyed_name(name, "plan", task_uid)


def task_name(identifier: str) -> str:
    """The object name of a Task that people call by this id; made as a Plan's is."""
    return _object_name(identifier, "task")


def _object_name(text: str, without_letters: str) -> str:
    plain = slug(text)
    if plain and len(plain) <= NAME_LIMIT:
        return plain
    cut = plain[: NAME_LIMIT - HASH_LENGTH - 1].strip("-") or without_letters
    return f"{cut}-{short_hash(text)}"


def keyed_task_name(title: str, *key: str) -> str:
    """The object name of a Task of that title: the same key, the same name."""
    return _keyed_name(title, "task", *key)


def _keyed_name(text: str, without_letters: str, *key: str) -> str:
    room = NAME_LIMIT - _KEY_LENGTH - 1
    words = _whole_words(slug(text), room) or without_letters
    return f"{words}-{short_hash(*key, length=_KEY_LENGTH)}"


def resolver(plan: str, number: int, place: int | None = None) -> str:
    """Name of the Task that resolves a conflict of a Plan, which is the Plan's so many'th there.
    `place`: as in plan_job."""
    room = NAME_LIMIT - len("-resolve-") - _KEY_LENGTH
    where = () if place is None else (str(place),)
    digest = short_hash(plan, "resolve", str(number), *where, length=_KEY_LENGTH)
    return f"{_whole_words(slug(plan), room) or 'plan'}-resolve-{digest}"


def task_of_node(
    plan: str, uid: str, node: str, run: int, taken: Container[str] = frozenset()
) -> str:
    """Name of the Task of a run of a workflow's node: `<plan>-<node>-i<run>`, cut and hashed where
    it is too long, and where one that is `taken` has it. No two Plans have the same ones."""
    end = f"-i{run}"
    plain = _of_plan(plan, node) + end
    is_plain = slug(plan) == plan and "--" not in node and len(plain) <= NAME_LIMIT
    if is_plain and plain not in taken:
        return plain
    digest = short_hash(plan, uid, node)
    room = NAME_LIMIT - len(end) - HASH_LENGTH - 1
    readable = _of_plan(_whole_words(slug(plan), _PLAN_SHARE), node)
    return f"{readable[:room].strip('-')}-{digest}{end}"


def answerer(plan: str, number: int, place: int | None = None) -> str:
    """Name of the Task of a Plan for what was said of its pull request, the so many'th time there.
    `place`: as in plan_job."""
    room = NAME_LIMIT - len("-answer-") - _KEY_LENGTH
    where = () if place is None else (str(place),)
    digest = short_hash(plan, "answer", str(number), *where, length=_KEY_LENGTH)
    return f"{_whole_words(slug(plan), room) or 'plan'}-answer-{digest}"


def subtask(parent: str, uid: str, split: int, number: int) -> str:
    """Name of the so many'th subtask of a Task that was split for the so many'th time."""
    room = NAME_LIMIT - len("-t20-") - _KEY_LENGTH
    digest = short_hash(parent, uid, "subtask", str(split), str(number), length=_KEY_LENGTH)
    return f"{_whole_words(slug(parent), room) or 'task'}-t{number}-{digest}"


def label_value(text: str) -> str:
    """`text` where it is a label value already; else its slug, cut and hashed where too long."""
    if len(text) <= LABEL_LIMIT and _LABEL_VALUE.match(text):
        return text
    plain = slug(text)
    if plain and len(plain) <= LABEL_LIMIT:
        return plain
    cut = plain[: LABEL_LIMIT - HASH_LENGTH - 1].strip("-")
    return f"{cut}-{short_hash(text)}".strip("-")


def task_names(plan: str, uid: str, steps: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """One Task name for each `(stage name, title)` of the Plan object `plan`, in the same order.

    The same Plan always gives the same names, and no two Plans the same ones: a double hyphen says
    where the name of a Plan of several words ends. A name depends on its own step alone, unless it
    clashes with another one of the same Plan. The steps must differ from each other.
    """
    names = [_plain_name(plan, uid, stage, title) for stage, title in steps]
    length = HASH_LENGTH
    while (clashing := _more_than_once(names)) and length <= _HEXADECIMALS:
        names = [
            _hashed_name(plan, uid, stage, title, length) if name in clashing else name
            for name, (stage, title) in zip(names, steps, strict=True)
        ]
        length += 2
    return tuple(names)


def _plain_name(plan: str, uid: str, stage: str, title: str) -> str:
    slugs = (slug(stage), slug(title))
    joined = _of_plan(plan, "-".join(slugs))
    if plan and slug(plan) == plan and all(slugs) and len(joined) <= NAME_LIMIT:
        return joined
    return _hashed_name(plan, uid, stage, title, HASH_LENGTH)


def _of_plan(plan: str, rest: str) -> str:
    """The slug of a Plan's name and the rest of a name, which has no double hyphen in it."""
    return f"{plan}{'--' if '-' in plan else '-'}{rest}"


def _hashed_name(plan: str, uid: str, stage: str, title: str, length: int) -> str:
    """What fits of the three slugs, and a hash of `length` hexadecimals that is this Plan's own."""
    suffix = short_hash(plan, uid, stage, title, length=min(length, NAME_LIMIT))
    room = NAME_LIMIT - len(suffix) - 1
    if room <= 0:
        return suffix
    first = _whole_words(slug(plan), _PLAN_SHARE)
    second = _whole_words(slug(stage), _STAGE_SHARE)
    rest = "-".join(part for part in (second, slug(title)) if part)
    readable = _of_plan(first, rest) if first else rest
    return "-".join(part for part in (readable[:room].strip("-"), suffix) if part)


def _whole_words(text: str, room: int) -> str:
    """The first words of a slug, as many as fit; a first word that is too long is cut."""
    if len(text) <= room:
        return text
    words, _, _ = text[: room + 1].rpartition("-")
    return words or text[:room]


def _more_than_once(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}
