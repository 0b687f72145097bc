from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from tests.cluster.control_plane.audit import BLOCK, Write, position, under_way, writes


def event(verb: str, name: str, stage: str = "ResponseComplete") -> str:
    return json.dumps(
        {
            "auditID": f"{verb}-{name}",
            "stage": stage,
            "stageTimestamp": "2025-01-01T00:00:01.250000Z",
            "verb": verb,
            "user": {"username": "operator"},
            "objectRef": {
                "resource": "tasks",
                "apiGroup": "bernstein.dev",
                "subresource": "status",
                "namespace": "demo",
                "name": name,
            },
            "responseStatus": {"code": 200},
            "requestObject": {"status": {}},
        }
    )


def test_writes_after_a_position_are_read_in_order(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text(event("patch", "a") + "\n")
    since = position(log)
    with log.open("a") as file:
        file.write(event("patch", "b") + "\n" + event("update", "c") + "\n")
    assert [write.name for write in writes(log)] == ["a", "b", "c"]
    assert [(write.verb, write.name) for write in writes(log, since)] == [
        ("patch", "b"),
        ("update", "c"),
    ]


def test_a_position_is_never_within_a_line(tmp_path: Path) -> None:
    log, line = tmp_path / "audit.jsonl", event("patch", "b") + "\n"
    log.write_text(event("patch", "a") + "\n" + line[:40])
    since = position(log)
    with log.open("a") as file:
        file.write(line[40:])
    assert [write.name for write in writes(log, since)] == ["b"]


def test_a_position_is_found_before_a_line_of_any_length(tmp_path: Path) -> None:
    log, line = tmp_path / "audit.jsonl", event("patch", "a") + "\n"
    log.write_text("")
    assert position(log) == 0
    for written in (0, 1, BLOCK - len(line), BLOCK - 1, BLOCK, 3 * BLOCK):
        log.write_text(line + "x" * written)
        assert position(log) == len(line)
    log.write_text("x" * 3 * BLOCK)
    assert position(log) == 0


def test_every_fact_of_a_write_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text(event("patch", "a") + "\n")
    assert list(writes(log)) == [
        Write(
            id="patch-a",
            verb="patch",
            group="bernstein.dev",
            resource="tasks",
            subresource="status",
            namespace="demo",
            name="a",
            user="operator",
            code=200,
            body={"status": {}},
            at=datetime(2025, 1, 1, 0, 0, 1, 250_000, tzinfo=UTC),
        )
    ]


def test_half_written_line_waits_for_its_end(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text(event("patch", "a") + "\n" + event("patch", "b")[:20])
    assert [write.name for write in writes(log)] == ["a"]


def test_what_came_and_has_not_finished_is_under_way(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    came = [event("patch", name, "RequestReceived") for name in ("a", "b", "c")]
    ended = [event("patch", "a"), event("patch", "c", "Panic")]
    log.write_text("\n".join([*came, *ended]) + "\n")
    assert [write.name for write in under_way(log)] == ["b"]
    assert [write.name for write in writes(log)] == ["a", "c"]
    assert list(under_way(log, position(log))) == []
