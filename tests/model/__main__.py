"""Plays seeds, stories and shrunk scenarios, and prints what was found.

python -m tests.model --seeds 200 --from 1 --rates rough
python -m tests.model --seed 17 --rates rough --shrink --save name-of-a-story
python -m tests.model --story name-of-a-story --without fences
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext

from tests.model.mutations import REPAIRS
from tests.model.scenario import RATES, Scenario, generate
from tests.model.shrink import shrink
from tests.model.stories import FOLDER, names, story
from tests.model.world import Outcome, play


def main() -> int:
    asked = _arguments()
    if asked.story:
        return _one(asked, story(asked.story))
    if asked.seed is not None:
        return _one(asked, generate(asked.seed, _rates(asked.rates, asked.seed)))
    return _many(asked)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.model",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seeds", type=int, default=20, help="how many")
    add("--from", dest="first", type=int, default=1, help="the first of them")
    add("--rates", choices=[*RATES, "all"], default="all", help="all: in turn")
    add("--jobs", type=int, default=2, help="how many at the same time")
    add("--seed", type=int, help="this one alone, with its events")
    add("--story", choices=names(), help="one that is kept")
    add("--without", choices=[*REPAIRS], help="take this repair out of the engine")
    add("--shrink", action="store_true", help="fewer events that find the same")
    add("--save", metavar="NAME", help="keep it as a story")
    return parser.parse_args()


def _rates(asked: str, seed: int) -> str:
    return asked if asked != "all" else list(RATES)[seed % len(RATES)]


def _without(repair: str | None, scenario: Scenario) -> Outcome:
    with REPAIRS[repair]() if repair else nullcontext():
        return play(scenario)


def _one(asked: argparse.Namespace, scenario: Scenario) -> int:
    outcome = _without(asked.without, scenario)
    if asked.shrink and outcome.what is not None:
        scenario = shrink(scenario, outcome.what, lambda s: _without(asked.without, s))
        outcome = _without(asked.without, scenario)
    for event in scenario.events:
        print(event)
    for violation in outcome.violations:
        print(f"  {violation}")
    if asked.save:
        scenario.save(FOLDER / f"{asked.save}.json")
    return 1 if outcome.violations else 0


def _many(asked: argparse.Namespace) -> int:
    begun, failed = time.monotonic(), []
    for seed, rates, outcome in _played(asked):
        if outcome.violations:
            failed.append(seed)
            print(f"seed {seed} {rates} finds:", flush=True)
            for violation in outcome.violations[:5]:
                print(f"  {violation}", flush=True)
        if seed % 100 == 0:
            print(f"up to seed {seed}: {time.monotonic() - begun:.0f} s", flush=True)
    took = time.monotonic() - begun
    last = asked.first + asked.seeds - 1
    print(f"seeds {asked.first} to {last}: {len(failed)} find something {failed}; {took:.0f} s")
    return 1 if failed else 0


def _played(asked: argparse.Namespace) -> Iterator[tuple[int, str, Outcome]]:
    seeds = range(asked.first, asked.first + asked.seeds)
    rates = [_rates(asked.rates, seed) for seed in seeds]
    repairs = [asked.without] * len(seeds)
    with ProcessPoolExecutor(asked.jobs) as pool:
        outcomes = pool.map(_seed, seeds, rates, repairs, chunksize=5)
        yield from zip(seeds, rates, outcomes, strict=True)


def _seed(seed: int, rates: str, repair: str | None) -> Outcome:
    return _without(repair, generate(seed, rates))


if __name__ == "__main__":
    sys.exit(main())
