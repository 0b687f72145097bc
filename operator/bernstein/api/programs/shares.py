"""Bytes that programs may leave where the kubelet's share is smaller than `TERMINATION_LIMIT`."""

from __future__ import annotations

COMPARISON = 2400
"""Those of `compare`: the kubelet gives every container of its pod the same part of 12 KiB, also to
a fifth one that somebody else puts into the pod."""
COMPARISON_WITH_SETUP = 1700
"""The same where a Project's setup runs in both trees: there are six, and a seventh."""
PROBE_SHARE = 608
"""Those of each container of a probe's pod, which may have 20."""
TERMINATION_BYTES = 12 * 1024
"""That all containers of a pod may leave together: each gets the same share."""
SHARE_VARIABLE = "BERNSTEIN_TERMINATION_SHARE"
"""Where a container of a probe finds how much that is, where they are more than 20."""
