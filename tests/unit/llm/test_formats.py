"""Whatever stands in a body, reading it ends as it is declared."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.llm.failures import failure, refuses_temperature
from bernstein.llm.formats.format import ReportedError, UnreadableError
from bernstein.llm.providers import PROVIDERS, Provider
from bernstein.llm.usage import counted, most
from bernstein.web.secret import Secret
from tests.unit.llm.asked import KEY
from tests.unit.llm.test_recordings import recorded

BOUND = most(1000, 100)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything in a JSON value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in [*entries]:
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def spoilt(body: Any, data: st.DataObject) -> Any:
    """The body with something else in up to three places."""
    changed = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 3))):
        found = [*places(changed)]
        if found:
            holder, key = found[data.draw(st.integers(0, len(found) - 1))]
            holder[key] = data.draw(JUNK)
    return changed


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
@given(data=st.data())
def test_a_spoilt_answer_breaks_nothing(provider: Provider, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(recorded(provider.name, "answers")))
    body = spoilt(case["body"], data)
    with contextlib.suppress(UnreadableError, ReportedError):
        reply = provider.format.reply(body)
        said = reply.tokens
        used, _ = counted(BOUND, said.whole_input, said.output, said.cache_read, said.cache_write)
        assert isinstance(reply.text, str)
        assert used.input + used.cache_read + used.cache_write <= BOUND.input
        assert used.output <= BOUND.output


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
@given(data=st.data())
def test_a_spoilt_error_breaks_nothing(provider: Provider, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(recorded(provider.name, "errors")))
    error = spoilt(case["body"], data).get("error")
    found = failure(case["status"], error, {}, Secret(KEY), 0.0)

    assert found.message.startswith(f"the provider answered {case['status']}")
    assert len(found.message) < 100
    assert len(found.said) <= 300
    refuses_temperature(case["status"], error)
