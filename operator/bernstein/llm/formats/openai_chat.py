"""OpenAI's Chat Completions, and OpenRouter's, which differ in a few names."""

from __future__ import annotations

from functools import partial

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


def _path(_model: str) -> str:
    return "/chat/completions"


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def _body(limit: str, model: str, question: Question) -> Json:
    body: Json = {
        "model": model,
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.text},
        ],
        limit: question.max_tokens,
    }
    return with_temperature(body, question)


def _reply(body: Json) -> Reply:
    _look_for_error(body)
    choices = items(body.get("choices"))
    if not choices:
        raise UnreadableError("it has no choices")
    choice = mapping(choices[0])
    _look_for_error(choice)
    message = mapping(choice.get("message"))
    text, tokens = text_of(message.get("content")), _tokens(mapping(body.get("usage")))
    why = choice.get("finish_reason")
    if message.get("refusal") or why == "content_filter":
        return Reply(text, "refused", tokens)
    match why:
        case "stop":
            return Reply(text, "whole", tokens)
        case "length":
            return Reply(text, "cut", tokens)
    raise UnreadableError("its finish_reason is none of an answer")


def _look_for_error(part: Json) -> None:
    """Raises ReportedError: OpenRouter tells so of what fails once a model is at work."""
    error = part.get("error")
    if error is not None:
        code = mapping(error).get("code")
        raise ReportedError(code if type(code) is int and 400 <= code < 600 else 502, error)


def _tokens(usage: Json) -> Tokens:
    details = mapping(usage.get("prompt_tokens_details"))
    return Tokens(
        whole_input=usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        cache_read=details.get("cached_tokens"),
        cache_write=details.get("cache_write_tokens"),
    )


OPENAI = Format(_path, _headers, partial(_body, "max_completion_tokens"), _reply)
OPENROUTER = Format(_path, _headers, partial(_body, "max_tokens"), _reply)
