"""Contents that Git LFS stores, fetched by its documented batch API with the account *read*.

    pointers of the tree ──▶ batch ──▶ a place for each content, on the git server itself ──▶ the
                                       content, if it is what its pointer says, in place of that

Nothing of the tree says from where: `.lfsconfig` and attributes are not read, and no filter is run.
What another host has, what is redirected, too large or not what the pointer says stays a pointer:
work may name any content, and whether it is judged must not hang on that. What is wrong with the
server or the account raises.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from bernstein import urls
from bernstein.api.pod import Remote
from bernstein.api.programs import account
from bernstein.api.reasons import Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git
from bernstein.pods.worktree import lfs_pointers
from bernstein.pods.worktree.lfs_pointers import Content
from bernstein.web import address
from bernstein.web.address import AddressError
from bernstein.web.json_values import NoJsonError, items, mapping, parse, text_of

MOST_FILES = 5000
"""Of each tree."""
MOST_BYTES = 1 << 30
"""Of all files of a checkout that get contents together, and of all that is fetched."""
SECONDS = 300.0
_NOT_IT = "not what its pointer says"
_BATCH = 100
_ANSWER_BYTES = 4 << 20
_REQUEST_SECONDS = 60.0
_LONGEST_HEADER = 8 << 10
_PIECE = 1 << 20
_MEDIA = "application/vnd.git-lfs+json"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a content is."""

    url: httpx.URL
    authorization: str | None
    """Instead of the account's own, where the server says so."""


class _LeftError(Exception):
    """A content stays away; the text says why, in a word or two."""


def fill(
    remote: Remote, trees: Iterable[Path], transport: httpx.BaseTransport | None = None
) -> int:
    """Puts contents in place of the pointers in these trees, in which nothing has run yet; returns
    how many stayed. The last tree is that which work is compared with: nothing in another one takes
    a content from it.

    Raises PodError: RepositoryUnreachable, RepositoryAuthFailed.
    """
    trees = tuple(trees)
    each_has = [[*lfs_pointers.found_in(tree)] for tree in reversed(trees)]
    every = [each for found in each_has for each in found]
    if not every:
        return 0
    files = [each for found in each_has for each in found[:MOST_FILES]]
    left = Counter({"too many": len(every) - len(files)})
    if account.is_ssh(remote.url):
        log.event("lfs", fetched=0, left=len(every), why="by SSH")
        return len(every)
    filled: list[Path] = []
    with _Server(remote, transport) as server, tempfile.TemporaryDirectory(dir=trees[0]) as own:
        wanted = dict.fromkeys(content for _, content in files)
        contents, why = server.fetch(_one_size_each(wanted), Path(own))
        uses = Counter(content for _, content in files)
        room = MOST_BYTES
        for path, content in files:
            uses[content] -= 1
            if content not in contents:
                left[why.get(content, _NOT_IT)] += 1
            elif content.size > room or server.is_late:
                left["too large"] += 1
            else:
                room -= content.size
                _replace(path, contents[content], again=uses[content] > 0)
                filled.append(path)
    for tree in trees:
        _as_committed(tree, [path for path in filled if path.is_relative_to(tree)])
    left = +left
    told = ", ".join(f"{word}: {number}" for word, number in sorted(left.items()))
    log.event("lfs", fetched=len(filled), left=left.total(), why=told)
    return left.total()


def _one_size_each(wanted: Iterable[Content]) -> list[Content]:
    """Of contents with the same id the first: a server is asked by that alone, and work may say any
    size."""
    first: dict[str, Content] = {}
    for content in wanted:
        first.setdefault(content.oid, content)
    return [*first.values()]


def _replace(path: Path, content: Path, *, again: bool) -> None:
    """`again`: others stand for the same content, so that it is copied."""
    mode = path.lstat().st_mode & 0o777
    if not again and content.stat().st_dev == path.lstat().st_dev:
        content.chmod(mode)
        content.replace(path)
        return
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as target, content.open("rb") as source:
        shutil.copyfileobj(source, target, _PIECE)
        os.fchmod(target.fileno(), mode)
    Path(name).replace(path)


def _as_committed(tree: Path, files: Sequence[Path]) -> None:
    """For the tree's own git these are as they were committed."""
    if files and (tree / ".git").is_dir():
        names = b"\0".join(os.fsencode(path.relative_to(tree)) for path in files)
        own = Git(tree / ".git")
        work_tree = {"GIT_WORK_TREE": str(tree)}
        own.run("update-index", "--assume-unchanged", "-z", "--stdin", input=names, env=work_tree)


