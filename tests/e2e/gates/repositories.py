"""Small repositories in JavaScript and in Go, and gates that judge them by commands of the Project.

`tests` and `lint` are the same gates as in a repository in Python. Of each gate there is a change
that it rejects, and no other one; they touch different files, so that one work may hold them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Files = Mapping[str, str]


@dataclass(frozen=True)
class Repository:
    tools: tuple[str, ...]
    """Programs that its commands call."""
    commands: Mapping[str, str]
    """By gate; each prints what is wrong."""
    before: Files
    """What the branch holds; every gate passes it."""
    good: Files
    """A change that every gate passes."""
    bad: Mapping[str, Files]
    """By gate: a change that this one rejects."""
    told: Mapping[str, str]
    """By gate: what it prints of that change, among others."""


_LIMIT_JS = """\
"use strict";

exports.left = (budget, spent) => budget - spent;
"""
_LIMIT_TEST_JS = """\
"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { left } = require("./limit.js");

test("what is left of a budget", () => {
  assert.strictEqual(left(5, 2), 3);
});
"""
_WASTE_JS = """\
"use strict";

exports.wasted = (budgets) => budgets.filter((budget) => budget === 0).length;
"""
_WASTE_TEST_JS = """\
"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { wasted } = require("./waste.js");

test("budgets of which nothing is left", () => {
  assert.strictEqual(wasted([0, 3, 0]), 2);
});
"""

NODE = Repository(
    tools=("node",),
    commands={
        "tests": "node --test",
        # It takes one file, and no test need load it.
        "lint": "find . -name .git -prune -o -name '*.js' -print0 | xargs -0 -n 1 node --check",
    },
    before={
        "package.json": '{"name": "limit", "private": true}\n',
        "limit.js": _LIMIT_JS,
        "limit.test.js": _LIMIT_TEST_JS,
    },
    good={"waste.js": _WASTE_JS, "waste.test.js": _WASTE_TEST_JS},
    bad={
        "tests": {"limit.js": _LIMIT_JS.replace("-", "+")},
        "lint": {"broken.js": '"use strict";\n\nexports.half = (budget => budget / 2;\n'},
    },
    told={"tests": "what is left of a budget", "lint": "SyntaxError"},
)

_LIMIT_GO = """\
// Package limit tells what is left of budgets.
package limit

// Left is what remains of a budget.
func Left(budget, spent int) int {
	return budget - spent
}
"""
_LIMIT_TEST_GO = """\
package limit

import "testing"

func TestLeft(t *testing.T) {
	if left := Left(5, 2); left != 3 {
		t.Errorf("%d are left", left)
	}
}
"""
_WASTE_GO = """\
package limit

// Wasted is the number of budgets of which nothing is left.
func Wasted(budgets []int) int {
	count := 0
	for _, budget := range budgets {
		if budget == 0 {
			count++
		}
	}
	return count
}
"""
_WASTE_TEST_GO = """\
package limit

import "testing"

func TestWasted(t *testing.T) {
	if wasted := Wasted([]int{0, 3, 0}); wasted != 2 {
		t.Errorf("%d are wasted", wasted)
	}
}
"""
_SAME_GO = """\
package limit

// Same is the budget itself.
func Same(budget int) int {
	budget = budget
	return budget
}
"""

GO = Repository(
    tools=("go", "gofmt"),
    commands={
        "tests": "go test ./...",
        "lint": "go vet ./...",
        # By itself it only prints their names.
        "gofmt": 'other=$(gofmt -l .) && echo "$other" && test -z "$other"',
    },
    before={
        "go.mod": "module example.com/limit\n\ngo 1.19\n",
        "limit.go": _LIMIT_GO,
        "limit_test.go": _LIMIT_TEST_GO,
    },
    good={"waste.go": _WASTE_GO, "waste_test.go": _WASTE_TEST_GO},
    bad={
        "tests": {"limit.go": _LIMIT_GO.replace("-", "+")},
        "lint": {"same.go": _SAME_GO},
        "gofmt": {"ugly.go": "package limit\n\n// Two is 2.\nfunc  Two( ) int { return 2 }\n"},
    },
    told={"tests": "TestLeft", "lint": "self-assignment of budget", "gofmt": "ugly.go"},
)

REPOSITORIES: Mapping[str, Repository] = {"node": NODE, "go": GO}
