"""Program `probe_key`: tries whether the Project's key can sign what is said of landed commits.

Like a model key it is a variable here: the kubelet starts the container once the Secret is there.
"""

from __future__ import annotations

import os

from bernstein.api.programs.probe import KEY_VARIABLE, ProbeKeyConfig, ProbeResult
from bernstein.pods import log
from bernstein.pods.git import attestation

CONFIG = ProbeKeyConfig


def run(config: ProbeKeyConfig) -> ProbeResult:
    """Signs something that nobody gets. Raises PodError(AttestationKeyInvalid)."""
    attestation.sign(b"", os.environ.get(KEY_VARIABLE, "").encode(), config.called)
    log.event("probe-key", key=config.called)
    return ProbeResult()
