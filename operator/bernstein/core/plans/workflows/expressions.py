"""Conditions: expressions of how a node ended, in Python's syntax and with JSON's values.

Their text is of people, what they look at is of agents: both are bounded, and neither can do
anything but decide between yes and no. A condition that was read never fails.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

from bernstein.api.plans.workflow import LONGEST_EXPRESSION
from bernstein.core.documents.values import Json
from bernstein.core.plans.field_errors import did_you_mean
from bernstein.core.plans.workflows import spelling


@dataclass(frozen=True)
class Values:
    """How a node ended."""

    status: str
    """One of STATUSES."""
    result: str | None = None
    """The text of its final record."""
    output: Json = None

    @cached_property
    def own_output(self) -> _Value:
        """The output with booleans that are no numbers: made once for all that look at it."""
        return _of_json(self.output)


class _Truth(Enum):
    """Booleans: Python's are numbers, and these are not."""

    FALSE = False
    TRUE = True

    def __bool__(self) -> bool:
        return self is _Truth.TRUE


_Value: TypeAlias = "_Truth | int | float | str | list[_Value] | dict[str, _Value] | None"
_Names: TypeAlias = Mapping[str, _Value]
_Evaluate: TypeAlias = Callable[[_Names], _Value]
_Compare: TypeAlias = Callable[[_Value, _Value], bool]

STATUSES = ("done", "failed", "cancelled", "skipped")
"""How a node ends."""
_WORDS_OF_AGENTS = ("result", "output")
_VALUES = ("status", *_WORDS_OF_AGENTS)
_CONSTANTS: _Names = {"true": _Truth.TRUE, "false": _Truth.FALSE, "null": None}
_KNOWN = (*_VALUES, *_CONSTANTS)
_NOT_KNOWN = "it has what conditions do not have"
_WHY_NOT: Mapping[type[ast.expr], str] = {
    ast.Call: "calls are not possible",
    ast.BinOp: spelling.NO_ARITHMETIC,
    ast.UnaryOp: spelling.NO_ARITHMETIC,
}
_JSON = json.JSONEncoder(ensure_ascii=False, default=bool)
_LONGEST_SHOWN = 100
_LONGEST_VALUE = 60
"""Characters of one value, where several are shown."""


@dataclass(frozen=True)
class Expression:
    """A condition that was read."""

    text: str
    reads: frozenset[str]
    """Which of status, result and output it asks for."""
    takes_word: bool
    """Whether it may hold by what an agent has said alone, whatever the status is."""
    _evaluate: _Evaluate = field(repr=False, compare=False)
    _asked: tuple[tuple[str, _Evaluate], ...] = field(repr=False, compare=False)
    """What it asks for, as it is written."""

    def holds(self, values: Values) -> bool:
        """Null, false, 0 and whatever is empty do not hold. In linear time, and never an error."""
        return bool(self._evaluate(self._names(values)))

    def shown(self, values: Values) -> str:
        """What it asks for and finds, in one line of at most 100 characters."""
        names = self._names(values)
        every = (f"{text} = {_words(find(names))}" for text, find in self._asked)
        return _cut(", ".join(every) or f"status = {_words(values.status)}", _LONGEST_SHOWN)

    def _names(self, values: Values) -> _Names:
        output = values.own_output if "output" in self.reads else None
        return {"status": values.status, "result": values.result, "output": output, **_CONSTANTS}


def parsed(text: str) -> Expression | str:
    """The condition, or what is wrong with it, in words that say where."""
    if len(text) > LONGEST_EXPRESSION:
        return f"it has {len(text)} characters, at most {LONGEST_EXPRESSION} are possible"
    return _parsed(text)


