"""What all kinds share: model settings, bounded types, conditions, CEL rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

GROUP = "bernstein.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
PROJECT_KIND = "Project"
PLAN_KIND = "Plan"
TASK_KIND = "Task"
SESSION_KIND = "AgentSession"
APPROVAL_KIND = "Approval"
ROLE_KIND = "AgentRole"
MADE_BY_PEOPLE = (PLAN_KIND, TASK_KIND, PROJECT_KIND, ROLE_KIND)
"""Kinds whose objects people write; the operator alone makes those of the others."""


class Model(BaseModel):
    """Base of all models: fields are snake_case in Python and camelCase in JSON, objects immutable,
    and unknown keys dropped, as the API server does."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="ignore",
        # An error is logged, and what an agent said must not get there.
        hide_input_in_errors=True,
    )

    def dump(self) -> dict[str, Any]:
        """The model as the API server takes it: camelCase, without fields that are None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


CelRule = dict[str, str]
"""One entry of `x-kubernetes-validations`."""


def rule(expression: str, message: str, **more: str) -> CelRule:
    """A CEL rule that the API server enforces. `more` are fieldPath, messageExpression, reason."""
    return {"rule": expression, "message": message, **more}


def cel(*rules: tuple[str, str] | CelRule) -> dict[str, Any]:
    """JSON schema extension with rules, which may be `(expression, message)` pairs."""
    return {
        "x-kubernetes-validations": [
            entry if isinstance(entry, dict) else rule(*entry) for entry in rules
        ]
    }


WORDS, RULES, NO_RULES = "x-words-of", "x-rules-of", "x-no-rules"
"""Marks in the models' schemas that the generator of the CRDs replaces."""
WITHOUT_RULES: dict[str, Any] = {NO_RULES: True}
"""JSON schema extension: no rules for the field and below it; they are judged elsewhere."""


def words_of(registry: str) -> dict[str, Any]:
    """JSON schema extension: the text must be a name in that registry.

    Registries are in a layer above the models, so the names get into the schema when the CRD is
    generated. The model takes any text, since a newer version may have written other names.
    """
    return {WORDS: registry}


def rules_of(registry: str) -> dict[str, Any]:
    """JSON schema extension: the registry of that name adds CEL rules; see `words_of`."""
    return {RULES: registry}


def needs(field: str, when: str, message: str) -> CelRule:
    """Rule: the optional field must be there where `when` (CEL) is true."""
    return rule(
        f"!({when}) || has(self.{field})",
        message,
        fieldPath=f".{field}",
        reason="FieldValueRequired",
    )


def refuses(field: str, when: str, message: str) -> CelRule:
    """Rule: the optional field must not be there where `when` (CEL) is true."""
    return rule(
        f"!({when}) || !has(self.{field})",
        message,
        fieldPath=f".{field}",
        reason="FieldValueForbidden",
    )


def one_way(field: str) -> CelRule:
    """Rule: once the field is set, it can be neither changed nor removed."""
    return rule(
        f"!has(oldSelf.{field}) || (has(self.{field}) && self.{field} == oldSelf.{field})",
        "cannot be changed or taken back",
        fieldPath=f".{field}",
        reason="FieldValueForbidden",
    )


def immutable_except(
    *mutable: str,
    remedy: str,
    once: tuple[str, ...] = (),
    rules: tuple[tuple[str, str] | CelRule, ...] = (),
) -> Callable[[dict[str, Any]], None]:
    """JSON schema extension of a spec: every field but the `mutable` ones keeps its first value.

    There is a rule per field, so that the API server's answer names the field. Those of `once` may
    get their first value later. `remedy` is what the user can do instead; `rules` are added to
    these rules.
    """

    def extend(schema: dict[str, Any]) -> None:
        required = schema.get("required", ())
        unknown = {*mutable, *once} - schema["properties"].keys()
        if unknown:
            raise ValueError(f"no such fields: {sorted(unknown)}")
        fixed = [name for name in schema["properties"] if name not in (*mutable, *once)]
        each = (_immutable(name, name in required, remedy) for name in fixed)
        schema.update(cel(*rules, *each, *(_once(name, remedy) for name in once)))

    return extend


def immutable_spec_except(
    *mutable: str, spec: type[Model], unless: str, remedy: str, once: tuple[str, ...] = ()
) -> tuple[CelRule, ...]:
    """Rules for the root of a kind: every field of its spec but the `mutable` ones keeps its first
    value, unless that CEL is true of the old object. Those of `once` may get it later."""
    fields = {to_camel(name): field for name, field in spec.model_fields.items()}
    free = {*mutable, *once}
    unknown = free - fields.keys()
    if unknown:
        raise ValueError(f"no such fields: {sorted(unknown)}")
    fixed = [(f"spec.{name}", f.is_required()) for name, f in fields.items() if name not in free]
    each = (_immutable(name, required, remedy, f"({unless}) || ") for name, required in fixed)
    return (*each, *(_once(f"spec.{name}", remedy, f"({unless}) || ") for name in once))


