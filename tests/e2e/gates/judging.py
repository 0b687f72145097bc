"""What the scripted endpoint answers, by what it is asked about, and how a Project names it."""

from __future__ import annotations

import json

from tests.e2e.conftest import Object
from tests.e2e.gates.groups import attempt, written
from tests.unit.checks import examples


def model(name: str, provider: str, url: str) -> Object:
    return {
        "name": name,
        "provider": provider,
        "baseUrl": url,
        "key": {"name": "judge-key", "key": "api-key"},
        "ca": {"name": "models-ca", "key": "ca.crt"},
    }


def judges(verdict: str, confidence: float, feedback: str = "") -> str:
    return json.dumps({"verdict": verdict, "confidence": confidence, "feedback": feedback})


BETTER = "[better]"
"""In the second attempt's file: it counts before the criteria, as it comes first."""
ANSWERS: dict[str, Object] = {
    "[fine]": {"text": "PASS", "usage": {"input": 1_000, "output": 100}},
    "[no]": {"text": "FAIL\nnew.py: has no test"},
    "[chatty]": {"text": "The maintainer has approved it.\nPASS"},
    "[unsure]": {"text": judges("accept", 0.5, "new.py: is it called?")},
    BETTER: {"text": judges("accept", 0.9)},
    "[again]": {"text": judges("retry", 0.9, "again.py: X has no type")},
    "[down]": {"text": "PASS", "errors": [{"status": 500, "times": 4}]},
}
TOLD = {
    "intent_verification": "You say whether one change",
    "review_rubric": "You rate one change",
    "test_expansion": "You list the tests",
}
"""How each gate's text begins."""

EXAMPLES = {gate: examples.of_gate(gate) for gate in TOLD}
STORIES_OF_EXAMPLES = {
    "[accepted]": tuple(each.yes for each in EXAMPLES.values()),
    "[rejected]": tuple(each.no for each in EXAMPLES.values()),
}
"""Of these the work is that of the examples of all gates, and so is what the model says."""


def writes_examples(folder: str) -> Object:
    """What an agent does in the story that is called so, in a folder of that name."""
    trees = {
        gate: each.accept if folder == "accepted" else each.reject
        for gate, each in EXAMPLES.items()
    }
    files = {
        f"{folder}/{gate}/{path}": content
        for gate, tree in trees.items()
        for path, content in written(tree).items()
    }
    return attempt(files)


REVIEWER = "You review one change"
"""How the text of whoever reviews a change begins."""
COMMENTS = "reviewed.py: X has no type"


def reviews(verdict: str, comments: str = "") -> str:
    return json.dumps({"verdict": verdict, "comments": comments})


USED = {"input": 100, "output": 10, "cache_read": 40, "reasoning": 4}
"""Tokens of each review, as OpenAI counts them."""
MENDED = "[mended]"
REVIEWS = {
    MENDED: reviews("approve"),
    "[approved]": reviews("approve"),
    "[asked]": reviews("request_changes", COMMENTS),
    "[everybody]": reviews("approve"),
}
"""What the reviewer says, by a word of the step or the change; the first that is there counts."""

FORMATS = {
    "anthropic": ("claude-sonnet-4-5", "/anthropic", "/anthropic/v1/messages"),
    "openai": ("grok-4", "/openai/v1", "/openai/v1/responses"),
    "openai-chat": ("llama-3.3", "/chat/v1", "/chat/v1/chat/completions"),
    "openrouter": (
        "qwen/qwen3-coder",
        "/openrouter/api/v1",
        "/openrouter/api/v1/chat/completions",
    ),
    "gemini": (
        "gemini-2.5-pro",
        "/gemini",
        "/gemini/v1beta/models/gemini-2.5-pro:generateContent",
    ),
}
"""Of each provider: a model, the path of its address, and where the model is asked there."""


WRITES = "You write one integration test"
"""How the text of whoever writes a test begins."""


WRITTEN = examples.of_gate("integration_test_gen")
TESTED = {"[holds]": WRITTEN.accept, "[breaks]": WRITTEN.reject}
"""In each the model writes the same test, of what the agent has left there."""


def scenarios() -> list[Object]:
    """Of signals by their criteria; of gates and reviews by what the step says and what each is
    told."""
    of_signals = [{"name": m, "match": m, "turns": [turn]} for m, turn in ANSWERS.items()]
    of_gates = [
        {"name": f"{story} {gate}", "match": story, "told": told, "turns": [{"text": text}]}
        for story, texts in STORIES_OF_EXAMPLES.items()
        for (gate, told), text in zip(TOLD.items(), texts, strict=True)
    ]
    of_reviews = [
        {
            "name": f"review {word}",
            "match": word,
            "told": REVIEWER,
            "turns": [{"text": text, "usage": USED}],
        }
        for word, text in REVIEWS.items()
    ]
    of_tests = [
        {"name": f"test {word}", "match": word, "told": WRITES, "turns": [{"text": WRITTEN.yes}]}
        for word in TESTED
    ]
    return of_signals + of_gates + of_reviews + of_tests
