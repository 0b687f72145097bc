"""The page of the architecture: rooms, layers, the chain, outcomes and processes are the code's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest

from bernstein.api.pod import MINT, PROBE, PROGRAMS
from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitReason
from bernstein.core.delivery import way
from bernstein.core.scheduling import chain
from bernstein.core.scheduling.chain import CHAIN
from bernstein.core.verification import round as rounds
from tests.unit.controllers.jobs import built
from tests.unit.docs.code import words
from tests.unit.docs.pages import ROOT, section, table
from tests.unit.rooms import PACKAGE, children, contracts, layers

PAGE = ROOT / "docs/explanation/architecture.md"
TEXT = PAGE.read_text()
VERDICTS = "How a session's work becomes verdicts"
LANDING = "How a verified tree lands"
RUNS = "What runs where, and with which credential"


def first_cells(heading: str) -> list[str]:
    return [cells[0].strip("`") for cells in table(PAGE, heading)]


def drawings(text: str) -> list[str]:
    return re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


# --- rooms and layers -----------------------------------------------------------------------------


def test_every_room_of_the_package_has_its_row_and_no_other_has() -> None:
    assert sorted(first_cells("The package")) == sorted(children("bernstein"))


def test_every_room_of_the_core_has_its_row_and_no_other_has() -> None:
    rooms = [f"core/{name}" for name in children("bernstein.core")]

    assert sorted(first_cells("Rooms of the core")) == sorted(rooms)


def test_every_other_room_has_its_row_and_no_other_has() -> None:
    packages = (path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("*/*/__init__.py"))
    rooms = [room.as_posix() for room in packages if room.parts[0] != "core"]

    assert sorted(first_cells("Other rooms")) == sorted(rooms)


def test_every_room_has_a_word_about_it() -> None:
    for heading in ("The package", "Rooms of the core", "Other rooms"):
        assert [cells[0] for cells in table(PAGE, heading) if not cells[1]] == []


@pytest.mark.parametrize(("number", "package"), [(0, "bernstein"), (1, "bernstein.core")])
def test_the_layers_are_drawn_as_the_contracts_have_them(number: int, package: str) -> None:
    drawing = drawings(section(PAGE, "Layers"))[number]
    drawn = [set(line.split("│")[1].split()) for line in drawing.splitlines() if "│" in line]

    assert drawn == layers(package)


@pytest.mark.parametrize("room", first_cells("The package"))
def test_a_room_may_import_what_its_row_says(room: str) -> None:
    told = {cells[0].strip("`"): cells[2] for cells in table(PAGE, "The package")}[room]
    all_layers = layers("bernstein")
    (depth,) = (n for n, layer in enumerate(all_layers) if room in layer)
    below = set().union(*all_layers[depth + 1 :])

    allowed = below - _forbidden(room)

    if told == "nothing of ours":
        assert allowed == set()
    else:
        assert told.startswith("all below")
        assert below - set(re.findall(r"`(\w+)`", told)) == allowed


def _forbidden(room: str) -> set[str]:
    found = (c for c in contracts("forbidden") if f"bernstein.{room}" in c["source_modules"])
    return {name.removeprefix("bernstein.") for c in found for name in c["forbidden_modules"]}


def test_what_holds_beside_the_layers_is_listed_in_the_contracts_words() -> None:
    listed = re.findall(r"^- (.*)$", section(PAGE, "Layers"), re.MULTILINE)

    assert listed == [contract["name"] for contract in contracts("forbidden")]


# --- ways through ---------------------------------------------------------------------------------


def test_the_chain_is_the_codes() -> None:
    listed = first_cells("How a Task gets a session")

    assert listed == [link.__name__ for link in CHAIN]


def test_the_chain_is_drawn_at_the_head_of_its_module() -> None:
    drawing, *_ = re.findall(r"^    .*? ──▶", str(chain.__doc__), re.MULTILINE | re.DOTALL)

    assert re.findall(r"\w+", drawing) == [link.__name__ for link in CHAIN]


def test_the_reasons_to_wait_exist() -> None:
    pages = ("How a Task gets a session", "How a Project is scheduled")
    cells = [cells[2] for page in pages for cells in table(PAGE, page)]
    named = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}

    assert named <= {*Reason, *WaitReason}
    # A Task that is Done waits, too: for its turn to land; and a Plan for who merges.
    assert set(WaitReason) - named == {WaitReason.MERGE_QUEUE, WaitReason.PULL_REQUEST_OPEN}


@pytest.mark.parametrize(
    ("heading", "union"), [(VERDICTS, rounds.RoundState), (LANDING, way.LandingState)]
)
def test_the_outcomes_are_the_codes(heading: str, union: Any) -> None:
    assert first_cells(heading) == [get_origin(kind).__name__ for kind in get_args(union)]


def names() -> Iterator[str]:
    """Words that begin with a capital letter, in drawings, and elsewhere where they are quoted."""
    for drawing in drawings(TEXT):
        yield from re.findall(r"\b[A-Z][a-z]\w*", drawing)
    yield from re.findall(r"`([A-Z][a-z]\w*)`", TEXT)


def test_every_kind_state_outcome_and_action_that_is_named_exists() -> None:
    assert len(drawings(TEXT)) == TEXT.count("```text\n") > 0
    assert {name for name in names() if not {name, name.removesuffix("s")} & words()} == set()


def test_every_module_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)`", TEXT)

    assert named
    assert [path for path in named if not (PACKAGE / path).is_file()] == []


def test_what_is_said_to_be_in_a_module_is_there() -> None:
    found = re.findall(r"`(\w+)` in `([\w/]+\.py)`", TEXT)

    assert found
    for name, path in found:
        assert re.search(rf"^(def |class )?{name}\b", (PACKAGE / path).read_text(), re.MULTILINE)


# --- processes ------------------------------------------------------------------------------------

CREDENTIALS = {
    "secret-read": "read account",
    "secret-work": "work account",
    "secret-deliver": "deliver account",
    "secret-attestation": "attestation key",
    "secret-signing": "signing key",
    "model-key": "model key",
    "secret-model-0": "model key",
    "secret-forge": "forge token",
    "token": "callback token",
}
"""By the volume that brings it into a container."""


def held() -> dict[str, set[str]]:
    """Container, or program of ours in it -> credentials that it gets in any of our Jobs."""
    found: dict[str, set[str]] = {}
    for job in built.jobs().values():
        spec = job["spec"]["template"]["spec"]
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            volumes = {mount["name"] for mount in container.get("volumeMounts", ())}
            mine = {CREDENTIALS[name] for name in volumes & CREDENTIALS.keys()}
            if built.idles(container):
                mine.add("model key")
            program = built.program(container)
            called = program if program not in (None, PROBE) else container["name"]
            if built.idles(container):
                called = "key-0"
            found.setdefault(str(called), set()).update(mine)
    return found


def test_every_container_of_our_jobs_has_its_row_with_what_it_holds() -> None:
    told = {cells[0].strip("`"): cells[3] for cells in table(PAGE, RUNS)}

    own = {"operator", "certificates", "trial", "removal", "server", "bernstein"}
    assert set(told) == {*own, MINT, *held()}
    assert set(PROGRAMS) < set(told)
    assert {name: told[name] for name in held()} == {
        name: " and ".join(sorted(credentials)) or "none" for name, credentials in held().items()
    }
