"""What people read of a pull request, and what a forge must not find in it."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.projects.repository import Forge, Repository
from bernstein.api.task import Task
from bernstein.core.delivery import pull_request
from bernstein.core.delivery.pull_request import MOST_ROWS, PullRequestText, defused
from bernstein.core.sanitise import line
from tests.unit.core import objects
from tests.unit.core.delivery.plans import INTEGRATION, TASKS
from tests.unit.core.objects import BASE, NOW, TIP, plan_snapshot, sha

HOSTILE = "@all closes #1 ``` https://evil.example"
BEGUN = Integration(ref=INTEGRATION, target="refs/heads/main", target_sha=BASE, sha=sha(2))


def row(name: str, number: int, **more: Any) -> PlanTask:
    fields = {"name": name, "stage": "build", "step": number, "attempts": 2, "spend_usd": "0.125"}
    landed = {"number": number + 1, "sha": sha(number + 1)}
    return PlanTask.model_validate({**fields, "landed": landed, **more})


ROWS = (row("t1", 0), row("t2", 1), row("t3", 2, landed=None))
STEPS = [{"title": "Add a shop"}, {"title": "Sell"}, {"title": "Close it"}]


def told(
    tasks: tuple[Task, ...] = TASKS,
    steps: list[dict[str, Any]] = STEPS,
    name: str = "Open a shop",
    description: str | None = None,
    rows: tuple[PlanTask, ...] = ROWS,
    **status: Any,
) -> PullRequestText:
    fields: dict[str, Any] = {"tasks": rows, "spend_usd": "0.62", **status}
    found = PlanStatus(integration=BEGUN, **fields)
    stages = [{"name": "build", "steps": steps}]
    plan = objects.plan(status=found, description=description, stages=stages)
    plan = plan.model_copy(update={"spec": plan.spec.model_copy(update={"name": name})})
    return pull_request.of_plan(plan_snapshot(plan, *tasks), found, BEGUN)


def test_it_says_what_was_asked_what_was_verified_and_what_it_cost() -> None:
    text = told(description="So that people\ncan buy.")

    assert text.title == "Open a shop"
    assert (
        text.body
        == f"""\
Plan `team/web` of the project `default`: 2 of 3 steps, $0.62.

```text
So that people
can buy.
```

| Step | Attempts | Verdicts | Cost |
|---|---|---|---|
| `Add a shop` | 2 | 1 Passed | $0.12 |
| `Sell` | 2 | 1 Passed | $0.12 |

Step `Add a shop`:

Passed: `lint`.

Step `Sell`:

Passed: `lint`.

Verified: `{sha(2)}`, as its last step landed it.

What every check has said, and who has approved what:

