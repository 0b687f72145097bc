"""Logs that are kept are packed beside the loop, which has other things to do."""

from __future__ import annotations

import asyncio
import time

import pytest

from bernstein.controllers.logs import kept
from bernstein.core.logs.packed import PackedLog


async def test_of_many_logs_one_is_packed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now, most = 0, 0

    def pack(text: bytes, limit: int) -> PackedLog:
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.01)  # lets go of the interpreter, as a search does between two pieces
        now -= 1
        return PackedLog(text[:limit], cut=False)

    monkeypatch.setattr(kept, "pack", pack)

    found = await asyncio.gather(*(kept.packed(b"%d" % number, 1) for number in range(8)))

    assert [each.packed for each in found if each is not None] == [b"%d" % n for n in range(8)]
    assert most == 1
