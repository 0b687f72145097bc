"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.llm.formats.format import (
    Format,
    Reply,
    ReportedError,
    Tokens,
    UnreadableError,
    with_temperature,
)
from bernstein.llm.question import Question
from bernstein.web.json_values import Json, items, mapping, text_of

_STATUS_OF = {"rate_limit_exceeded": 429, "server_error": 500}
"""The HTTP status that an error in a response would have had."""


def _path(_model: str) -> str:
    return "/responses"


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def _body(model: str, question: Question) -> Json:
    body: Json = {
        "model": model,
        "instructions": question.system,
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": question.text}],
            }
        ],
        "max_output_tokens": question.max_tokens,
        "store": False,
    }
    return with_temperature(body, question)


def _reply(body: Json) -> Reply:
    if body.get("object") != "response":
        raise UnreadableError("it is no response")
    if body.get("status") == "failed":
        error = mapping(body.get("error"))
        raise ReportedError(_STATUS_OF.get(text_of(error.get("code")), 400), error)
    parts = [*_parts(body)]
    text = "".join(text_of(part.get("text")) for part in parts if part.get("type") == "output_text")
    tokens = _tokens(mapping(body.get("usage")))
    why = mapping(body.get("incomplete_details")).get("reason")
    if any(part.get("type") == "refusal" for part in parts) or why == "content_filter":
        return Reply(text, "refused", tokens)
    match body.get("status"):
        case "completed":
            return Reply(text, "whole", tokens)
        case "incomplete":
            return Reply(text, "cut", tokens)
    raise UnreadableError("its status is none of an answer")


def _parts(body: Json) -> Iterator[Json]:
    """Of what the model says, without what it thinks."""
    for item in map(mapping, items(body.get("output"))):
        if item.get("type") == "message":
            yield from map(mapping, items(item.get("content")))


def _tokens(usage: Json) -> Tokens:
    return Tokens(
        whole_input=usage.get("input_tokens"),
        output=usage.get("output_tokens"),
        cache_read=mapping(usage.get("input_tokens_details")).get("cached_tokens"),
    )


FORMAT = Format(path=_path, headers=_headers, body=_body, reply=_reply)
