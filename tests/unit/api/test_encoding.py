"""Messages between our programs: the text is that of the fields, in whatever objects they are."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from bernstein.api.encoding import dump, fields_of, load
from bernstein.api.pod import Check, CheckVerdict, InspectResult, Remote

MESSAGES = [
    Remote("https://git.example.com/r", ca_file="/etc/ca"),
    Check(name="signal-0", type="file_contains", path="ä", contains='"', regex=True),
    InspectResult((CheckVerdict("a", "Passed"), CheckVerdict("b", "Failed", excerpt="x\ny"))),
    InspectResult(()),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_is_written_by_its_fields_in_a_fixed_order_and_read_again(message: Any) -> None:
    text = dump(message)
    copied = dataclasses.asdict(message)
    assert text == json.dumps(copied, separators=(",", ":"), sort_keys=True)
    assert load(type(message), text) == message


def test_fields_keep_their_order_and_their_values() -> None:
    found = InspectResult((CheckVerdict("a", "Passed"),))
    assert fields_of(found)["verdicts"] is found.verdicts
    assert list(fields_of(found.verdicts[0])) == ["name", "verdict", "reason", "excerpt"]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"text"])
def test_what_is_no_message_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dump(value)
