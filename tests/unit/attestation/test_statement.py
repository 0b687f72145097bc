"""in-toto Statements: made for one commit and its tree, and read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.attestation import statement
from bernstein.attestation.statement import EXTENSION

COMMIT, TREE = "a" * 40, "b" * 40
VERIFIER = {"id": "https://bernstein.dev/verifier/v1"}
PREDICATE = {"verifier": VERIFIER, "verificationResult": "PASSED", EXTENSION: {"checks": []}}


def made(**changes: Any) -> bytes:
    whole = json.loads(statement.made(PREDICATE, commit=COMMIT, tree=TREE))
    return json.dumps(whole | changes).encode()


def test_commit_and_tree_are_subjects_of_their_own() -> None:
    found = json.loads(statement.made(PREDICATE, commit=COMMIT, tree=TREE))

    assert found == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"gitCommit": COMMIT}}, {"digest": {"gitTree": TREE}}],
        "predicateType": "https://slsa.dev/verification_summary/v1",
        "predicate": PREDICATE,
    }


def test_what_was_made_is_read() -> None:
    found = statement.read(made())

    assert (*found.commits, *found.trees) == (COMMIT, TREE)
    assert found.ours == {"checks": []}


def test_the_order_of_fields_makes_no_other_statement() -> None:
    turned = dict(reversed(PREDICATE.items()))

    first, second = (statement.made(p, commit=COMMIT, tree=TREE) for p in (PREDICATE, turned))

    assert first == second


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        made(_type="https://in-toto.io/Statement/v0.1"),
        made(predicateType="https://slsa.dev/provenance/v1"),
        made(predicate=[]),
        made(predicate={**PREDICATE, "verificationResult": "FAILED"}),
        made(predicate={**PREDICATE, "verifier": {"id": "https://else.example/v1"}}),
        made(predicate={"verificationResult": "PASSED"}),
    ],
    ids=["empty", "list", "deep", "older", "another", "no object", "failed", "other", "nobody's"],
)
def test_what_is_no_statement_that_something_passed_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"^it"):
        statement.read(payload)


@pytest.mark.parametrize(
    "subject",
    [None, {}, [1], [{"digest": 1}], [{"digest": {"gitCommit": "HEAD", "gitTree": [TREE]}}]],
)
def test_a_subject_that_names_nothing_is_of_nothing(subject: Any) -> None:
    found = statement.read(made(subject=subject))

    assert not found.commits | found.trees