def _immutable(field: str, required: bool, remedy: str, unless: str = "") -> CelRule:
    same = f"self.{field} == oldSelf.{field}"
    if not required:
        same = f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || {same})"
    return rule(
        f"{unless}({same})" if unless else same,
        f"the field is immutable: {remedy}",
        fieldPath=f".{field}",
        reason="FieldValueForbidden",
    )


def _once(field: str, remedy: str, unless: str = "") -> CelRule:
    return rule(
        f"{unless}!has(oldSelf.{field}) || (has(self.{field}) && self.{field} == oldSelf.{field})",
        f"the field is written once: {remedy}",
        fieldPath=f".{field}",
        reason="FieldValueForbidden",
    )


def named(limit: int) -> CelRule:
    """Rule for the root of a kind, whose names become parts of labels, refs and other names."""
    return rule(
        f"self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && "
        f"size(self.metadata.name) <= {limit}",
        f"metadata.name has at most {limit} characters: lower-case letters, digits and '-'",
    )


def list_map(*keys: str) -> dict[str, Any]:
    """JSON schema extension: a list whose items are identified by these keys."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


Name = Annotated[
    str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", min_length=1, max_length=63)
]
ObjectName = Annotated[
    str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", min_length=1, max_length=253)
]
DataKey = Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", min_length=1, max_length=253)]
NOT_IN_A_PATH = (
    (0x00, 0x1F),  # control characters, line breaks and ESC among them
    (0x7F, 0x9F),
    (0x61C, 0x61C),  # what turns the direction of the text around it
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2066, 0x2069),
    (0x2028, 0x2029),  # line and paragraph separator
)
"""First and last code points of what a path may not hold: what ends the line, or turns it. All else
may be in a file's name."""
NOT_IN_A_LINE = (
    *NOT_IN_A_PATH,
    (0xAD, 0xAD),  # what nobody sees: soft hyphen, fillers, spaces without width, tags and the like
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x2060, 0x2065),
    (0x206A, 0x206F),
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""The same of a text on one line, where besides a reader must see all that is there. Joiners and
variation selectors it may hold: scripts and emoji are spelled with them. They are left out where
the text is shown."""


def outside(ranges: tuple[tuple[int, int], ...]) -> str:
    """A pattern, as the API server writes them, of texts without these code points."""
    return "^[^" + "".join(rf"\x{{{a:x}}}-\x{{{b:x}}}" for a, b in ranges) + "]*$"


_HOST = r"([A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])"
HTTPS_PATTERN = rf"^https://{_HOST}(:[0-9]{{1,5}})?(/[^\s@]*)?$"
"""An address with a host that programs read alike: a name in ASCII, or an address."""
STORED_HTTPS_PATTERN = r"^https://[^\s@]+$"
"""What releases before have taken, and what an object that is stored may have."""
HttpsAddress = Annotated[
    str,
    Field(
        pattern=STORED_HTTPS_PATTERN,
        max_length=2048,
        json_schema_extra={"pattern": HTTPS_PATTERN},
    ),
]

LINE_PATTERN, PATH_PATTERN = outside(NOT_IN_A_LINE), outside(NOT_IN_A_PATH)
_NO_LINE = re.compile("[" + "".join(rf"\U{a:08x}-\U{b:08x}" for a, b in NOT_IN_A_LINE) + "]")


def is_line(value: str) -> bool:
    """Whether the API server takes it for one line, however long it is."""
    return _NO_LINE.search(value) is None


CopiedLine = Annotated[str, Field(min_length=1, max_length=300)]
"""A line that the operator copies: an older release may have taken what is refused today."""
Line = Annotated[
    str,
    # Not pydantic's: what an older release has stored must be read.
    Field(min_length=1, max_length=300, json_schema_extra={"pattern": LINE_PATTERN}),
]
LONGEST_REASON = 1024
Reasoning = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN}),
]
"""Why a person does something, in his own words: a line like any other, but a longer one."""
MOST_AGENTS = 1000
"""That may work at the same time for a Project or a Plan."""
Text = Annotated[str, Field(max_length=8192)]
UserName = Annotated[str, Field(min_length=1, max_length=300)]
"""As the API server knows a user."""
Money = Annotated[str, Field(pattern=r"^[0-9]{1,9}(\.[0-9]{1,6})?$", max_length=16)]
"""US dollars as a decimal string."""
LONGEST_RELATIVE_PATH = 256
"""Characters of a path, or glob, that a user writes."""
RelativePath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_RELATIVE_PATH,
        # Spelled for the API server's cost estimate: a Plan may hold 80,000 of these.
        json_schema_extra=cel(
            (
                "!self.startsWith('/') && self != '..' && !self.startsWith('../') && "
                "!self.endsWith('/..') && !self.contains('/../')",
                "a path is relative to the repository and may not leave it",
            )
        )
        | {"pattern": PATH_PATTERN},
    ),
]
LONGEST_PATH = 128
"""Characters of a path that a status quotes."""
ProtectedPath = Annotated[str, Field(max_length=LONGEST_PATH)]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$", max_length=64)]
# In CEL's text a backslash is written twice; a bracket in brackets is not the same for all engines.
_HOST = r"([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:]+\\])(:[0-9]+)?"
_PATH = "[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*"
_TAG = "[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}"
_DIGEST = "[A-Za-z][-A-Za-z0-9_+.]*:[0-9A-Fa-f]{32,}"
Image = Annotated[
    str,
    Field(
        min_length=1,
        max_length=512,
        json_schema_extra=cel(
            (
                f"self.matches('^({_HOST}/)?{_PATH}(/{_PATH})*(:{_TAG})?(@{_DIGEST})?$')",
                "an image is [registry[:port]/]path[:tag][@digest], with lower-case letters, "
                "digits, '.', '_' and '-' in the path",
            )
        ),
    ),
]


class ConditionType(StrEnum):
    """The conditions that our kinds have."""

    READY = "Ready"
    """A Project may be used."""
    WORK_CREDENTIAL_TOO_STRONG = "WorkCredentialTooStrong"
    READ_CREDENTIAL_TOO_STRONG = "ReadCredentialTooStrong"
    REFS_NOT_DELETED = "RefsNotDeleted"
    PULL_REQUESTS_NOT_CLOSED = "PullRequestsNotClosed"
    """Pull requests of what was deleted are open."""
    CACHE_NOT_FILLED = "CacheNotFilled"
    VALIDATED = "Validated"
    """A Plan or an AgentRole makes sense; a Task's regular expressions can be read."""
    RECONCILING = "Reconciling"
    """Something is at work, or will be by itself; the word is kstatus's, like the next."""
    STALLED = "Stalled"
    """A person must look."""
    SUCCEEDED = "Succeeded"
    """It has ended, well or not."""
    SUSPENDED = "Suspended"
    CANCEL_REFUSED = "CancelRefused"
    """A cancel came too late."""
    DEPENDENCIES_MET = "DependenciesMet"
    VERIFIED = "Verified"
    """Every check has said yes to exactly this tree."""
    STALE = "Stale"
    """A session does not report any more."""
    STOPPING = "Stopping"
    """A session was asked to end."""
    BUDGET_NOT_ENFORCED = "BudgetNotEnforced"
    """A Plan has a budget, and an agent of its steps does not tell what it spends."""
    USAGE_CUT = "UsageCut"
    """A session reported more tokens than its time allows."""
    KNOWLEDGE_MISSING = "KnowledgeMissing"
    """An agent was not told all that its Project wants it to know."""
    MODEL_NOT_KNOWN = "ModelNotKnown"
    """A Project beside an AgentRole does not know its model."""


