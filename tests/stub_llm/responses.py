"""The OpenAI Responses API: what a request says, and the events of an answer."""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.stub_llm.scenario import Action, Failure, Run, Turn, Usage, Write

Json = dict[str, Any]
Event = tuple[str, Json]

_SHELL_TOOLS = ("exec_command", "shell_command", "shell")
_PIECE = 40


class UnknownToolError(Exception):
    """The request declares no tool that can do what the scenario wants."""


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request that choose the answer."""

    body: Json
    user_messages: tuple[str, ...]
    turns_after: tuple[int, ...]
    """For each user message the number of assistant turns that follow it."""
    tools: dict[str, Json]

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))


def read(body: Json) -> Request:
    messages: list[str] = []
    turns: list[int] = []
    tools = list(body.get("tools") or ())
    in_turn = False
    for item in body.get("input") or ():
        kind = item.get("type", "message")
        if kind == "additional_tools":
            tools += item.get("tools") or ()
        elif kind == "message" and item.get("role") == "user":
            messages.append(_text(item.get("content")))
            turns.append(0)
            in_turn = False
        elif kind.endswith("_output"):
            in_turn = False
        elif _of_assistant(item, kind) and not in_turn:
            in_turn = True
            turns = [count + 1 for count in turns]
    named = {tool["name"]: tool for tool in _flat(tools) if "name" in tool}
    return Request(body, tuple(messages), tuple(turns), named)


def call(action: Action, tools: dict[str, Json]) -> Json:
    """The output item that makes the CLI do `action` with one of its own tools."""
    if isinstance(action, Write):
        if tools.get("apply_patch", {}).get("type") == "custom":
            return _custom_call("apply_patch", _add_file(action))
        folder = shlex.quote(action.path.rpartition("/")[0] or ".")
        target = shlex.quote(action.path)
        script = f"mkdir -p {folder} && printf %s {shlex.quote(action.content)} > {target}"
        return call(Run(script), tools)
    for name in _SHELL_TOOLS:
        if name in tools:
            return _shell_call(name, tools[name], action.command)
    if tools.get("exec", {}).get("type") == "custom":  # freeform JavaScript with tools.* inside
        command = json.dumps(action.command)
        script = f"const r = await tools.exec_command({{cmd: {command}}});\ntext(r.output);"
        return _custom_call("exec", script)
    raise UnknownToolError(f"no shell tool among {sorted(tools)}")


def answer(request: Request, turn: Turn) -> tuple[Json, list[Event]]:
    """The whole response object, and the events that stream it."""
    items = [_message(turn.text)] if turn.text else []
    items += [call(action, request.tools) for action in turn.actions]
    response: Json = {
        "id": _identifier("resp"),
        "object": "response",
        "status": "incomplete" if turn.cut else "completed",
        "model": request.body.get("model"),
        "output": items or [_message("done")],
        "usage": _usage(turn.usage),
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if turn.cut else None,
    }
    return response, list(_number(_events(response)))


def failed(failure: Failure) -> Event:
    """The event that ends a stream with an error."""
    error = {"code": failure.code or "server_error", "message": failure.message or "stub error"}
    response = {"id": _identifier("resp"), "object": "response", "status": "failed", "error": error}
    return "response.failed", {"type": "response.failed", "response": response}


def error_body(failure: Failure) -> Json:
    kinds = {401: "invalid_request_error", 429: "rate_limit_error", 400: "invalid_request_error"}
    return {
        "error": {
            "message": failure.message or f"stub error {failure.status}",
            "type": kinds.get(failure.status, "server_error"),
            "param": None,
            "code": failure.code,
        }
    }


def _of_assistant(item: Json, kind: str) -> bool:
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


def _flat(tools: list[Json]) -> Iterator[Json]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _flat(tool.get("tools") or [])
        else:
            yield tool


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or ())


def _shell_call(name: str, tool: Json, command: str) -> Json:
    properties = (tool.get("parameters") or {}).get("properties") or {}
    key = "cmd" if "cmd" in properties else "command"
    as_list = (properties.get(key) or {}).get("type") == "array"
    arguments = {key: ["sh", "-c", command] if as_list else command}
    return {
        "type": "function_call",
        "id": _identifier("fc"),
        "call_id": _identifier("call"),
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def _custom_call(name: str, text: str) -> Json:
    return {
        "type": "custom_tool_call",
        "id": _identifier("ctc"),
        "call_id": _identifier("call"),
        "name": name,
        "input": text,
        "status": "completed",
    }


def _add_file(write: Write) -> str:
    lines = "".join(f"+{line}\n" for line in write.content.splitlines())
    return f"*** Begin Patch\n*** Add File: {write.path}\n{lines}*** End Patch\n"


def _message(text: str) -> Json:
    return {
        "type": "message",
        "id": _identifier("msg"),
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _events(response: Json) -> Iterator[Event]:
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": started}
    for index, item in enumerate(response["output"]):
        yield "response.output_item.added", {"output_index": index, "item": item}
        if item["type"] == "message":
            at = {"output_index": index, "item_id": item["id"], "content_index": 0}
            text = item["content"][0]["text"]
            for start in range(0, len(text), _PIECE):
                yield "response.output_text.delta", {**at, "delta": text[start : start + _PIECE]}
            yield "response.output_text.done", {**at, "text": text}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": response}


def _number(events: Iterator[Event]) -> Iterator[Event]:
    for number, (kind, data) in enumerate(events):
        yield kind, {"type": kind, "sequence_number": number, **data}


def _identifier(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:24]}"
