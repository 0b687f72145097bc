"""What each container of our pods should hold, by the Job: the credential, and where it is.

Of every pod that works for a Project with pull requests, several repositories, a cache, refs that
go, keys that sign and a setup. Nothing is in a variable or a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from bernstein.places import ATTESTATION_KEY, SIGNING_KEY

Expected = Mapping[str, frozenset[str]]


def _mounted(name: str, at: str) -> Expected:
    return {name: frozenset({at})}


NOTHING: Expected = {}
READ, WORK, DELIVER, FORGE = (
    _mounted(account, f"/secrets/{account}") for account in ("read", "work", "deliver", "forge")
)
CALLBACK = _mounted("token for bernstein.dev/callback", "/run/bernstein")
"""The image's /var/run is a link."""
ATTESTATION = _mounted("attestation", str(PurePosixPath(ATTESTATION_KEY).parent))
SIGNING = _mounted("signing", str(PurePosixPath(SIGNING_KEY).parent))

MODEL = _mounted("model", "/secrets/model-0")

PROBED = {"probe": READ, "probe-work": WORK, "probe-deliver": DELIVER}
TABLE: Mapping[str, Mapping[str, Expected]] = {
    "agent": {
        "checkout": READ,
        "setup": NOTHING,
        "pusher": WORK,
        "recorder": CALLBACK,
        "agent": NOTHING,
    },
    "check": {"checkout": READ, "setup": NOTHING, "check": NOTHING},
    "inspect": {"checkout": READ, "inspect": NOTHING},
    "format": {"checkout": READ, "formatter": NOTHING, "collect": NOTHING, "format": WORK},
    "begin": {"begin": WORK},
    "prepare": {"prepare": WORK},
    "land": {"land": {**DELIVER, **ATTESTATION}},
    "land a plan": {"land": {**DELIVER, **ATTESTATION, **SIGNING}},
    "land that looks": {"land": READ},
    "propose": {"propose": FORGE},
    "watch": {"watch": FORGE},
    "listen": {"listen": FORGE},
    "cache": {"cache": READ},
    "prune": {"prune": WORK},
    "probe": {
        **PROBED,
        **{f"{name}-1": held for name, held in PROBED.items()},
        "probe-attestation": NOTHING,
        "probe-signing": NOTHING,
    },
}
"""The containers that reach no server hold nothing, but for the recorder's token."""
SERVERLESS = frozenset(
    {
        *(("agent", name) for name in ("setup", "recorder", "agent")),
        *(("check", name) for name in ("setup", "check")),
        *(("format", name) for name in ("formatter", "collect")),
        ("inspect", "inspect"),
        *(("probe", name) for name in ("probe-attestation", "probe-signing")),
    }
)
"""Those that connect to no git server and no forge."""

ASKING: Mapping[str, Mapping[str, Expected]] = {
    "judge": {"checkout": READ, "judge": MODEL},
    "land": {"land": {**DELIVER, **ATTESTATION}},
    "land that looks": {"land": {**READ, **ATTESTATION}},
}
"""Where a model judges, and a Job that lands work has come to an end that tells nothing: the next
one may not push. All others that are there hold what they hold without that."""
