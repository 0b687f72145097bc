"""What the largest AgentRole that the API takes costs the operator's loop at once."""

from __future__ import annotations

import pytest

from bernstein.api.roles import role as roles
from bernstein.api.roles.role import LONGEST_TEMPLATE
from bernstein.core.roles import judged, template
from bernstein.kube.patches import json_patch
from tests.perf.pace import allowed
from tests.perf.test_largest_objects import MOST_SECONDS, Longest
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object

VALUES = {"TASK_DESCRIPTION": "d" * 8192}


def filling(unit: str) -> str:
    """A template of nothing but this, as often as it has room, that names what a Task asks for."""
    needed = "{{TASK_DESCRIPTION}}"
    return needed + unit * ((LONGEST_TEMPLATE - len(needed)) // len(unit))


@pytest.mark.parametrize(
    ("unit", "is_valid"),
    [
        ("All that it says stands here.\n", True),
        ("{ }", True),
        ("{{ROLE}}", False),
        ("{{#IF GOAL}}x{{/IF}}", False),
        ("{{#IF GOAL}}", False),
        ("{{NOBODY}}", False),
        ("{", False),
    ],
)
def test_no_step_of_the_largest_role_takes_the_loop_200_ms(unit: str, is_valid: bool) -> None:
    longest, text = Longest(), filling(unit)
    obj: Object = {
        "metadata": objects.metadata("r" * 63, "uid-role"),
        "spec": {"description": "d" * 300, "prompt": text, "taskPrompt": text, "model": "m" * 300},
    }

    read = longest.of("parse", lambda: roles.parse(obj))
    found = longest.of("look at it", lambda: judged.status_of(read, NOW))
    longest.of("fill", lambda: template.filled(text, VALUES))
    longest.of("patch", lambda: json_patch({}, found.dump(), "/status"))

    assert (found.effective is not None) is is_valid
    shown = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in longest.steps.items())
    print(f"\n{shown}")
    assert max(longest.steps.values()) < allowed(MOST_SECONDS), shown
