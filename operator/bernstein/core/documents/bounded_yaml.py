"""Safe YAML without duplicate keys, bounded in depth and in what its aliases stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a text may have at most."""

    bytes: int
    """Or characters, of a text that is decoded already."""
    levels: int
    """Of nodes in each other."""
    nodes: int
    """Counted with every alias written out: a file of a few lines can stand for billions."""


class NoYamlError(ValueError):
    """The text is no YAML that is read."""

    def __init__(self, problem: str, mark: yaml.Mark | None = None) -> None:
        self.place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        """Where; "": nobody knows."""
        super().__init__(problem + (f" ({self.place})" if self.place else ""))


class OutOfBoundsError(NoYamlError):
    """It is YAML with more in it than is read, or with the same key twice: in our words."""

    def __init__(self, problem: str, ours: str, mark: yaml.Mark | None = None) -> None:
        super().__init__(problem, mark)
        self.ours = ours
        """The problem without a word of the text."""


class _BoundsError(yaml.MarkedYAMLError):
    """Raised amid reading, where the library passes on its own errors alone."""

    def __init__(self, problem: str, mark: yaml.Mark, ours: str = "") -> None:
        super().__init__(problem=problem, problem_mark=mark)
        self.ours = ours or problem


def read(text: str | bytes, bounds: Bounds, data_of: Callable[[Loader], T]) -> T:
    """What `data_of` takes from the loader of this text. Raises NoYamlError."""
    if len(text) > bounds.bytes:
        problem = f"longer than {bounds.bytes // 1024} KiB"
        raise OutOfBoundsError(problem, problem)
    try:
        loader = Loader(text, bounds)
        try:
            return data_of(loader)
        finally:
            loader.dispose()
    except _BoundsError as error:
        raise OutOfBoundsError(error.problem or "", error.ours, error.problem_mark) from error
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise NoYamlError(problem or "invalid", error.problem_mark) from error
    except yaml.YAMLError as error:
        raise NoYamlError(" ".join(str(error).split())) from error
    except (ValueError, OverflowError) as error:
        # A number or a date that Python does not take.
        raise NoYamlError(str(error)) from error
    except (LookupError, AttributeError, TypeError) as error:
        # The library's own, of `!!int ""`, `!!bool x`, `!!timestamp x`.
        raise NoYamlError("a value that is not what its tag says") from error


class Loader(yaml.SafeLoader):
    """Makes data of plain types."""

    def __init__(self, stream: str | bytes, bounds: Bounds) -> None:
        super().__init__(stream)
        self._bounds = bounds
        self._depth = 0
        self._sizes: dict[Node, int] = {}

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        if self._depth > self._bounds.levels:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise _BoundsError(f"nested deeper than {self._bounds.levels}", mark)
        alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is None:
            return None
        if alias and node not in self._sizes:
            raise _BoundsError("an alias inside of what it stands for", node.start_mark)
        self._sizes.setdefault(node, 1 + sum(self._sizes[child] for child in _children(node)))
        if self._sizes[node] > self._bounds.nodes:
            raise _BoundsError(
                f"more than {self._bounds.nodes} values with all aliases written out",
                node.start_mark,
            )
        if isinstance(node, MappingNode) and not alias:
            _refuse_duplicates(node)
        return node


def _children(node: Node) -> list[Node]:
    if isinstance(node, SequenceNode):
        return list(node.value)
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return []


def _refuse_duplicates(node: MappingNode) -> None:
    keys: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            continue
        if (key.tag, key.value) in keys:
            problem = f"duplicate key '{key.value[:80]}'"
            raise _BoundsError(problem, key.start_mark, "the same key twice")
        keys.add((key.tag, key.value))
