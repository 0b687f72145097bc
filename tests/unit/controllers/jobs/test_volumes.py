"""Who shares what in the pods that are made: less than would be handy, and each volume once."""

from __future__ import annotations

import pytest

from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import JOBS, mounts

EVERY = pytest.mark.parametrize("name", JOBS)
AGENTS = pytest.mark.parametrize("name", ["agent", "agent-full"])

PROBES = ("probe", "probe-work", "probe-deliver")
COMPARE = {
    "workspace": {"checkout": "rw", "list-head": "rw", "check": "ro"},
    "before": {"checkout": "rw", "list-before": "rw", "check": "ro"},
    "base": {"checkout": "rw"},
    "list-before": {"list-before": "rw", "check": "ro"},
    "list-head": {"list-head": "rw", "check": "ro"},
    "home": {"list-before": "rw", "list-head": "rw"},
    "tmp": {"list-before": "rw", "list-head": "rw"},
    "compare": {"check": "rw"},
}
SETUP_BOTH = {
    "workspace": {"checkout": "rw", "setup": "rw", "list-head": "rw", "check": "ro"},
    "before": {"checkout": "rw", "setup-before": "rw", "list-before": "rw", "check": "ro"},
    "session": {"checkout": "rw", "setup-before": "ro", "setup": "ro"},
    "tools": {"checkout": "rw", "list-before": "ro", "list-head": "ro"},
    **dict.fromkeys(
        ("home", "tmp"),
        dict.fromkeys(("setup-before", "list-before", "setup", "list-head"), "rw"),
    ),
}
BETWEEN = {
    "agent": {
        "workspace": {"checkout": "rw", "recorder": "ro", "agent": "rw"},
        "stream": {"recorder": "ro", "agent": "rw"},
        "session": {"checkout": "rw", "recorder": "rw", "agent": "ro"},
        "base": {"checkout": "rw", "pusher": "rw", "recorder": "ro"},
        "recorder": {"recorder": "rw", "pusher": "ro"},
        "home": {"agent": "rw"},
        "tmp": {"agent": "rw"},
    },
    "agent-full": {
        "workspace": {"checkout": "rw", "setup": "rw", "recorder": "ro", "agent": "rw"},
        "stream": {"recorder": "ro", "agent": "rw"},
        "session": {"checkout": "rw", "setup": "ro", "recorder": "rw", "agent": "ro"},
        "base": {"checkout": "rw", "pusher": "rw", "recorder": "ro"},
        "recorder": {"recorder": "rw", "pusher": "ro"},
        "home": {"setup": "rw", "agent": "rw"},
        "tmp": {"setup": "rw", "agent": "rw"},
    },
    "setup": {
        "workspace": {"checkout": "rw", "setup": "rw", "check": "rw"},
        "session": {"checkout": "rw", "setup": "ro"},
        "base": {"checkout": "rw"},
        "home": {"setup": "rw", "check": "rw"},
        "tmp": {"setup": "rw", "check": "rw"},
    },
    "setup-both": COMPARE | SETUP_BOTH,
    "check": {
        "workspace": {"checkout": "rw", "check": "rw"},
        "base": {"checkout": "rw"},
        "home": {"check": "rw"},
        "tmp": {"check": "rw"},
    },
    "check-service": {
        "workspace": {"checkout": "rw", "check": "rw"},
        "session": {"checkout": "rw", "check": "ro"},
        "base": {"checkout": "rw"},
        "home": {"check": "rw"},
        "tmp": {"check": "rw"},
    },
    "plugin": {
        "workspace": {"checkout": "rw", "check": "rw"},
        "tools": {"checkout": "rw", "check": "ro"},
        "base": {"checkout": "rw"},
        "home": {"check": "rw"},
        "tmp": {"check": "rw"},
    },
    "written": {
        "workspace": {"checkout": "rw", "check": "rw"},
        "tools": {"checkout": "rw", "check": "ro"},
        "base": {"checkout": "rw"},
        "home": {"check": "rw"},
        "tmp": {"check": "rw"},
    },
    "compare": COMPARE,
    "both-known": {
        "workspace": {"checkout": "rw", "list-head": "rw", "check": "ro"},
        "before": {"checkout": "rw", "check": "ro"},
        "base": {"checkout": "rw"},
        "list-head": {"list-head": "rw", "check": "ro"},
        "home": {"list-head": "rw"},
        "tmp": {"list-head": "rw"},
        "compare": {"check": "rw"},
    },
    "tool": COMPARE | {"tools": {"checkout": "rw", "list-before": "ro", "list-head": "ro"}},
    "database": COMPARE | {"tools": {"checkout": "rw", "list-before": "ro", "list-head": "ro"}},
    "inspect": {"base": {"checkout": "rw", "inspect": "rw"}},
    "judge": {"base": {"checkout": "rw", "judge": "rw"}},
    "format": {
        "workspace": {"checkout": "rw", "formatter": "rw", "collect": "ro"},
        "changed": {"checkout": "rw", "formatter": "ro", "collect": "ro"},
        "printed": {"formatter": "rw", "collect": "ro"},
        "base": {"checkout": "rw", "collect": "ro", "format": "rw"},
        "collected": {"collect": "rw", "format": "ro"},
        "home": {"formatter": "rw"},
        "tmp": {"formatter": "rw"},
    },
    "begin": {"git": {"begin": "rw"}},
    "prepare": {"git": {"prepare": "rw"}},
    "land": {"git": {"land": "rw"}},
    "land-look": {"git": {"land": "rw"}},
    "land-seek": {"git": {"land": "rw"}},
    "land-branch": {"git": {"land": "rw"}},
    "propose": {"tmp": {"propose": "rw"}},
    "close": {"tmp": {"propose": "rw"}},
    "listen": {"tmp": {"listen": "rw"}},
    "watch": {"tmp": {"watch": "rw"}},
    "withdraw": {"tmp": {"propose": "rw"}},
    "prune": {"git": {"prune": "rw"}},
    "cache": {"git": {"cache": "rw"}},
    "probe": {name: {name: "rw"} for name in PROBES},
    "probe-full": {name: {name: "rw"} for name in (*PROBES, "probe-attestation", "probe-signing")},
}
"""Who sees which scratch volume, and who may write there."""