class Condition(Model):
    """A Kubernetes condition."""

    type: Annotated[str, Field(max_length=64)]
    """A ConditionType; a newer operator may have written others."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=64)]
    """Why, in one CamelCase word that stays the same between releases."""
    message: Annotated[str, Field(max_length=4096)] = ""
    """Why, for people, with what helps."""
    observed_generation: int | None = None
    """Generation of the object that it is about."""
    last_transition_time: datetime
    """When `status` changed last."""


Conditions = Annotated[
    tuple[Condition, ...], Field(max_length=16, json_schema_extra=list_map("type"))
]


Leader = Annotated[str, Field(max_length=128)]
"""A process of the operator, by the name that it has in the Lease."""
TAKEN_OVER = (
    "Process of the operator that took it over from the one before, and wrote this "
    "first: no status of that one is applied any more. Absent: none had to."
)
"""What a status says by its `leader`."""


class UsageCounts(Model):
    """Tokens; `input` excludes what was read from or written to a cache."""

    input: int = Field(default=0, ge=0)
    """Tokens that were read in full."""
    output: int = Field(default=0, ge=0)
    """Tokens that were written."""
    cache_read: int = Field(default=0, ge=0)
    """Tokens that were read from the provider's cache."""
    cache_write: int = Field(default=0, ge=0)
    """Tokens that were written to the provider's cache."""


class OwnerReference(Model):
    """Whom an object belongs to; one of them at most is its controller."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


class Metadata(Model):
    """The part of an object's metadata that decisions read."""

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
