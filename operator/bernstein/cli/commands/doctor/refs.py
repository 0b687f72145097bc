"""Refs of a Project's repository that belong to no Plan or Task any more.

The operator deletes what was written down of those that it knew, and never what it finds there:
that may be another cluster's, and paid for. The program looks with the git of whoever calls it, so
with that person's own access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from bernstein.api.project import Project
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, listed, unreadable
from bernstein.cli.local import git
from bernstein.cli.local.git import GitFailed
from bernstein.core import names
from bernstein.core.sanitise import count
from bernstein.kube.errors import Forbidden
from bernstein.resources import PLANS, TASKS

CHECK = "refs"
OURS = "refs/bernstein/"
_SHOWN = 20


async def look(cluster: Cluster, projects: Sequence[Project]) -> list[Finding]:
    """One finding for each repository."""
    try:
        uids, everywhere = await _uids(cluster)
    except Forbidden:
        what = f"Plans and Tasks in namespace '{cluster.namespace}'"
        return [unreadable(CHECK, what)]
    findings = []
    going = {
        row.ref
        for project in projects
        for each in project.status.refs
        for row in (*each.waiting, *each.batch)
    }
    """The operator deletes them when they are due."""
    for url in dict.fromkeys(
        each.work_url for project in projects for each in project.spec.repositories
    ):
        try:
            refs = await _refs(url)
        except GitFailed as problem:
            remedy = "call it where your git may read the repository, or with --no-refs"
            findings.append(
                Finding(
                    CHECK,
                    Outcome.UNKNOWN,
                    f"{url}: git cannot list its refs: {problem}",
                    remedy,
                    url,
                )
            )
            continue
        left = [ref for ref in strays(refs, uids) if ref not in going]
        findings.append(judge(url, left, everywhere=everywhere))
    return findings


def strays(refs: Iterable[str], uids: Collection[str]) -> tuple[str, ...]:
    """Those that are in no folder of a Plan or Task with one of these uids. Attestations of what
    has landed are none: they are to be kept."""
    known = {names.ATTESTATIONS, *(names.refs_of(uid) for uid in uids)}
    known |= {names.folder(names.old_integration_ref(uid)) for uid in uids}
    return tuple(sorted(ref for ref in refs if _folder(ref) not in known))


def judge(url: str, left: Sequence[str], *, everywhere: bool) -> Finding:
    """`everywhere`: Plans and Tasks of all namespaces are known."""
    if not left:
        text = f"{url}: every ref below {OURS} belongs to a Plan or a Task"
        return Finding(CHECK, Outcome.GOOD, text, subject=url)
    folders = Counter(map(_folder, left))
    where = "this cluster" if everywhere else "this namespace, and you may not list the others'"
    verb = "belongs" if len(left) == 1 else "belong"
    text = f"{url}: {count(len(left), 'ref')} {verb} to no Plan or Task of {where}"
    more = len(folders) - _SHOWN
    details = [f"{folder}/: {count(n, 'ref')}" for folder, n in folders.most_common(_SHOWN)]
    return Finding(
        CHECK,
        Outcome.WARNING if everywhere else Outcome.UNKNOWN,
        text,
        "fetch what you want to keep, then: git push REMOTE --delete REF. Another cluster may use "
        "this repository, too",
        url,
        (*details, f"… and {count(more, 'more folder')}") if more > 0 else tuple(details),
        tuple(left),
    )


def _folder(ref: str) -> str:
    """Its folder directly below ours."""
    return OURS + ref.removeprefix(OURS).partition("/")[0]


async def _uids(cluster: Cluster) -> tuple[set[str], bool]:
    """Of all Plans and Tasks that may be listed, and whether those are all. Raises Forbidden where
    not even those of the namespace may be."""
    uids: set[str] = set()
    everywhere = True
    for resource in (PLANS, TASKS):
        objects = await listed(cluster.client, resource)
        if objects is None:
            everywhere = False
            objects = (await cluster.client.list(resource, cluster.namespace)).items
        uids |= {obj["metadata"]["uid"] for obj in objects}
    return uids, everywhere


async def _refs(url: str) -> list[str]:
    """The refs below ours. Raises GitFailed."""
    out = await git.run("ls-remote", "--", url, f"{OURS}*")
    lines = out.decode(errors="replace").splitlines()
    return [ref for line in lines if (ref := line.partition("\t")[2]).startswith(OURS)]