KINDS = {
    **dict.fromkeys(("base", "paths", "check-own-image"), "check"),
    **dict.fromkeys(("both", "both-again"), "compare"),
}
"""Of Jobs whose name is not that of their kind."""


@EVERY
def test_who_sees_and_writes_what_another_container_wrote(name: str) -> None:
    may: dict[str, dict[str, str]] = {}
    for container, mount, volume in mounts(name):
        if "emptyDir" in volume:
            mode = "ro" if mount.get("readOnly") else "rw"
            may.setdefault(mount["name"], {})[container["name"]] = mode

    plain = name.removesuffix("-full")
    kind = KINDS.get(plain, plain.removesuffix("-base"))
    kind = kind.removesuffix("-merge").removesuffix("-plan")
    assert may == (BETWEEN.get(name) or BETWEEN[kind])


@AGENTS
def test_the_parts_of_a_prompt_and_the_servers_ca_are_read_by_programs_of_ours(name: str) -> None:
    readers = {c["name"] for c, m, _ in mounts(name) if m["name"] == "parts"}

    assert readers == {"checkout", "recorder"}


@AGENTS
def test_who_holds_the_work_credential_writes_where_nobody_else_does(name: str) -> None:
    """But `checkout`, which has ended: nobody can change a repository under the pusher's hands."""
    (own,) = (
        m["name"] for c, m, _ in mounts(name) if (c["name"], m["mountPath"]) == ("pusher", "/tmp")
    )
    writers = {c["name"] for c, m, _ in mounts(name) if m["name"] == own and not m.get("readOnly")}

    assert writers == {"checkout", "pusher"}


@EVERY
def test_scratch_of_a_program_of_ours_is_never_that_of_other_peoples_code(name: str) -> None:
    """Of what the two share, all but trees and streams is read-only to the one or the other."""
    ours, theirs = (
        {m["name"] for c, m, _ in mounts(name) if m["mountPath"] == "/tmp" and mine(c)}
        for mine in (built.program, lambda container: built.program(container) is None)
    )

    assert not ours & theirs
    for container, mount, _ in mounts(name):
        if built.program(container) is None:
            assert mount["name"] not in ours