class _Server:
    """The git server's own LFS, for one checkout."""

    def __init__(self, remote: Remote, transport: httpx.BaseTransport | None) -> None:
        """Raises PodError."""
        path = "/info/lfs" if remote.url.rstrip("/").endswith(".git") else ".git/info/lfs"
        try:
            self._lfs = address.below(remote.url, path)
            trusted = address.trusted(remote.ca_file)
        except (AddressError, OSError) as error:
            text = f"the repository's LFS cannot be asked: {error}"
            raise PodError(Reason.REPOSITORY_UNREACHABLE, text) from None
        self._account = _authorization(remote)
        self._ends = time.monotonic() + SECONDS
        proxy = urls.proxy_of(remote.url, os.environ)
        self._http = httpx.Client(
            transport=transport
            or httpx.HTTPTransport(verify=trusted, trust_env=False, proxy=proxy),
            timeout=httpx.Timeout(_REQUEST_SECONDS),
            trust_env=False,
            follow_redirects=False,
        )

    def __enter__(self) -> _Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def fetch(
        self, wanted: Iterable[Content], folder: Path
    ) -> tuple[dict[Content, Path], dict[Content, str]]:
        """A file for each content that was had, and why each other one was not."""
        had: dict[Content, Path] = {}
        why: dict[Content, str] = {}
        room = MOST_BYTES
        order = iter(sorted(wanted, key=lambda content: (content.size, content.oid)))
        while asked := tuple(islice(order, _BATCH)):
            places = self._places(asked)
            for content in asked:
                try:
                    if content.size > room:
                        raise _LeftError("too large")  # noqa: TRY301 - each is left by itself
                    place = self._on_this_host(places.get(content.oid))
                    room -= content.size
                    had[content] = self._had(content, place, folder / content.oid)
                except _LeftError as error:
                    why[content] = str(error)
        return had, why

    def _places(self, asked: Sequence[Content]) -> dict[str, Mapping[str, Any]]:
        """The action by which each content is had, by its id; of others there is none."""
        body = {
            "operation": "download",
            "transfers": ["basic"],
            "objects": [{"oid": each.oid, "size": each.size} for each in asked],
            "hash_algo": "sha256",
        }
        url = self._lfs.copy_with(raw_path=self._lfs.raw_path + b"/objects/batch")
        headers = {**self._headers(self._account), "accept": _MEDIA, "content-type": _MEDIA}
        request = self._http.build_request("POST", url, headers=headers, content=json.dumps(body))
        with self._sent(request) as answer:
            code = answer.status_code
            if code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                text = "the git server refuses the account read for contents of Git LFS"
                raise PodError(Reason.REPOSITORY_AUTH_FAILED, text)
            if code != HTTPStatus.OK:
                return {}
            data = b"".join(self._pieces(answer, _ANSWER_BYTES))
        try:
            told = [mapping(each) for each in items(mapping(parse(data)).get("objects"))]
        except NoJsonError:
            return {}
        return {
            text_of(each.get("oid")): mapping(mapping(each.get("actions")).get("download"))
            for each in told
        }

    def _on_this_host(self, action: Mapping[str, Any] | None) -> _Place:
        if not action:
            raise _LeftError("not there")
        try:
            url = httpx.URL(text_of(action.get("href")))
        except httpx.InvalidURL:
            raise _LeftError("not there") from None
        ours = self._lfs
        if (url.scheme, url.host, url.port) != (ours.scheme, ours.host, ours.port) or url.userinfo:
            raise _LeftError("on another host")
        for name, value in mapping(action.get("header")).items():
            if name.lower() == "authorization":
                value = text_of(value)
                if not value.isascii() or not value.isprintable() or len(value) > _LONGEST_HEADER:
                    raise _LeftError("not there")
                return _Place(url, value)
        return _Place(url, None)

    def _had(self, content: Content, place: _Place, file: Path) -> Path:
        headers = self._headers(place.authorization or self._account)
        request = self._http.build_request("GET", place.url, headers=headers)
        digest, size = hashlib.sha256(), 0
        with self._sent(request) as answer, file.open("wb") as target:
            if answer.is_redirect:
                raise _LeftError("redirected")
            if answer.status_code != HTTPStatus.OK:
                raise _LeftError("not there")
            for piece in self._pieces(answer, content.size):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        if (digest.hexdigest(), size) != (content.oid, content.size):
            raise _LeftError(_NOT_IT)
        return file

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._ends

    def _headers(self, authorization: str) -> dict[str, str]:
        return {
            "authorization": authorization,
            "accept-encoding": "identity",
            "user-agent": "bernstein",
        }

    def _sent(self, request: httpx.Request) -> _Answered:
        return _Answered(self._http, request, self._ends)

    def _pieces(self, answer: httpx.Response, most: int) -> Iterator[bytes]:
        """So many bytes, or one more where there are more."""
        left = most + 1
        for piece in answer.iter_raw():
            if self.is_late:
                raise _unreachable("took too long")
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return


class _Answered:
    """A response whose body is read while it is open; the network's errors as PodError."""

    def __init__(self, http: httpx.Client, request: httpx.Request, ends: float) -> None:
        self._http, self._request, self._ends = http, request, ends
        self._answer: httpx.Response | None = None

    def __enter__(self) -> httpx.Response:
        if time.monotonic() > self._ends:
            raise _unreachable("took too long")
        try:
            self._answer = self._http.send(self._request, stream=True)
        except httpx.HTTPError as error:
            raise _unreachable(f"cannot be reached: {type(error).__name__}") from None
        code = self._answer.status_code
        if code >= HTTPStatus.INTERNAL_SERVER_ERROR or code == HTTPStatus.TOO_MANY_REQUESTS:
            self._answer.close()
            raise _unreachable(f"answered {code}")
        return self._answer

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        assert self._answer is not None
        self._answer.close()
        if isinstance(error, httpx.HTTPError):
            raise _unreachable(f"gave no whole answer: {type(error).__name__}") from None


def _unreachable(why: str) -> PodError:
    return PodError(Reason.REPOSITORY_UNREACHABLE, f"the Git LFS of the git server {why}")


def _authorization(remote: Remote) -> str:
    """By the files of the account. Raises PodError."""
    folder = Path(remote.credential_dir or "")
    try:
        user, password = (
            (folder / key).read_text().rstrip("\n") for key in account.keys(remote.url)
        )
    except (OSError, UnicodeDecodeError):
        text = "the account read has no user and password"
        raise PodError(Reason.REPOSITORY_AUTH_FAILED, text) from None
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
