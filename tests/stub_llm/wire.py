"""The wire formats that the endpoint speaks: what a request says, and what an answer looks like.

Only OpenAI's Responses, which agents speak, have tools and streams. The others answer one question
with one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.stub_llm import responses
from tests.stub_llm.responses import Event, Json, Request
from tests.stub_llm.scenario import Failure, Turn


@dataclass(frozen=True, slots=True)
class Wire:
    path: re.Pattern[str]
    """With the group `prefix`."""
    read: Callable[[Json], Request]
    answer: Callable[[Request, Turn], tuple[Json, list[Event]]]
    """Raises UnknownToolError."""
    error: Callable[[Failure], Json]


def key(headers: Any) -> str:
    """The key of a request, wherever its format has it."""
    own = headers.get("x-api-key") or headers.get("x-goog-api-key")
    return str(own or headers.get("authorization", "").removeprefix("Bearer "))


def _messages(body: Json) -> Request:
    return _request(body, ((m.get("role"), m.get("content")) for m in body["messages"]))


def _contents(body: Json) -> Request:
    return _request(body, ((c.get("role"), c.get("parts")) for c in body["contents"]))


def _request(body: Json, said: Iterable[tuple[Any, Any]]) -> Request:
    messages: list[str] = []
    turns: list[int] = []
    for role, content in said:
        if role == "user":
            messages.append(_text(content))
            turns.append(0)
        elif role in ("assistant", "model"):
            turns = [count + 1 for count in turns]
    return Request({**body, "stream": False}, tuple(messages), tuple(turns), {})


def _text(content: Any) -> str:
    parts: Sequence[Any] = [{"text": content}] if isinstance(content, str) else content or ()
    return "\n".join(part.get("text") or "" for part in parts)


def _anthropic(request: Request, turn: Turn) -> tuple[Json, list[Event]]:
    usage = turn.usage
    return {
        "id": "msg_stub",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [{"type": "text", "text": turn.text or "done"}],
        "stop_reason": "max_tokens" if turn.cut else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cache_read,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": 0,
            "output_tokens": usage.output,
        },
    }, []


def _chat(request: Request, turn: Turn) -> tuple[Json, list[Event]]:
    usage, message = turn.usage, {"role": "assistant", "content": turn.text or "done"}
    why = "length" if turn.cut else "stop"
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "model": request.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": why}],
        "usage": {
            "prompt_tokens": usage.input,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read},
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
        },
    }, []


def _gemini(_request: Request, turn: Turn) -> tuple[Json, list[Event]]:
    usage, content = turn.usage, {"role": "model", "parts": [{"text": turn.text or "done"}]}
    why = "MAX_TOKENS" if turn.cut else "STOP"
    return {
        "candidates": [{"content": content, "finishReason": why, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        },
    }, []


def _anthropic_error(failure: Failure) -> Json:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = failure.code or kinds.get(failure.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": _said(failure)}}


def _gemini_error(failure: Failure) -> Json:
    words = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    status = failure.code or words.get(failure.status, "INTERNAL")
    return {"error": {"code": failure.status, "message": _said(failure), "status": status}}


def _said(failure: Failure) -> str:
    return failure.message or f"stub error {failure.status}"


WIRES = (
    Wire(
        re.compile(r"^(?P<prefix>.*?)(?:/v1)?/responses$"),
        responses.read,
        responses.answer,
        responses.error_body,
    ),
    Wire(re.compile(r"^(?P<prefix>.*?)/v1/messages$"), _messages, _anthropic, _anthropic_error),
    Wire(
        re.compile(r"^(?P<prefix>.*?)(?:/v1)?/chat/completions$"),
        _messages,
        _chat,
        responses.error_body,
    ),
    Wire(
        re.compile(r"^(?P<prefix>.*?)/v1beta/models/[^/]+:generateContent$"),
        _contents,
        _gemini,
        _gemini_error,
    ),
)


def spoken(path: str) -> tuple[Wire, str] | None:
    """The format that a path is of, and the prefix before it; None: of none."""
    for wire in WIRES:
        if found := wire.path.match(path):
            return wire, found["prefix"].strip("/")
    return None
