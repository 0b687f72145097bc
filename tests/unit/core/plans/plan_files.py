"""Plans that several tests read."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_file

RATE_LIMIT = """\
name: rate-limit-api
description: Add Redis-backed rate limiting to the public API.
budget: "$5"
max_agents: 4
constraints:
  - All HTTP calls must declare an explicit timeout.
stages:
  - name: design
    description: Decide the algorithm and storage.
    steps:
      - title: "Pick rate-limit algorithm (token bucket vs sliding window)"
        role: architect
        complexity: medium
        scope: small
      - title: "Document Redis key schema"
        role: docs
        scope: small
  - name: implement
    description: Build the middleware + tests.
    depends_on: [design]
    steps:
      - title: "Add RateLimiter middleware"
        role: backend
        complexity: high
        scope: medium
        files:
          - src/api/middleware/rate_limiter.py
        completion_signals:
          - type: file_contains
            path: src/api/middleware/rate_limiter.py
            contains: "class RateLimiter"
      - title: "Wire middleware into FastAPI app"
        role: backend
        scope: small
        files:
          - src/api/app.py
      - title: "Write rate-limiter unit tests"
        role: qa
        scope: medium
        files:
          - tests/test_rate_limiter.py
        completion_signals:
          - type: test_passes
            command: pytest tests/test_rate_limiter.py -q
  - name: verify
    description: End-to-end check + docs update.
    depends_on: [implement]
    steps:
      - title: "Run full test suite"
        role: qa
        completion_signals:
          - type: test_passes
            command: pytest -q
      - title: "Update API reference"
        role: docs
        files:
          - docs/reference/openapi-reference.md
"""

S = "stages[0].steps[0]"
"""Where the only step of a plan stands."""
ROLE_LIST = (
    "[analyst, architect, backend, ci-fixer, data, devops, docs, frontend, "
    "manager, ml-engineer, prompt-engineer, qa, resolver, retrieval, reviewer, "
    "security, visionary, vp]"
)
STEP: dict[str, Any] = {"title": "Do it"}


def plan(**changes: Any) -> dict[str, Any]:
    return {"name": "p", "stages": [{"name": "a", "steps": [dict(STEP)]}]} | changes


def with_step(**fields: Any) -> dict[str, Any]:
    return plan(stages=[{"name": "a", "steps": [STEP | fields]}])


def stage(name: str, *, depends_on: object = None) -> dict[str, Any]:
    data: dict[str, Any] = {"name": name, "steps": [{"title": f"Work of {name}"}]}
    return data if depends_on is None else data | {"depends_on": depends_on}


def spec_of(data: dict[str, Any]) -> PlanSpec:
    return PlanSpec.model_validate(plan_file.plan_object(data)["spec"])


def errors(data: object) -> list[str]:
    return [problem.message for problem in validate_file(data).errors]


C = f"{S}.completion_signals[0]"
"""Where the only signal of `with_signal` stands."""


def with_signal(**fields: Any) -> dict[str, Any]:
    return with_step(completion_signals=[fields])
