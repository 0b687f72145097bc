"""What is told of a key: why it is not taken over as it stands, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bernstein.core.plans.field_errors import did_you_mean, field_name, quoted, type_name

BLOCK = "quality_gates"
_LONGEST_COMMAND = 4096
_LONGEST_NAME = 300


@dataclass(frozen=True)
class Note:
    path: str
    """The key, such as `quality_gates.pipeline[0].condition`."""
    message: str
    remedy: str

    def record(self) -> dict[str, str]:
        """For scripts."""
        return {"path": self.path, "message": self.message, "remedy": self.remedy}


class Notes:
    """Collects them; its methods read single values, and give None for what is told."""

    def __init__(self) -> None:
        self.all: list[Note] = []

    def add(self, path: str, message: str, remedy: str) -> None:
        self.all.append(Note(path, message, remedy))

    def unknown(self, path: str, key: object, known: Iterable[str]) -> None:
        """A key of which nothing is known here."""
        hint = did_you_mean(key, known)
        remedy = "correct it, and call `bernstein init` again" if hint else _SAY_IT_YOURSELF
        self.add(f"{path}.{field_name(key)}", f"it is not known here{hint}", remedy)

    def boolean(self, path: str, value: object) -> bool | None:
        if isinstance(value, bool):
            return value
        self._type(path, "true or false", value)
        return None

    def integer(self, path: str, value: object, least: int, most: int) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self._type(path, f"a whole number from {least} to {most}", value)
        return None

    def command(self, path: str, value: object) -> str | None:
        plain = isinstance(value, str) and value.strip() and "\0" not in value
        if isinstance(value, str) and plain and len(value) <= _LONGEST_COMMAND:
            return value
        self._type(path, f"a command of at most {_LONGEST_COMMAND} characters", value)
        return None

    def name(self, path: str, value: object) -> str | None:
        if isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST_NAME:
            return value
        self._type(path, "a name", value)
        return None

    def _type(self, path: str, expected: str, value: object) -> None:
        what = quoted(value) if isinstance(value, str | int | float) else type_name(value)
        self.add(path, f"expected {expected}, got {what}", "correct it in the Project")


_SAY_IT_YOURSELF = "where it matters, say it in the Project: `bernstein schema project` has all"
