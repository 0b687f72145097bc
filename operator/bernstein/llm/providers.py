"""Providers of models by the names that a configuration has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bernstein.llm.formats import anthropic_messages, gemini, openai_chat, openai_responses
from bernstein.llm.formats.format import Format


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    base_url: str
    """Where its API is, unless a configuration says otherwise."""
    format: Format
    key_variables: tuple[str, ...]
    """Variables of the environment in which people have their own key of it."""


PROVIDERS: Final = (
    Provider(
        "anthropic", "https://api.anthropic.com", anthropic_messages.FORMAT, ("ANTHROPIC_API_KEY",)
    ),
    Provider("openai", "https://api.openai.com/v1", openai_responses.FORMAT, ("OPENAI_API_KEY",)),
    Provider("openai-chat", "https://api.openai.com/v1", openai_chat.OPENAI, ("OPENAI_API_KEY",)),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        openai_chat.OPENROUTER,
        ("OPENROUTER_API_KEY",),
    ),
    Provider(
        "gemini",
        "https://generativelanguage.googleapis.com",
        gemini.FORMAT,
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
)
"""`openai-chat` is also what most other servers speak."""

BY_NAME: Final[Mapping[str, Provider]] = {provider.name: provider for provider in PROVIDERS}
