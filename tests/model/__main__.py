"""Plays seeds, stories and shrunk scenarios, and prints what was found."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.model.scenario import RATES, generate
from tests.model.world import play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first of them")
    parser.add_argument("--rates", choices=[*RATES, "all"], default="all")
    asked = parser.parse_args()
    failed = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        rates = asked.rates if asked.rates != "all" else list(RATES)[seed % 3]
        begun = time.process_time()
        outcome = play(generate(seed, rates))
        took = time.process_time() - begun
        print(f"seed {seed} {rates}: {outcome.seconds:.0f} s in {took:.2f} s", flush=True)
        for violation in outcome.violations[:5]:
            print(f"  {violation}", flush=True)
        failed += bool(outcome.violations)
    print(f"{failed} of {asked.seeds} found something")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
