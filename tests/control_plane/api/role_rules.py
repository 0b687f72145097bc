"""Examples of the rules on AgentRoles."""

from __future__ import annotations

from tests.control_plane.api.registry_pairs import Pair
from tests.control_plane.objects import valid

_META = valid("AgentRole", "", "a" * 61 + "-1")["metadata"]
ROLES = {
    "metadata.name is the role's: at most 63 lower-case letters, digits and '-', a letter "
    "first": Pair(
        _META,
        tuple({**_META, "name": name} for name in ("a" * 64, "a.b", "1-role")),
    ),
    "only a built-in role has a text of its own: write a prompt": Pair(
        {"prompt": "You test."}, ({"model": "opus"},)
    ),
    "contains no {{TASK_DESCRIPTION}}: what a Task asks for would not be told": Pair(
        "{{TASK_DESCRIPTION}}", ("Do it.", "{{TASK_TITLE}}", "{{ TASK_DESCRIPTION }}")
    ),
}
