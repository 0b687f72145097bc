"""Anthropic's Messages."""

from __future__ import annotations

from typing import Any

from bernstein.llm.formats.format import Format, Reply, Tokens, UnreadableError, with_temperature
from bernstein.llm.question import Question
from bernstein.web.json_values import Json, items, mapping, text_of

_VERSION = "2023-06-01"
_WHOLE = ("end_turn", "stop_sequence")
_CUT = ("max_tokens", "model_context_window_exceeded")


def _path(_model: str) -> str:
    return "/v1/messages"


def _headers(key: str) -> dict[str, str]:
    return {"x-api-key": key, "anthropic-version": _VERSION}


def _body(model: str, question: Question) -> Json:
    body: Json = {
        "model": model,
        "max_tokens": question.max_tokens,
        "system": question.system,
        "messages": [{"role": "user", "content": question.text}],
    }
    return with_temperature(body, question)


def _reply(body: Json) -> Reply:
    if body.get("type") != "message":
        raise UnreadableError("it is no message")
    blocks = [mapping(block) for block in items(body.get("content"))]
    text = "".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")
    tokens = _tokens(mapping(body.get("usage")))
    match body.get("stop_reason"):
        case "refusal":
            return Reply(text, "refused", tokens)
        case reason if reason in _CUT:
            return Reply(text, "cut", tokens)
        case reason if reason in _WHOLE:
            return Reply(text, "whole", tokens)
    raise UnreadableError("its stop_reason is none of an answer")


def _tokens(usage: Json) -> Tokens:
    """Its `input_tokens` are those beside the cache."""
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return Tokens(
        whole_input=_sum(usage.get("input_tokens"), read or 0, written or 0),
        output=usage.get("output_tokens"),
        cache_read=read,
        cache_write=written,
    )


def _sum(*counts: Any) -> int | None:
    return sum(counts) if all(type(count) is int and count >= 0 for count in counts) else None


FORMAT = Format(path=_path, headers=_headers, body=_body, reply=_reply)