class _RefusedError(ValueError):
    """Says what is wrong, and in which column, counted from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Expression | str:
    source = text.strip()
    if not source:
        return "it is empty"
    try:
        return _read(source)
    except _RefusedError as refusal:
        column = refusal.at + 1 + len(text) - len(text.lstrip())
        return f"{refusal} (column {column})"


def _read(source: str) -> Expression:
    problem = spelling.problem(source)
    if problem is not None:
        raise _RefusedError(*problem)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        at = min(error.offset or len(source), len(source)) - 1  # 0: the end came too early
        raise _RefusedError("it is not complete, or has something in the wrong place", at) from None
    except (RecursionError, MemoryError):
        raise _RefusedError(spelling.too_deep(), 0) from None
    reader = _Reader(source)
    evaluate = reader.read(tree, 1)
    names, asked = frozenset(reader.names), tuple(reader.asked.items())
    return Expression(source, names, _takes_word(tree), evaluate, asked)


class _Reader:
    """Turns a tree into functions; what is not on its list is refused."""

    def __init__(self, source: str) -> None:
        self.names: set[str] = set()
        self.asked: dict[str, _Evaluate] = {}
        self._source = source.encode()

    def read(self, node: ast.expr, depth: int) -> _Evaluate:
        if depth > spelling.MOST_DEPTH:
            raise self._refused(spelling.too_deep(), node)
        match node:
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return self._constant(node)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._asking(node, depth)
            case ast.Compare():
                return self._comparison(node, depth)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                each = [self.read(item, depth + 1) for item in items]
                return lambda names: [evaluate(names) for evaluate in each]
            case ast.BoolOp(op=op, values=items):
                joined = [self.read(item, depth + 1) for item in items]
                return _any_of(joined) if isinstance(op, ast.Or) else _all_of(joined)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                negated = self.read(operand, depth + 1)
                return lambda names: _truth(not negated(names))
        raise self._refused(_WHY_NOT.get(type(node), _NOT_KNOWN), node)

    def _constant(self, node: ast.Constant | ast.UnaryOp) -> _Evaluate:
        negative = isinstance(node, ast.UnaryOp)
        constant = node.operand if isinstance(node, ast.UnaryOp) else node
        given: object = constant.value if isinstance(constant, ast.Constant) else None
        value: _Value
        match given:
            case bool() if not negative:
                value = _truth(given)
            case int() | float() if not isinstance(given, bool) and math.isfinite(_float(given)):
                value = -given if negative else given
            case None | str() if not negative:
                value = given
            case _:
                raise self._refused("it has a value that JSON does not have", node)
        return lambda _: value

    def _name(self, node: ast.Name) -> _Evaluate:
        name = node.id
        if name not in _KNOWN:
            hint = did_you_mean(name, _KNOWN) or f", known are {', '.join(_KNOWN)}"
            raise self._refused(f"unknown name '{name}'{hint}", node)
        if name == "status":
            raise self._refused("a status is always there, compare it: status == 'done'", node)
        if name in _VALUES:
            self.names.add(name)
        return lambda names: names[name]

    def _inner(self, node: ast.expr, depth: int) -> _Evaluate:
        """What a part is taken of: the part is shown, and not all of it."""
        known = frozenset(self.asked)
        evaluate = self.read(node, depth + 1)
        written = self._written(node)
        if written not in known:
            self.asked.pop(written, None)
        return evaluate

    def _index(self, node: ast.expr, depth: int) -> _Evaluate:
        if isinstance(node, ast.List | ast.Tuple):
            raise self._refused("an index is a text or a whole number", node)
        return self.read(node, depth + 1)

    def _asking(self, node: ast.Name | ast.Attribute | ast.Subscript, depth: int) -> _Evaluate:
        evaluate: _Evaluate
        match node:
            case ast.Name():
                evaluate = self._name(node)
            case ast.Attribute(value=value, attr=key):
                evaluate = _part(self._inner(value, depth), lambda _: key)
            case ast.Subscript(value=value, slice=index):
                evaluate = _part(self._inner(value, depth), self._index(index, depth))
        written = self._written(node)
        if written not in _CONSTANTS:
            self.asked.setdefault(written, evaluate)
        return evaluate

    def _comparison(self, node: ast.Compare, depth: int) -> _Evaluate:
        both = pairwise((node.left, *node.comparators))
        for op, (one, other) in zip(node.ops, both, strict=True):
            self._check_status(one, op, other)
        first = self._operand(node.left, depth)
        rest: list[tuple[_Compare, _Evaluate]] = []
        for op, operand in zip(node.ops, node.comparators, strict=True):
            compare = _COMPARE.get(type(op))
            if compare is None:
                raise self._refused(_NOT_KNOWN, operand)
            rest.append((compare, self._operand(operand, depth)))

        def evaluate(names: _Names) -> _Value:
            left = first(names)
            for compare, operand in rest:
                right = operand(names)
                if not compare(left, right):
                    return _Truth.FALSE
                left = right
            return _Truth.TRUE

        return evaluate

    def _operand(self, node: ast.expr, depth: int) -> _Evaluate:
        if not _is_status(node):
            return self.read(node, depth + 1)
        self.names.add("status")
        return self.asked.setdefault("status", lambda names: names["status"])

    def _check_status(self, one: ast.expr, op: ast.cmpop, other: ast.expr) -> None:
        """What a status is compared with is one: with a slip it would hold for none, or for all."""
        if not _is_status(one) and not _is_status(other):
            return
        is_in = isinstance(op, ast.In | ast.NotIn)
        if not is_in and not isinstance(op, ast.Eq | ast.NotEq):
            raise self._refused("a status is compared by ==, !=, in and not in", other)
        with_ = other if _is_status(one) else one
        listed = with_.elts if is_in and isinstance(with_, ast.List | ast.Tuple) else [with_]
        if is_in and (with_ is one or with_ in listed):
            raise self._refused("a status is in a list, such as ['done', 'failed']", with_)
        for each in listed:
            if isinstance(each, ast.Constant) and each.value in STATUSES:
                continue
            written = _cut(self._written(each))
            hint = ""
            if isinstance(each, ast.Constant):
                hint = did_you_mean(str(each.value)[:_LONGEST_VALUE], STATUSES)
            known = hint or f", known are {', '.join(STATUSES)}"
            raise self._refused(f"no node has the status {written}{known}", each)

    def _refused(self, message: str, node: ast.expr) -> _RefusedError:
        return _RefusedError(message, len(self._source[: node.col_offset].decode()))

    def _written(self, node: ast.expr) -> str:
        return self._source[node.col_offset : node.end_col_offset].decode()


def _is_status(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "status"


def _takes_word(node: ast.expr, *, negated: bool = False) -> bool:
    """Whether it may hold by what an agent has said alone. Where `and` joins it with what is asked
    of the status it may not; under `not` the two change places."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _takes_word(operand, negated=not negated)
        case ast.BoolOp(op=op, values=parts):
            by_word = [_takes_word(part, negated=negated) for part in parts]
            if isinstance(op, ast.Or) is not negated:
                return any(by_word)
            both = zip(parts, by_word, strict=True)
            return any(by_word) and not any("status" in _names(p) and not by for p, by in both)
    return not _names(node).isdisjoint(_WORDS_OF_AGENTS)


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


