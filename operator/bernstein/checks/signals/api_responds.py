"""Signal `api_responds`: a service that the check starts answers on loopback as it should.

The launcher does it, which runs in images of any kind: it gives the command a port, asks until the
answer is as asked for, and ends the command with all that it has started.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from bernstein.checks.signal import SignalCommand, SignalKind
from bernstein.checks.spec import SIGNAL_TIMEOUT
from bernstein.places import LAUNCHER

if TYPE_CHECKING:
    from bernstein.api.signals import Signal

_STATUS = 200
_HOST = re.compile(r"http://[^/]+")


def _command(signal: Signal) -> str | None:
    if signal.url is None or signal.command is None:
        return None
    seconds = signal.timeout_seconds or SIGNAL_TIMEOUT
    ask = ["--ask", _HOST.sub("", signal.url), "--ask-status", str(signal.status or _STATUS)]
    if signal.contains is not None:
        ask += ["--ask-contains", signal.contains]
    return shlex.join(
        [LAUNCHER, *ask, "--ask-seconds", str(seconds), "--", "sh", "-c", signal.command]
    )


def _detail(signal: Signal) -> str:
    asked = [str(signal.status or _STATUS), *([repr(signal.contains)] if signal.contains else [])]
    return f"{signal.url} answers {' and '.join(asked)} from `{signal.command}`"


def _sentence(signal: Signal) -> str:
    text = f" and the text {signal.contains!r}" if signal.contains else ""
    return (
        f"`{signal.command}` starts a service that stays in the foreground, listens on loopback at "
        f"the port in the variable PORT, and answers GET {signal.url} with the status "
        f"{signal.status or _STATUS}{text}"
    )


SIGNAL = SignalKind(
    type="api_responds",
    needs=("url", "command"),
    takes=("status", "contains", "timeout_seconds"),
    detail=_detail,
    sentence=_sentence,
    runs=SignalCommand(_command, launched=True),
)
