"""The words that labels may have, where other texts could get there, too."""

from __future__ import annotations

from typing import get_args

from bernstein.api.pod import AGENT, CHECK, FORMAT, JUDGE, OUR_JOBS, PROBE, PRUNE
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge_jobs import FORGE_JOBS
from bernstein.api.reasons import Reason
from bernstein.api.vocabulary import ForgeType
from bernstein.api.waiting import WaitReason

REASONS = frozenset({*map(str, Reason), *map(str, WaitReason)})
"""Why something waits or stalls. A status can have any word: somebody may have written it."""
JOBS = frozenset({AGENT, CHECK, FORMAT, JUDGE, *OUR_JOBS, PROBE, PRUNE, CACHE, *FORGE_JOBS})
"""What Jobs are for."""
NO_FORGE = "none"
FORGES = frozenset({*get_args(ForgeType), NO_FORGE})
"""Of what is delivered by pull request; of all else there is none."""
