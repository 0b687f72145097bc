"""The first of many paths that a glob matches: for the signal `glob_exists`, and for gates that run
for some paths only.

The library turns a glob into regular expressions that may backtrack for minutes, so it runs in pods
only, and under a time limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bernstein.checks.time_limit import MATCH_SECONDS, time_limit


def first_match(pattern: str, paths: Iterable[str]) -> str | None:
    """The first path that matches. Raises TimeLimitError after MATCH_SECONDS."""
    from wcmatch import glob  # only where a glob is asked for: it takes a moment to load

    with time_limit(MATCH_SECONDS):
        included, _ = glob.translate(pattern, flags=glob.GLOBSTAR | glob.DOTGLOB)
        matches = [re.compile(each) for each in included]
        return next((path for path in paths if any(m.match(path) for m in matches)), None)
