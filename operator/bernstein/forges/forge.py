"""What a forge is: how requests are made of a wish, and what is read of its answers.

Each operation is a generator: it yields one Call after another, gets the JSON of each answer, and
returns what came of it. It makes no request itself, and sees an answer that is an error as a
ForgeError at its `yield`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

from bernstein import urls
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.web.json_values import Json, items, mapping, text_of

_LONGEST_TEXT = 16_384
MOST_PAGES = 10
MOST_SHORT_PAGES = 50
"""Where the forge gives fewer objects a page than it is asked for."""
LAST_PAGES = 4
FARTHEST = 5000
"""Pages of a list: where there are more, it is none that people have written."""
PAGE = 50
"""Objects of a list that are asked for at once; each forge allows so many."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One request, below the address of the API."""

    method: Literal["GET", "POST", "PUT", "PATCH"]
    path: str
    """Percent-encoded."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = None
    root: str | None = None
    """Another address of the same API, by name; None: the usual one."""
    paged: bool = False
    """The answer is a Page."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list."""

    answer: Any
    total: int | None = None
    """Objects of the whole list; None: the forge does not say."""
    has_next: bool = False
    """It says that there is another page."""


Steps = Generator[Call, Any, T]
"""One operation."""


@dataclass(frozen=True, slots=True)
class RepositoryPath:
    """Which repository, below which address."""

    server: str
    """Scheme, host, port and what comes before the repository's path."""
    owner: str
    """With all groups above."""
    name: str

    @property
    def whole(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def parts(self) -> str:
        """`owner/name` for a path, percent-encoded."""
        return f"{quote(self.owner, safe='')}/{quote(self.name, safe='')}"


@dataclass(frozen=True, slots=True)
class Branches:
    head: str
    """What is to be merged; it is in the same repository."""
    base: str
    """What it is to be merged into."""


@dataclass(frozen=True, slots=True)
class Description:
    """What people read of a pull request."""

    title: str
    """Without what says that it is a draft."""
    body: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    """That it has to have, beside those that people give it."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One as a forge tells of it."""

    number: int
    url: str
    """For people."""
    state: Literal["Open", "Merged", "Closed"]
    """Closed: without having been merged."""
    branches: Branches
    sha: str
    """Where its head is, or was when it ended."""
    description: Description
    own_branch: bool
    """Its head is a branch of the same repository: nobody's fork."""
    node: str = ""
    """Its other name, where the forge has one."""
    author: str = ""
    """Who has opened it."""
    by_app: bool = False
    """That is an app, and no person."""
    behind: bool | None = None
    """The forge says that its base has moved, so that it is in conflict or out of date. None: it
    has yet to say."""


@dataclass(frozen=True, slots=True)
class FailedCheck:
    name: str
    text: str
    url: str


CheckState = Literal["Pending", "Passed", "Failed"]


@dataclass(frozen=True, slots=True)
class CommitChecks:
    """What the forge's CI says of a commit."""

    state: Literal["", "None", "Pending", "Passed", "Failed"]
    """None: nothing says anything. "": what does may be hidden from the token."""
    failed: tuple[FailedCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said on a pull request."""

    id: str
    """Once on this pull request, and the same each time."""
    author: str
    text: str
    at: str
    """When it was said or changed last, in RFC 3339, as the forge writes it."""
    path: str = ""
    """File that it is about."""
    line: int = 0
    """0: about no line."""
    official: bool = False
    """The forge vouches that its author may write to the repository."""


class Forge(Protocol):
    """A forge. All operations raise ForgeError."""

    @property
    def name(self) -> str: ...
    def locate(self, url: str) -> RepositoryPath:
        """By the repository's https address. Raises ForgeError(ForgeAddressInvalid)."""

    def roots(self, repository: RepositoryPath, api: str | None) -> Mapping[str | None, str]:
        """Addresses of its API, by the names that calls have for them. `api`: the usual one, where
        it is not where the repository's url would have it."""

    def headers(self, token: str) -> Mapping[str, str]: ...

    def find(self, repository: RepositoryPath, branches: Branches) -> Steps[PullRequest | None]:
        """The newest one of these branches: an open one if there is one."""

    def get(self, repository: RepositoryPath, number: int) -> Steps[PullRequest]: ...

    def is_ours(self, repository: RepositoryPath, pull: PullRequest) -> Steps[bool]:
        """Whether the token's own account has opened it. Where that cannot be told, it has not."""

    def create(
        self, repository: RepositoryPath, branches: Branches, wanted: Description
    ) -> Steps[PullRequest]:
        """Raises ForgeError(ForgeExists) where an open one has these branches."""

    def update(
        self, repository: RepositoryPath, pull: PullRequest, wanted: Description
    ) -> Steps[PullRequest]:
        """Make it read so; it must be open."""

    def close(self, repository: RepositoryPath, pull: PullRequest) -> Steps[PullRequest]:
        """Without merging it; it must be open."""

    def comment(self, repository: RepositoryPath, pull: PullRequest, text: str) -> Steps[None]: ...

    def checks(self, repository: RepositoryPath, pull: PullRequest) -> Steps[CommitChecks]: ...

    def comments(
        self, repository: RepositoryPath, pull: PullRequest
    ) -> Steps[tuple[Comment, ...]]: ...

    def may_write(self, repository: RepositoryPath, user: str) -> Steps[bool | None]:
        """Whether this user may push to the repository. None: the token may not ask."""

    def likely_writers(self, repository: RepositoryPath) -> Steps[frozenset[str]]:
        """Who is known to the repository as one that may well push to it: a list that no stranger
        gets into. Nobody, where the token may not ask."""


def located(url: str, *, groups: bool = False) -> RepositoryPath:
    """The last two parts of the address's path are owner and name; `groups`: the last one is the
    name, and all others are the owner. Raises ForgeError(ForgeAddressInvalid)."""
    split = urls.split(url) or urls.split("")
    assert split is not None
    path = split.path.strip("/").removesuffix(".git")
    parts = [part for part in path.split("/") if part]
    if len(parts) < 2 or not split.hostname:
        text = "the repository's url does not name an owner and a repository"
        raise ForgeError(ForgeReason.ADDRESS_INVALID, text)
    above = [] if groups else parts[:-2]
    owner = "/".join(parts[:-1] if groups else parts[-2:-1])
    server = f"{split.scheme}://{split.netloc}"
    return RepositoryPath("/".join([server, *above]), owner, parts[-1])


def newest(pulls: Iterable[PullRequest], branches: Branches) -> PullRequest | None:
    """Of these branches of the repository itself: an open one if there is one. Forges tell of more
    where they do not know a branch that they are asked about."""
    ours = [pull for pull in pulls if pull.branches == branches and pull.own_branch]
    return max(ours, key=lambda pull: (pull.state == "Open", pull.number), default=None)


def told(call: Call) -> Steps[Any]:
    """What the forge says of somebody; False: it knows nothing; None: the token may not ask."""
    try:
        return (yield call)
    except ForgeError as error:
        if error.reason == ForgeReason.RIGHTS_MISSING:
            return None
        if error.reason == ForgeReason.NOT_FOUND:
            return False
        raise


def listed(answer: Any) -> list[Json]:
    """The objects of a list. Raises ForgeError(ForgeAnswerInvalid)."""
    if not isinstance(answer, list):
        raise invalid("it is no list")
    return [mapping(each) for each in answer]


def labelled(pull: PullRequest, labels: tuple[str, ...]) -> PullRequest:
    """The pull request once it has these labels, too."""
    both = tuple(dict.fromkeys((*pull.description.labels, *labels)))
    return replace(pull, description=replace(pull.description, labels=both))


def retitles(pull: PullRequest, wanted: Description) -> bool:
    """Whether its title has to be written, where that says whether it is a draft: else it stays as
    people have written that."""
    now = pull.description
    return (now.title, now.draft) != (wanted.title, wanted.draft)


def number_of(value: Any) -> int:
    """A count, or the number of a pull request. Raises ForgeError(ForgeAnswerInvalid)."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53:
        return value
    raise invalid("a number is missing")


def sha_of(value: Any) -> str:
    """Raises ForgeError(ForgeAnswerInvalid)."""
    text = text_of(value)
    if len(text) in {40, 64} and all(each in "0123456789abcdef" for each in text):
        return text
    raise invalid("the id of a commit is missing")


def login_of(value: Any, key: str = "login") -> str:
    """Of a user's object; empty where the user is gone."""
    return text_of(mapping(value).get(key))


def invalid(why: str) -> ForgeError:
    return ForgeError(ForgeReason.ANSWER_INVALID, f"what came is no answer of this forge's: {why}")


def known(call: Call, name: str, *, paged: bool = True) -> Steps[list[Json]]:
    """The objects of a list of people that have such a name; nobody, where the token may not ask,
    or the forge has no such list."""
    try:
        rows = (yield from pages(call)) if paged else listed((yield call))
    except ForgeError as error:
        if error.reason not in (ForgeReason.RIGHTS_MISSING, ForgeReason.NOT_FOUND):
            raise
        return []
    return [row for row in rows if text_of(row.get(name))]


def pages(call: Call) -> Steps[list[Json]]:
    """All objects of a list, page by page, as many as stand on so many full pages at most."""
    found: list[Json] = []
    for number in range(1, MOST_SHORT_PAGES + 1):
        rows, more = yield from _page(call, number, len(found))
        found += rows
        if not more or len(found) >= MOST_PAGES * PAGE:
            break
    return found


def checked(
    rows: Iterable[tuple[CheckState, FailedCheck]],
    are_all: bool,
    *,
    nothing: Literal["", "None"] = "None",
) -> CommitChecks:
    """What they come to together: of those that were not read one may have failed, or wait.
    `nothing`: what it means that there are none."""
    told = [*rows]
    failed = tuple(check for state, check in told if state == "Failed")
    if failed:
        return CommitChecks("Failed", failed)
    if not are_all or any(state == "Pending" for state, _ in told):
        return CommitChecks("Pending")
    return CommitChecks("Passed" if told else nothing)


def counted(call: Call, key: str) -> Steps[tuple[list[Json], bool]]:
    """The objects of a list that stands at `key` of an object, with their `total_count` beside it,
    page by page, so many pages at most; and whether these are all."""
    found: list[Json] = []
    for number in range(1, MOST_PAGES + 1):
        query = {**call.query, "page": str(number)}
        page: Page = yield Call(call.method, call.path, query, paged=True)
        answer = mapping(page.answer)
        rows = [mapping(each) for each in items(answer.get(key))]
        found += rows
        total = answer.get("total_count")
        # It may count the page alone; and a page may be shorter than it was asked for.
        more = _has_more(page, len(rows), len(found))
        more = more or (isinstance(total, int) and total > len(found))
        if not rows or not more:
            return found, not more
    return found, False


def both_ends(call: Call) -> Steps[list[Json]]:
    """All objects of a list whose newest are last; of one with too many pages the first and the
    last ones. Whoever says a lot hides only what stands in the midst of it, or, where a page of it
    is too long to be read, on that page. Raises ForgeError where none can be read."""
    found: list[Json] = []
    failed: ForgeError | None = None
    for number in range(1, MOST_PAGES + 1):
        try:
            rows, more = yield from _page(call, number, len(found))
        except ForgeError as error:
            if error.reason != ForgeReason.ANSWER_INVALID:
                raise
            failed = error
            continue
        found += map(brief, rows)
        if not more:
            break
    else:
        last = yield from _last_page(call, MOST_PAGES)
        for number in range(max(last - LAST_PAGES, MOST_PAGES) + 1, last + 1):
            found += map(brief, (yield from _rows(call, number)))
    if failed is not None and not found:
        raise failed
    return found


def brief(row: Json) -> Json:
    """The object without the rest of texts that are longer than anybody reads."""
    return {
        key: value[:_LONGEST_TEXT] if isinstance(value, str) else value
        for key, value in row.items()
    }


def _last_page(call: Call, full: int) -> Steps[int]:
    """The number of the last page with an object, where page `full` has one."""
    beyond = 2 * full
    while beyond <= FARTHEST and (yield from _rows(call, beyond)):
        full, beyond = beyond, 2 * beyond
    while beyond - full > 1:
        middle = (full + beyond) // 2
        if (yield from _rows(call, middle)):
            full = middle
        else:
            beyond = middle
    return full


def _rows(call: Call, number: int) -> Steps[list[Json]]:
    rows, _ = yield from _page(call, number, 0)
    return rows


def _page(call: Call, number: int, before: int) -> Steps[tuple[list[Json], bool]]:
    """The objects of a page, and whether there are more behind them; `before`: so many were had."""
    query = {**call.query, "page": str(number)}
    page: Page = yield Call(call.method, call.path, query, call.body, call.root, paged=True)
    rows = listed(page.answer)
    return rows, _has_more(page, len(rows), before + len(rows))


def _has_more(page: Page, rows: int, found: int) -> bool:
    """A page may be shorter than it was asked for, as the forge says how long one is at most."""
    if not rows:
        return False
    return rows >= PAGE or page.has_next or (page.total is not None and page.total > found)
