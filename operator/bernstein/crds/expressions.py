"""Evaluates rules in CEL without an API server, as far as the rules of our kinds use the language.

So each rule is written once, for both. Libraries for CEL lack the functions that Kubernetes adds,
and are large for the few things that our rules need. With other spellings of its operators such a
rule is an expression in Python's grammar. That is only read, never run: what is not among the
things below raises Unreadable. That they say what the API server says is shown with its examples.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

_SPELLED: Final = {"&&": " and ", "||": " or ", "!": "~", "except": "except_"}
"""`~` binds as strongly as CEL's `!`, unlike `not`; a field may have the name of a keyword."""
_TOKEN = re.compile(r"'[^']*'|&&|\|\||!(?!=)|\bexcept\b")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m|Ki|Mi|Gi|)")
_UNITS: Final[Mapping[str, Fraction]] = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
}
_CIDR = re.compile(r"[0-9A-Fa-f.:]+/[0-9]{1,3}")
_Names = Mapping[str, Any]


class Unreadable(ValueError):  # noqa: N818 - it says what is so
    """The rule is written in a way that none was so far."""


class _Absent(Exception):  # noqa: N818 - it says what is so
    """A field is read that is not there."""


def holds(rule: str, value: object) -> bool:
    """Whether the rule lets `value` through, which is the rule's `self`.

    A rule that reads a field that is not there refuses it. Raises Unreadable.
    """
    try:
        return _of(_read(rule), {"self": value}) is True
    except _Absent:
        return False


@lru_cache(maxsize=1024)
def _read(rule: str) -> ast.expr:
    python = _TOKEN.sub(lambda token: _SPELLED.get(token[0], token[0]), rule)
    try:
        return ast.parse(python.strip(), mode="eval").body
    except SyntaxError as error:
        raise Unreadable(rule) from error


def _of(node: ast.expr, names: _Names) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.List(elts=items):
            return [_of(item, names) for item in items]
        case ast.Attribute(value=owner, attr=field):
            return _field(_of(owner, names), field)
        case ast.Call():
            return _call(node, names)
    return _truth(node, names)


def _truth(node: ast.expr, names: _Names) -> bool:
    match node:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return not _of(operand, names)
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_of(part, names) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_of(part, names) for part in parts)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            compare = _COMPARISONS.get(type(operator))
            if compare is not None:
                return compare(_of(left, names), _of(right, names))
    raise Unreadable(ast.unparse(node))


def _field(owner: Any, field: str) -> Any:
    value = owner.get(field.removesuffix("_"))
    if value is None:
        raise _Absent(field)
    return value


def _call(call: ast.Call, names: _Names) -> Any:
    match call:
        case ast.Call(func=ast.Name(id="has"), args=[ast.Attribute(value=owner, attr=field)]):
            return _of(owner, names).get(field.removesuffix("_")) is not None
        case ast.Call(func=ast.Name(id=name), args=args) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_of(each, names) for each in args))
        case ast.Call(
            func=ast.Attribute(value=items, attr=name), args=[ast.Name(id=item), body]
        ) if name in _MACROS:
            return _MACROS[name](_of(items, names), lambda each: _of(body, {**names, item: each}))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _METHODS:
            return _METHODS[name](_of(owner, names), *(_of(each, names) for each in args))
    raise Unreadable(ast.unparse(call))


# --- what expressions may call --------------------------------------------------------------------


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, Field(pattern=pattern)])


def matches(text: str, pattern: str) -> bool:
    """Whether the API server would find the pattern in the text.

    By an engine that reads patterns as Go's does and needs linear time; Python's does neither.
    """
    try:
        _pattern(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def _find(text: str, pattern: str) -> str:
    """The first match, by an engine of Python's: the patterns are ours alone."""
    found = re.search(pattern, text)
    return found[0] if found else ""


def _quantity(text: str) -> Fraction:
    number, unit = _QUANTITY.fullmatch(text).groups()  # type: ignore[union-attr]
    return Fraction(number) * _UNITS[unit]


def is_cidr(text: str) -> bool:
    """Whether these are addresses as the API server takes them."""
    try:
        return bool(_CIDR.fullmatch(text) and _cidr(text))
    except ValueError:
        return False


def _cidr(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text, strict=False)


def _contains_cidr(whole: Any, part: str) -> bool:
    within = _cidr(part)
    return within.version == whole.version and within.subnet_of(whole)


_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: lambda one, other: bool(one == other),
    ast.NotEq: lambda one, other: bool(one != other),
    ast.LtE: lambda one, other: bool(one <= other),
    ast.GtE: lambda one, other: bool(one >= other),
    ast.Gt: lambda one, other: bool(one > other),
    ast.In: lambda one, other: one in other,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "size": len,
    "isQuantity": lambda text: _QUANTITY.fullmatch(text) is not None,
    "quantity": _quantity,
    "isCIDR": is_cidr,
    "cidr": _cidr,
}
_METHODS: Final[Mapping[str, Callable[..., Any]]] = {
    "contains": lambda text, part: part in text,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "matches": matches,
    "find": _find,
    "compareTo": lambda one, other: (one > other) - (one < other),
    "containsCIDR": _contains_cidr,
    "sum": sum,
}
_MACROS: Final[Mapping[str, Callable[[Collection[Any], Callable[[Any], Any]], Any]]] = {
    "all": lambda items, test: all(map(test, items)),
    "exists": lambda items, test: any(map(test, items)),
    "filter": lambda items, test: [item for item in items if test(item)],
    "map": lambda items, made: [made(item) for item in items],
}
