"""Ids and times of spans, whatever an object is like."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.states import TASK_MOVES, TaskState
from bernstein.api.task import MOST_MOVES, Move, Task
from bernstein.core.traces.span import (
    MOST_CHARACTERS,
    SPAN_BYTES,
    TRACE_BYTES,
    span,
    span_id,
    trace_id,
)
from bernstein.core.traces.task import of_task
from tests.unit.core.objects import at, status, task


@st.composite
def lives(draw: st.DrawFn) -> Task:
    """A Task after some legal moves, whose times a clock that jumps has written."""
    state, history = TaskState.OPEN, []
    for _ in range(draw(st.integers(0, 40))):
        choice = TASK_MOVES[state]
        if not choice:
            break
        to = draw(st.sampled_from(choice))
        time = at(draw(st.integers(-100, 100)))
        history.append(Move(from_state=state, to_state=to, reason="R", attempt=0, time=time))
        state = to
    alone = draw(st.booleans())
    return task(plan=None if alone else "web", status=status(state, history=history[-30:]))


@given(lives())
def test_no_part_ends_before_it_begins_and_all_are_in_one_trace(found: Task) -> None:
    spans = of_task(found, at(0))

    assert all(each.start <= each.end for each in spans)
    assert len({each.trace_id for each in spans}) == 1
    assert {each.parent_id for each in spans} <= {
        *(each.span_id for each in spans),
        *(each.parent_id for each in spans if each.name == "task"),
    }


@given(lives())
def test_whoever_looks_later_finds_the_same_spans(found: Task) -> None:
    again = Task.model_validate(found.model_dump())

    assert of_task(again) == of_task(found)


@given(lives())
def test_a_part_that_has_ended_stays_as_it_is_while_the_task_goes_on(found: Task) -> None:
    history = found.status.history
    before = found.model_copy(
        update={"status": status(TaskState.OPEN, history=history[: len(history) // 2])}
    )
    later = {each.span_id: each for each in of_task(found)}

    stays = [each for each in of_task(before) if each.name != "task"]
    # Of a history that is full the first stay is not told again.
    for each in stays[len(history) == MOST_MOVES :]:
        assert later[each.span_id] == each


@given(st.text(), st.text())
def test_ids_have_their_length_and_are_never_zero(uid: str, what: str) -> None:
    assert len(trace_id(uid)) == TRACE_BYTES
    assert len(span_id(uid, what)) == SPAN_BYTES
    assert any(trace_id(uid))
    assert any(span_id(uid, what))
    assert span_id(uid, what) != span_id(uid)


@given(st.text(max_size=3000))
def test_names_and_attributes_are_one_bounded_line(text: str) -> None:
    made = span(
        trace=trace_id("a"),
        of=span_id("a"),
        parent=None,
        name=text,
        start=at(0),
        end=at(0) - timedelta(seconds=5),
        attributes={"key": text, "several": (text,), "none": None},
        error=text,
    )

    shown = [made.name, made.error or ""]
    for _, value in made.attributes:
        shown += value if isinstance(value, tuple) else [str(value)]
    assert all(len(each) <= MOST_CHARACTERS for each in shown)
    assert all("\n" not in each and "\x1b" not in each for each in shown)
    assert made.end == made.start
