"""The models that gates ask, and the review by models of other makers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from bernstein.api.vocabulary import ModelProvider
from bernstein.cli.local.gates.notes import BLOCK, Notes
from bernstein.core.plans.field_errors import did_you_mean, field_name, quoted, type_name

JUDGE_KEY = {"name": "judge-key", "key": "api-key"}
"""Secret of the models' keys, as `init` names it."""
_USUAL = "google/gemini-flash-1.5"
"""What is asked where nothing else is named."""
_PROVIDER = "openrouter"
_MOST = 8
_CROSS = f"{BLOCK}.cross_model"
_OF_CROSS = (
    *("enabled", "block_on_issues", "reviewer_model", "reviewers", "models", "provider"),
    *("max_diff_chars", "max_tokens", "quorum", "voting_config"),
)


class Models:
    """Collects those that the Project needs."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._found: dict[str, dict[str, Any]] = {}

    @property
    def all(self) -> tuple[dict[str, Any], ...]:
        return tuple(self._found.values())

    def of(self, named: tuple[str, str | None] | None) -> str | None:
        """The name of the model that is asked, once the Project has it; None: any that it has."""
        if named is None:
            if not self._found:
                text = f"a gate asks a model and names none: '{_USUAL}' is written"
                self._notes.add(BLOCK, text, "choose yours in spec.models of the Project")
                self._add(_USUAL, None)
            return None
        return self._add(*named)

    def _add(self, name: str, provider: str | None) -> str | None:
        if name in self._found:
            return name
        if len(self._found) == _MOST:
            text = f"a Project has at most {_MOST} models: '{name}' is left out"
            self._notes.add(BLOCK, text, "name fewer models")
            return None
        known = get_args(ModelProvider)
        if provider is not None and provider not in known:
            text = f"{quoted(provider)} is no provider{did_you_mean(provider, known)}"
            remedy = f"choose in spec.models of the Project among {', '.join(known)}"
            self._notes.add(BLOCK, f"model '{name}': {text}; '{_PROVIDER}' is written", remedy)
            provider = None
        chosen = provider or _PROVIDER
        self._found[name] = {"name": name, "provider": chosen, "key": dict(JUDGE_KEY)}
        return name

    def review(self, block: object) -> dict[str, Any]:
        """`cross_model` as the Project's `crossModel`; {}: nothing is reviewed."""
        if block is None:
            return {}
        if not isinstance(block, Mapping):
            enabled = self._notes.boolean(_CROSS, block)
            block = {} if enabled is None else {"enabled": enabled}
        reader = _Review(self._notes, block)
        found = reader.read()
        if not found.get("enabled"):
            if reader.reviewers:
                text = "it is off, so that its models are not taken over"
                self._notes.add(_CROSS, text, "name them in spec.models once it is to be on")
            return {name: value for name, value in found.items() if name != "quorum"}
        provider = block.get("provider")
        chosen = provider if isinstance(provider, str) else None
        named = [self._add(each, chosen) for each in reader.reviewers]
        reviewers = [name for name in named if name is not None]
        if not reviewers:
            self.of(None)
        return self._with_quorum(found, reviewers)

    def _with_quorum(self, found: dict[str, Any], reviewers: list[str]) -> dict[str, Any]:
        quorum = found.get("quorum", 1)
        if quorum > max(len(reviewers), 1):
            text = f"a quorum of {quorum} needs as many reviewers; there are {len(reviewers)}"
            self._notes.add(f"{_CROSS}.quorum", text, "name more in gates.crossModel.reviewers")
            del found["quorum"]
        return found | ({"reviewers": reviewers} if reviewers else {})


class _Review:
    """Reads the block of the review."""

    def __init__(self, notes: Notes, block: Mapping[Any, Any]) -> None:
        self._notes = notes
        self._block = block
        self.reviewers: list[str] = []

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in self._block.items():
            at = f"{_CROSS}.{field_name(key)}"
            match key:
                case "enabled":
                    _set(found, "enabled", self._notes.boolean(at, value))
                case "block_on_issues":
                    blocks = self._notes.boolean(at, value)
                    words = None if blocks is None else "Block" if blocks else "Report"
                    _set(found, "onIssues", words)
                case "max_diff_chars":
                    most = self._notes.integer(at, value, 1000, 60_000)
                    _set(found, "maxDiffCharacters", most)
                case "max_tokens":
                    _set(found, "maxTokens", self._notes.integer(at, value, 64, 2048))
                case "quorum":
                    _set(found, "quorum", self._notes.integer(at, value, 1, 8))
                case "reviewer_model" | "reviewers" | "models":
                    self._named(at, value)
                case "voting_config":
                    self._votes(at, value, found)
                case "provider":
                    pass  # goes with the models
                case _:
                    self._notes.unknown(_CROSS, key, _OF_CROSS)
        return found

    def _named(self, path: str, value: object) -> None:
        for each in value if isinstance(value, list) else [value]:
            name = None if each is None else self._notes.name(path, each)
            if name is not None and name not in self.reviewers:
                self.reviewers.append(name)

    def _votes(self, path: str, value: object, found: dict[str, Any]) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            text = f"expected a mapping, got {type_name(value)}"
            self._notes.add(path, text, "set gates.crossModel of the Project")
            return
        for key, each in value.items():
            if key in ("models", "reviewers"):
                self._named(f"{path}.{key}", each)
            elif key == "quorum":
                _set(found, "quorum", self._notes.integer(f"{path}.{key}", each, 1, 8))
            else:
                self._notes.unknown(path, key, ("models", "quorum"))


def _set(found: dict[str, Any], name: str, value: object) -> None:
    if value is not None:
        found[name] = value
