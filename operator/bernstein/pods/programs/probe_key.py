"""Program `probe_key`: tries whether what the Project signs with can be a key that signs.

It has the public half alone: the private one is given to nobody but who lands. Like a model key it
is a variable here: the kubelet starts the container once the Secret is there.
"""

from __future__ import annotations

import os

from bernstein.api.programs.probe import KEY_VARIABLE, ProbeKeyConfig, ProbeResult
from bernstein.pods import log
from bernstein.pods.git import attestation, signing

CONFIG = ProbeKeyConfig


def run(config: ProbeKeyConfig) -> ProbeResult:
    """Reads it. Raises PodError: AttestationKeyInvalid, SigningKeyInvalid."""
    key = os.environ.get(KEY_VARIABLE, "").encode()
    if config.ssh:
        signing.public_key(key)
    else:
        attestation.public(key, config.called)
    log.event("probe-key", key=config.called)
    return ProbeResult()