```console
$ bernstein -n team logs plan/web
```
"""
    )


@pytest.mark.parametrize("attestation", ["Unsigned", "Signed"])
def test_how_the_commit_that_is_to_be_merged_proves_it_is_said_where_it_can(
    attestation: Any,
) -> None:
    """Of signed commits that is a copy of the one that was judged."""
    delivery = Delivery(state="Pending", sha=sha(7), verified_sha=sha(2), attestation=attestation)
    judged = objects.verification(passed=True, sha=sha(2), base=TIP)
    task = objects.task()
    status = task.status.model_copy(update={"verification": judged, "delivery": delivery})

    for body in (
        told(delivery=delivery).body,
        pull_request.of_task(objects.snapshot(task), status).body,
    ):
        proof = f"$ bernstein attest verify {sha(7)} --key PUBLIC_KEY"
        assert (proof in body) is (attestation == "Signed")
        assert ("attest" in body) is (attestation == "Signed")


def test_a_gate_that_somebody_let_it_go_on_without_is_named() -> None:
    who: dict[str, Any] = {
        "by": "ann",
        "reason": "wrong here",
        "approval": "a",
        "verdict": "Failed",
    }
    who |= {"time": NOW}
    bypassed = {"name": "tests", "kind": "gate", "verdict": "Bypassed", "reason": "", "bypass": who}
    checks = [objects.gate("lint"), bypassed | {"asked": "f" * 32}]
    judged = objects.verification(passed=True, checks=checks, base=TIP)

    assert f"Verified as a whole: `{judged.sha}`, 1 Bypassed, 1 Passed (`tests`)." in (
        told(verification=judged).body
    )


def test_each_step_tells_what_was_asked_and_which_checks_said_what() -> None:
    steps = [{"title": "Add a shop", "description": f"With a\ndoor. {HOSTILE}"}, *STEPS[1:]]
    body = told(steps=steps).body

    asked = body.partition("Step `Add a shop`:")[2].partition("Step `Sell`:")[0]
    assert "```text\nWith a\ndoor." in asked
    assert "Passed: `lint`." in asked
    assert "@" not in asked
    assert "```" not in asked.replace("```text", "", 1).replace("\n```\n", "", 1)


def test_checks_of_one_verdict_are_named_together_and_the_others_counted() -> None:
    signal = {"name": "signal-0", "kind": "signal", "title": "path `docs` | #1", "asked": "a"}
    gate = {"kind": "gate", "verdict": "Passed", "asked": "a"}
    gates = [gate | {"name": f"gate-{n}"} for n in range(25)]
    checks = [signal | {"verdict": "Failed"}, *gates]
    judged = objects.verification(passed=True, checks=checks, base=TIP)
    task = objects.task()
    status = task.status.model_copy(update={"verification": judged})

    for body in (
        told(verification=judged).body,
        pull_request.of_task(objects.snapshot(task), status).body,
    ):
        assert "Failed: `path 'docs' ¦ \uff031`; Passed: `gate-0`, `gate-1`," in body
        assert "`gate-18`; and 6 more." in body


def test_what_steps_were_asked_takes_no_more_room_than_there_is() -> None:
    steps = [{"title": f"Step {n}", "description": "word " * 1000} for n in range(40)]
    rows = tuple(row(f"t{n}", n) for n in range(40))

    body = told((), steps=steps, rows=rows).body

    assert len(body) < 20_000
    assert "What other steps were asked the Plan says." in body
    assert "| `Step 39` |" in body


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://git.example.com/acme/app/pulls/8", "<https://git.example.com/acme/app/pulls/8>"),
        ("https://git.example.com/a>[x](y)", "<https://git.example.com/a%3E%5Bx%5D%28y%29>"),
        ("http://git.example.com/acme/app/pulls/8", "pull request 8"),
        (f"https://git.example.com/{'a' * 400}", "pull request 8"),
        (None, None),
    ],
)
def test_the_other_repositories_of_a_plan_are_named(url: str | None, shown: str | None) -> None:
    pull = None
    if url is not None:
        fields = {"number": 8, "url": url, "state": "Open", "sha": sha(3)}
        pull = PullRequest.model_validate(fields)
    plan = objects.plan(status=PlanStatus(integration=BEGUN, tasks=ROWS))
    snapshot = replace(plan_snapshot(plan, *TASKS), beside=(("app", pull), ("docs", None)))

    body = pull_request.of_plan(snapshot, plan.status, BEGUN).body

    first = f"`app`: {shown}" if shown else "`app`"
    told = f"The same Plan works in other repositories, too: {first}, `docs`."
    assert told in body.splitlines()


PARTS = (
    row("t1", 0, landed=None, state="Closed"),
    row("t2", 1),
    row("t3", 2, landed=None),
    row("t1-t1-b", 3, stage="-", step=None, parent="t1"),
    row("t1-t1-a", 4, stage="-", step=None, parent="t1"),
    row("t1-t1-a-t1-c", 5, stage="-", step=None, parent="t1-t1-a"),
)
SPLIT: list[dict[str, Any]] = [
    {
        "title": "Add a shop",
        "description": "Doors and all.",
        "subtasks": [{"title": "Walls", "description": "Of stone."}, {"title": "Doors"}],
    },
    *STEPS[1:],
]


def of_part(name: str, title: str) -> Task:
    task = objects.task(name, title=title, description=f"What an agent says of {title}")
    judged = objects.verification(passed=True, checks=[objects.gate("lint")], base=TIP)
    return task.model_copy(
        update={"status": task.status.model_copy(update={"verification": judged})}
    )


def test_subtasks_are_told_with_the_step_whose_task_was_split_by_their_own_titles() -> None:
    parts = (of_part("t1-t1-b", "Walls"), of_part("t1-t1-a", "Doors"))

    body = told((*TASKS, *parts), SPLIT, rows=PARTS).body

    assert body.startswith(
        "Plan `team/web` of the project `default`: 2 of 3 steps, 3 subtasks, $0.62."
    )
    table = body.partition("|---|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [
        "| `Add a shop`: `Walls` | 2 | 1 Passed | $0.12 |",
        "| `Add a shop`: `Doors` | 2 | 1 Passed | $0.12 |",
        "| `Add a shop`: `t1-t1-a-t1-c` | 2 | not known any more | $0.12 |",
        "| `Sell` | 2 | 1 Passed | $0.12 |",
    ]
    assert "Step `Add a shop`: `Walls`:\n\n```text\nOf stone.\n```\n\nPassed: `lint`." in body
    assert "Step `Add a shop`: `Doors`:\n\nPassed: `lint`." in body
    assert "agent says" not in body


def test_a_step_of_which_only_subtasks_have_landed_is_not_done() -> None:
    rows = (row("t1", 0, landed=None, state="Blocked"), *PARTS[1:])

    assert ": 1 of 3 steps, 3 subtasks, " in told((), SPLIT, rows=rows).body


def test_of_a_step_whose_task_is_gone_its_row_is_told() -> None:
    assert "| `Add a shop` | 2 | not known any more | $0.12 |" in told(tasks=()).body


def test_so_many_steps_are_listed_and_the_others_counted() -> None:
    rows = tuple(row(f"t{number}", number) for number in range(MOST_ROWS + 7))

    body = told((), rows=rows).body

    assert body.count("not known any more") == MOST_ROWS
    assert "| and 7 more | | | |" in body


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Fixes #12", "Fixes \uff0312"),
        ("closes acme/shop#3 for @ann", "closes acme/shop\uff033 for \uff20ann"),
        ("resolves GH-7 and !8", "resolves GH\u20117 and \uff018"),
        ("closes https://github.com/acme/shop/issues/1", "closes github.com/acme/shop/issues/1"),
        ("C# and why!", "C# and why!"),
        ("\u00e9GH-7, \u00e9@ann and @@bob", "\u00e9GH\u20117, \u00e9\uff20ann and @\uff20bob"),
        ("[skip ci] [CI Skip] [no ci]", "\uff3bskip ci] \uff3bCI Skip] \uff3bno ci]"),
        ("[a][skip actions]", "[a]\uff3bskip actions]"),
        ("Signed-off-by: Ann <ann@a.b>", "Signed-off\u2011by: Ann <ann@a.b>"),
        ("[wip] stand-by", "[wip] stand-by"),
        ("Closes &1 of acme&12, R&D, a && b", "Closes \uff061 of acme\uff0612, R&D, a && b"),
        ("closes GL-1 and [work_item:2]", "closes GL\u20111 and \uff3bwork_item:2]"),
        ("ABC-12 #close done", "ABC\u201112 \uff03close done"),
        ("fixes shopABC-1, X_1-2, 1A-3", "fixes shopABC\u20111, X_1\u20112, 1A\u20113"),
        ("ABC-, A-b, 2030-01-02, 1_0-2, abc-1", "ABC-, A-b, 2030-01-02, 1_0-2, abc-1"),
        ("~bug %12 $5 ^alert", "~bug %12 $5 ^alert"),
        ("one\ntwo\x1b[31m", "one two"),
    ],
)
def test_words_link_close_and_mention_nothing_and_leave_out_no_ci(words: str, shown: str) -> None:
    assert defused(words, 200) == shown


PIECES = ("ABC", "abc", "Z9", "1", "_", "-", "#", "!", "&", "@", "[", "]", ":", "//", "http", " ")
MORE = ("GL", "GH", "skip", "ci", "work_item", "by", "\u00e9", "close", "\n", "`", "|")
WORDS = st.lists(st.sampled_from(PIECES + MORE), max_size=40).map("".join) | st.text(max_size=300)
"""Of what means something somewhere, and any."""
ACTS = re.compile(
    r"(?<![A-Za-z0-9_])@\w|#\w|!\w|&\d|(?i:(?<![a-z0-9_])G[HL]-\d)|\w://|(?i:\[skip|-by:|\[work_item:)"
    r"|[A-Z][A-Z0-9_]*-\d"
)
LOOKS_LIKE = str.maketrans("\uff03\uff01\uff3b\u2011\uff06\uff20", "#![-&@")


@given(WORDS)
def test_words_read_as_they_did_and_stay_so(words: str) -> None:
    shown = defused(words, 1000)

    assert not ACTS.search(shown)
    assert defused(shown, 1000) == shown
    if "//" not in words:
        assert shown.translate(LOOKS_LIKE) == line(words, 1000).translate(LOOKS_LIKE)


@pytest.mark.parametrize("piece", ["A", "A1_", "A-", "-1", "[a", "[a_", "&", "9A-", "A-1", "a:"])
def test_however_long_it_takes_no_longer_than_a_moment(piece: str) -> None:
    begun = time.process_time()

    defused(piece * 100_000, 100_000)

    assert time.process_time() - begun < 2


@given(WORDS, WORDS)
def test_whatever_a_plan_is_called_a_forge_finds_nothing_in_it(name: str, step: str) -> None:
    text = told(name=name or "x", steps=[{"title": step or "x"}] * 3, description=f"{step}\n{name}")

    words = f"{text.title}\n{text.body}"
    assert not ACTS.search(words)
    assert "\n" not in text.title
    table = text.body[text.body.rindex("| Step |") :]
    rows = [r for r in table.split("\n") if r.startswith("|")]
    assert [r.count("|") for r in rows] == [5] * len(rows)
    assert text.body.count("```") == (4 if "```text" in text.body else 2)


@pytest.mark.parametrize(
    ("forge", "url", "page"),
    [
        ("gitea", "https://forge.example/acme/shop.git", "https://forge.example/acme/shop/commit/"),
        ("github", "https://github.com/acme/shop", "https://github.com/acme/shop/commit/"),
        (
            "gitlab",
            "https://gitlab.example:8443/acme/team/shop.git/",
            "https://gitlab.example:8443/acme/team/shop/-/commit/",
        ),
        ("gitea", "https://[fd00::1]/git/a/b", "https://[fd00::1]/git/a/b/commit/"),
        (
            "gitea",
            "https://forge.example/a)](x/b%20c",
            "https://forge.example/a%29%5D%28x/b%20c/commit/",
        ),
    ],
)
def test_the_commit_is_linked_on_the_forge_of_the_project(forge: str, url: str, page: str) -> None:
    text = pull_request.linked(told(), repository(url, forge), sha(2))
    assert text.title == told().title
    assert text.body == (
        f"{told().body}\nWhat was verified, and is to be merged: [`{sha(2)}`]({page}{sha(2)})\n"
    )


@pytest.mark.parametrize(
    ("forge", "url"),
    [
        (None, "https://forge.example/acme/shop.git"),
        ("gitea", "ssh://git@forge.example/acme/shop.git"),
        ("gitea", "https://forge.example/acme/shop?x=1"),
        ("gitea", "https://forge.example/acme/shop#a"),
        ("gitea", "https://forge.example)](x/acme/shop"),
        ("gitea", "https:///acme/shop"),
    ],
)
def test_where_nobody_knows_its_page_it_is_not_linked(forge: str | None, url: str) -> None:
    assert pull_request.linked(told(), repository(url, forge), sha(2)) == told()


def repository(url: str, forge: str | None) -> Repository:
    (found,) = objects.project().spec.repositories
    if forge is not None:
        its = {"type": forge, "token": {"name": "forge", "key": "token"}}
        found = found.model_copy(update={"forge": Forge.model_validate(its)})
    return found.model_copy(update={"url": url})
