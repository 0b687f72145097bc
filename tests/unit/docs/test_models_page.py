"""The page about trying models: its script answers what our programs ask, in their own forms."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
import yaml

from bernstein.checks import gates, prompts, signals
from bernstein.checks.asks import Asks
from bernstein.checks.gate import Writes
from bernstein.checks.rules import cross_model
from bernstein.core.judging import asking, forms
from bernstein.core.judging.asking import Subject
from bernstein.core.sessions.prompt import prompt
from tests.demo import manifests
from tests.stub_llm import scenario
from tests.unit.core import objects
from tests.unit.docs.pages import ROOT, blocks, table

PAGE = ROOT / "docs/how-to/try-models-without-a-provider.md"
SCRIPT, SERVER, MODELS, TASK = [block.text for block in blocks("yaml") if block.page == PAGE]
DEPLOYMENT, SERVICE = yaml.safe_load_all(SERVER)
ROWS = list(table(PAGE, "3. What it answers"))


def asked(form: Asks, criteria: str) -> asking.Asked:
    subject = Subject("Write docs/hello.md, a page", "", criteria, ())
    return asking.ask(prompts.prompt(form.prompt), subject, lambda: "0123456789abcdef")


def of_signal(name: str) -> Asks:
    runs = signals.of(name).runs
    assert isinstance(runs, Asks)
    return runs


@pytest.mark.parametrize(
    ("signal", "word", "verdict", "reason"),
    [
        ("llm_review", "yes", "Passed", ""),
        ("llm_review", "no", "Failed", "CriteriaNotMet"),
        ("llm_judge", "unsure", "Skipped", "Unsure"),
        ("llm_review", "down", "Passed", ""),
    ],
)
def test_a_word_of_the_criteria_chooses_the_answer(
    signal: str, word: str, verdict: str, reason: str
) -> None:
    form = of_signal(signal)
    question = asked(form, f"[{word}] It says hello.")

    found, _ = scenario.parse(SCRIPT).choose([question.text], question.system + question.text)

    answer = forms.verdict(form.form, found.turn(0).text, is_cut=False)
    assert (answer.verdict, answer.reason) == (verdict, reason)


def test_an_agent_writes_what_its_task_asks_for_whatever_its_signals_say() -> None:
    task = objects.task(**yaml.safe_load(TASK)["spec"])
    told = "\n\n".join(prompt(task, 1).values())

    found, _ = scenario.parse(SCRIPT).choose([told], told)

    (written,) = found.turn(0).actions
    assert isinstance(written, scenario.Write)
    assert task.spec.completion_signals[0].path == written.path


def test_it_has_a_row_for_all_that_ask_and_an_answer_in_the_form_of_each() -> None:
    kinds: dict[str, object] = {
        f"signal `{name}`": signals.of(name).runs for name in signals.types()
    }
    kinds |= {f"gate `{gate.name}`": gate.runs for gate in gates.GATES}
    kinds |= {"reviewers of `gates.crossModel`": cross_model.ASKS}
    asks = {who: form for who, form in kinds.items() if isinstance(form, Asks)}
    writers = {who: form.asks for who, form in kinds.items() if isinstance(form, Writes)}

    assert {who for who, _, _ in ROWS} == {*asks}
    for who, told, answer in ROWS:
        form = asks[who]
        assert asked(form, "").system.startswith(told.strip("`"))
        found = forms.verdict(form.form, answer.strip("`"), is_cut=False, least=form.least)
        assert found.verdict in ("Passed", "Failed"), (who, found)
    for who, form in writers.items():
        begins = re.search(rf"The {who} is told `([^`]+)`", PAGE.read_text())
        assert begins is not None
        assert asked(form, "").system.startswith(begins[1])


def test_its_server_is_the_one_that_all_else_is_tried_with() -> None:
    ours, _ = (o for o in manifests.stub_llm("llm", SCRIPT) if o["kind"] != "ConfigMap")
    models, agents = DEPLOYMENT["spec"]["template"]["spec"]["containers"]
    (known,) = ours["spec"]["template"]["spec"]["containers"]

    for container in (models, agents):
        assert container["securityContext"] == known["securityContext"]
        assert container["resources"] == known["resources"]
    assert {k: v for k, v in agents.items() if k not in ("name", "image", "volumeMounts")} == {
        k: v
        for k, v in known.items()
        if k not in ("name", "image", "volumeMounts", "imagePullPolicy")
    }
    dockerfile = (ROOT / "images/stub-llm/Dockerfile").read_text()
    usual = ast.literal_eval(dockerfile.rpartition("CMD ")[2])
    assert [*models["command"][:5], *models["args"][:2]] == usual


def test_the_project_asks_where_the_server_listens() -> None:
    (patch,) = yaml.safe_load(MODELS)
    (model,) = patch["value"]
    where = SERVICE["metadata"]
    served = {port["name"]: port["port"] for port in SERVICE["spec"]["ports"]}
    host = f"{where['name']}.{where['namespace']}.svc"

    assert model["baseUrl"] == f"https://{host}:{served['models']}"
    assert f"`baseUrl: http://{host}:{served['agents']}/v1`" in PAGE.read_text()
    script: dict[str, Any] = yaml.safe_load(SCRIPT)
    assert f"--from-literal=api-key={script['require_key']}\n" in PAGE.read_text()
    assert f"DNS:{host}" in PAGE.read_text()
