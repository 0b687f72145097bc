"""Gemini's generateContent."""

from __future__ import annotations

from urllib.parse import quote

from bernstein.llm.formats.format import Format, Reply, Tokens, UnreadableError, with_temperature
from bernstein.llm.question import Question
from bernstein.web.json_values import Json, items, mapping, text_of

_REFUSED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER"),
)


def _path(model: str) -> str:
    return f"/v1beta/models/{quote(model, '')}:generateContent"


def _headers(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key}


def _body(_model: str, question: Question) -> Json:
    generation: Json = {"maxOutputTokens": question.max_tokens}
    return {
        "systemInstruction": {"parts": [{"text": question.system}]},
        "contents": [{"role": "user", "parts": [{"text": question.text}]}],
        "generationConfig": with_temperature(generation, question),
    }


def _reply(body: Json) -> Reply:
    tokens = _tokens(mapping(body.get("usageMetadata")))
    if mapping(body.get("promptFeedback")).get("blockReason"):
        return Reply("", "refused", tokens)
    candidates = items(body.get("candidates"))
    if not candidates:
        raise UnreadableError("it has no candidates")
    candidate = mapping(candidates[0])
    parts = map(mapping, items(mapping(candidate.get("content")).get("parts")))
    text = "".join(text_of(part.get("text")) for part in parts if part.get("thought") is not True)
    match candidate.get("finishReason"):
        case "STOP":
            return Reply(text, "whole", tokens)
        case "MAX_TOKENS":
            return Reply(text, "cut", tokens)
        case reason if reason in _REFUSED:
            return Reply(text, "refused", tokens)
    raise UnreadableError("its finishReason is none of an answer")


def _tokens(usage: Json) -> Tokens:
    """What the model thinks is counted apart, and paid for as what it says."""
    said, thought = usage.get("candidatesTokenCount", 0), usage.get("thoughtsTokenCount", 0)
    known = usage and type(said) is int and type(thought) is int and min(said, thought) >= 0
    return Tokens(
        whole_input=usage.get("promptTokenCount"),
        output=said + thought if known else None,
        cache_read=usage.get("cachedContentTokenCount"),
    )


FORMAT = Format(path=_path, headers=_headers, body=_body, reply=_reply)