# --- values ---------------------------------------------------------------------------------------


def _of_json(value: Json) -> _Value:
    if isinstance(value, bool):
        return _truth(value)
    if isinstance(value, list):
        return [_of_json(each) for each in value]
    if isinstance(value, dict):
        return {key: _of_json(each) for key, each in value.items()}
    return value


def _truth(value: bool) -> _Truth:
    return _Truth.TRUE if value else _Truth.FALSE


def _float(value: float) -> float:
    """As a float; infinite, where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _part(evaluate: _Evaluate, key: _Evaluate) -> _Evaluate:
    """A field of an object, an item of a list, a character of a text; null where there is none."""

    def find(names: _Names) -> _Value:
        whole, part = evaluate(names), key(names)
        if isinstance(whole, dict):
            return whole.get(part) if isinstance(part, str) else None
        if isinstance(whole, list | str) and isinstance(part, int):
            return whole[part] if -len(whole) <= part < len(whole) else None
        return None

    return find


def _any_of(every: list[_Evaluate]) -> _Evaluate:
    def evaluate(names: _Names) -> _Value:
        value: _Value = None
        for each in every:
            value = each(names)
            if value:
                break
        return value

    return evaluate


def _all_of(every: list[_Evaluate]) -> _Evaluate:
    def evaluate(names: _Names) -> _Value:
        value: _Value = None
        for each in every:
            value = each(names)
            if not value:
                break
        return value

    return evaluate


def _is_in(left: _Value, right: _Value) -> bool:
    if isinstance(right, list):
        return left in right
    if isinstance(right, dict | str):
        return isinstance(left, str) and left in right
    return False


def _is_less(left: _Value, right: _Value) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    return isinstance(left, int | float) and isinstance(right, int | float) and left < right


def _is_at_most(left: _Value, right: _Value) -> bool:
    return _is_less(left, right) or (_have_order(left, right) and left == right)


def _have_order(left: _Value, right: _Value) -> bool:
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, int | float))


_COMPARE: Mapping[type[ast.cmpop], _Compare] = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Lt: _is_less,
    ast.Gt: lambda left, right: _is_less(right, left),
    ast.LtE: _is_at_most,
    ast.GtE: lambda left, right: _is_at_most(right, left),
    ast.In: _is_in,
    ast.NotIn: lambda left, right: not _is_in(left, right),
}


def _words(value: _Value) -> str:
    """The value in JSON; of what has parts only how many there are."""
    if isinstance(value, list):
        return f"list of {len(value)}"
    if isinstance(value, dict):
        return f"object of {len(value)}"
    given = value[: _LONGEST_VALUE + 1] if isinstance(value, str) else value
    text = _JSON.encode(given)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return _cut(text)


def _cut(text: str, length: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
