"""Attributes of what models did, called as in the semantic conventions for generative AI.

These are of version 1.41.0 of OpenTelemetry's semantic conventions, where they are in development.
No prompt and no answer is among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from bernstein.api.meta import UsageCounts
from bernstein.api.verification import ModelCalls
from bernstein.core.traces.span import Span, Value, span, span_id

SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
INVOKE_AGENT, CHAT = "invoke_agent", "chat"
OTHER = "_OTHER"

_PROVIDERS: Final[Mapping[str, str]] = {
    "claude": "anthropic",
    "anthropic/": "anthropic",
    "gemini": "gcp.gemini",
    "google/": "gcp.gemini",
    "gpt": "openai",
    "codex": "openai",
    "openai/": "openai",
    "deepseek": "deepseek",
    "grok": "x_ai",
    "mistral": "mistral_ai",
}
"""In names of models and adapters: the provider, in the word of the conventions."""


def asked(
    operation: str, model: str, usage: UsageCounts | None, adapter: str = ""
) -> dict[str, Value | None]:
    """What models were asked for, and the tokens of that.

    `model` is the provider's name of it; `usage` None: nobody knows the tokens.
    """
    told: dict[str, Value | None] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider(model) or provider(adapter) or OTHER,
        "gen_ai.request.model": model,
    }
    if usage is None:
        return told
    return told | {
        "gen_ai.usage.input_tokens": usage.input + usage.cache_read + usage.cache_write,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read or None,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write or None,
    }


def provider(name: str) -> str | None:
    """Whose model, or adapter, has this name, as far as the name tells."""
    lower = name.lower()
    return next((found for word, found in _PROVIDERS.items() if word in lower), None)


def calls(
    made: tuple[ModelCalls, ...] | None,
    *,
    trace: bytes,
    uid: str,
    since: datetime,
    common: Mapping[str, Value | None],
) -> list[Span]:
    """A span for all that one Job has asked one model.

    When it did, and in which round, no status tells; and it stays in the status while the same work
    is judged once more. So that it is the same span then, it is part of the object with this `uid`,
    and takes no time: it is at `since`, when the work could be judged at the earliest.
    """
    return [
        span(
            trace=trace,
            of=span_id(uid, CHAT, each.job, each.model),
            parent=span_id(uid),
            name=f"{CHAT} {each.model}",
            start=since,
            end=since,
            attributes={
                **common,
                **asked(CHAT, each.model, each.usage),
                "k8s.job.name": each.job,
                "bernstein.spend.usd": float(each.spend_usd),
            },
            kind="Client",
        )
        for each in made or ()
    ]
