"""`bernstein verify-attestation`, also `bernstein attest verify`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bernstein.attestation import envelope
from bernstein.attestation.envelope import KeyInvalid, Refused
from bernstein.attestation.statement import FILE, Statement
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import attestations
from bernstein.cli.local.attestations import Commit, NoCommit
from bernstein.cli.local.git import GitFailed
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import names
from bernstein.core.approvals.answers import by_whom
from bernstein.core.sanitise import count, line
from bernstein.kube.resource import Object

if TYPE_CHECKING:
    from securesystemslib.signer import Key

MOST_LANDINGS = 10_000
"""That are looked at: more than a Plan has Tasks."""
REMEDIES = {
    "NoAttestation": "fetch it with `git fetch origin +{ref}:{ref}`, in a partial clone with "
    "`--refetch --no-filter` behind `fetch`; without one, nothing says that the commit was "
    "verified",
    "Unsigned": "name a key in attestation.key of the Project: it signs what lands from then on. "
    "What this one says nobody answers for: "
    f"`git show {{ref}}:{FILE} | jq '.payload | @base64d | fromjson'`",
    "WrongKey": "compare with the key that the Project had when the commit landed; if it is that "
    "one, somebody else has pushed to {ref}",
    "Tampered": "fetch it again with `git fetch origin +{ref}:{ref}`; if that does not help, "
    "somebody else has pushed to {ref}",
    "WrongResource": "take the one for that ref: what a Plan has delivered is attested for the "
    "branch, what its Tasks landed for its integration ref",
    "WrongLandings": "look at the commits between the two: one that no Task of the Plan has landed "
    "is proved by nothing that the Plan says",
    "WrongSubject": "believe nothing of it: somebody has pushed the attestation of another commit "
    "to {ref}",
}
"""What a person can do, by the reason why an attestation proves nothing."""


@dataclass(frozen=True)
class _Asked:
    sha: str
    key: str
    """A file."""
    repo: str
    resource: str | None
    landings: bool


@dataclass(frozen=True)
class _Proof:
    commit: Commit
    statement: Statement
    landings: tuple[Commit, ...]
    """What else was verified, because the statement names it."""


def verify_attestation(
    settings: CliSettings,
    sha: Annotated[
        str, typer.Argument(metavar="SHA", help="The commit; any name that git knows it by.")
    ],
    key: Annotated[
        str,
        typer.Option(
            "--key", metavar="FILE", help="Public key of the Project, as PEM.", show_default=False
        ),
    ],
    resource: Annotated[
        str | None,
        typer.Option(
            "--resource",
            metavar="URI",
            help="What it must have been verified for: git+, the url, @ and the ref.",
        ),
    ] = None,
    repo: Annotated[
        str, typer.Option("--repo", metavar="DIR", help="A clone that has the commit.")
    ] = ".",
    landings: Annotated[
        bool,
        typer.Option(
            "--landings",
            help="Of what a Plan delivered: verify what each of its Tasks landed, too.",
        ),
    ] = False,
) -> None:
    """Proves from a clone what was verified of a commit before it landed.

    It asks no server and no cluster. Ends with 0 only where the key has signed that exactly this
    commit, with this tree, was verified.
    """
    terminal = Terminal(settings)
    asked = _Asked(sha, key, repo, resource, landings)
    run_command(terminal, _verify(terminal, asked))


def _key(file: str) -> Key:
    try:
        return envelope.public_key(Path(file).read_bytes())
    except OSError as error:
        why = f"{file} cannot be read: {error.strerror}"
    except KeyInvalid as error:
        why = f"{file} is no key to compare with: {error}"
    remedy = "make it of the Project's key with `openssl pkey -in key.pem -pubout -out public.pem`"
    raise CliError("KeyInvalid", why, remedy, INVALID)


async def _verify(terminal: Terminal, asked: _Asked) -> None:
    key, repo = _key(asked.key), asked.repo
    commit = await _commit(repo, asked.sha)
    claim = await _proved(repo, commit, key, asked.resource)
    others = tuple(await _landings(repo, commit, claim)) if asked.landings else ()
    for other in others:
        await _proved(repo, other, key)
    proof = _Proof(commit, claim, others)
    if terminal.json:
        terminal.answer(_record(proof, key))
    else:
        _tell(terminal, proof)


async def _commit(repo: str, sha: str) -> Commit:
    try:
        return await attestations.commit(repo, sha)
    except NoCommit as problem:
        text = f"'{line(sha, 100)}' is no commit of {repo}: {problem}"
        raise CliError("CommitNotFound", text, "fetch the branch that it is on", INVALID) from None
    except GitFailed as problem:
        text = f"git cannot read {repo}: {line(str(problem), 300)}"
        raise CliError("NoRepository", text, "name a clone with --repo", INVALID) from None


async def _proved(repo: str, commit: Commit, key: Key, resource: str | None = None) -> Statement:
    """`resource`: what it must have been verified for; None: anything."""
    try:
        return await attestations.verified(repo, commit, key, resource)
    except Refused as problem:
        text = f"nothing is proved of {commit.sha}: {problem}"
        remedy = REMEDIES[problem.reason].format(ref=names.attestation_ref(commit.sha))
        raise CliError(problem.reason, text, remedy) from None


async def _landings(repo: str, commit: Commit, claim: Statement) -> list[Commit]:
    """What the Tasks of the Plan landed, without the commit itself."""
    ledger = claim.ours.get("landings") or {}
    base, tip = ledger.get("base"), ledger.get("tip")
    if not isinstance(base, str) or not isinstance(tip, str):
        raise CliError(
            "NoLandings",
            f"{commit.sha} was not delivered by a Plan: it names no landings",
            "leave out --landings",
            INVALID,
        )
    try:
        every = await attestations.landings(repo, base, tip, MOST_LANDINGS)
    except NoCommit as problem:
        text = f"what the Plan's Tasks landed, {base[:12]}..{tip[:12]}, is not there: {problem}"
        raise CliError("CommitNotFound", text, "fetch the whole branch", INVALID) from None
    if len(every) != ledger.get("count"):
        counted = line(str(ledger.get("count")), 20)
        text = f"its Plan counted {counted} landed, and {base[:12]}..{tip[:12]} is {len(every)}"
        raise CliError("WrongLandings", text, REMEDIES["WrongLandings"])
    return [each for each in every if each.sha != commit.sha]


def _record(proof: _Proof, key: Key) -> Object:
    return {
        "verified": True,
        "sha": proof.commit.sha,
        "tree": proof.commit.tree,
        "ref": names.attestation_ref(proof.commit.sha),
        "key_id": key.keyid,
        "predicate": dict(proof.statement.predicate),
        "landings": [each.sha for each in proof.landings],
    }


def _tell(terminal: Terminal, proof: _Proof) -> None:
    predicate, ours = proof.statement.predicate, proof.statement.ours
    terminal.say(f"✓ {proof.commit.sha} was verified, and its attestation is signed", "green")
    terminal.say(f"  tree       {proof.commit.tree}")
    terminal.say(f"  for        {predicate.get('resourceUri', '?')}")
    terminal.say(f"  time       {predicate.get('timeVerified', 'not noted')}")
    terminal.say(f"  by         {_by(ours)}")
    checks = [each for each in ours.get("checks") or () if isinstance(each, dict)]
    for check in checks:
        terminal.say(f"  {_row(check)}")
    if not checks:
        terminal.say("  no check was asked for", "yellow")
    if proof.landings:
        text = count(len(proof.landings), "other commit")
        verb = "was" if len(proof.landings) == 1 else "were"
        terminal.say(f"✓ so {verb} {text} that its Tasks landed", "green")


def _by(ours: Any) -> str:
    of = ours.get("project") or {}
    return f"{ours.get('kind')} {ours.get('namespace')}/{ours.get('name')}, {of.get('name')}"


def _row(check: Object) -> str:
    required = "" if check.get("required") else " (not required)"
    reason = f" ({check['reason']})" if check.get("reason") else ""
    by = _bypass(check.get("bypass"))
    return f"{check.get('verdict', '?')!s:<10} {check.get('name', '?')}{reason}{required}{by}"


def _bypass(who: Any) -> str:
    """Who has let the commit go on without it, and why."""
    if not isinstance(who, dict):
        return ""
    return by_whom(str(who.get("by", "")), str(who.get("reason", "")))
