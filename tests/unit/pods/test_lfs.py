"""Contents of Git LFS come from the git server alone, are what their pointers say, or stay away."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.pod import Remote
from bernstein.pods import lfs
from bernstein.pods.errors import PodError
from bernstein.pods.worktree import lfs_pointers
from bernstein.pods.worktree.lfs_pointers import Content

HOST = "https://git.example:8443"
BASIC = "Basic " + base64.b64encode(b"read:secret").decode()
DATA = b"\x89PNG" + bytes(range(256)) * 5


def oid_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pointer(data: bytes, **changes: Any) -> bytes:
    told = {"oid": oid_of(data), "size": len(data)} | changes
    return (
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{told['oid']}\nsize {told['size']}\n"
    ).encode()


@dataclass
class Server:
    """The git server's LFS; `action` makes what it says of a content, `serves` what comes then."""

    contents: dict[str, bytes] = field(default_factory=dict)
    action: Callable[[str], dict[str, Any]] = lambda oid: {"href": f"{HOST}/objects/{oid}"}
    serves: Callable[[bytes], httpx.Response] = lambda data: httpx.Response(200, content=data)
    batch: int = 200
    requests: list[httpx.Request] = field(default_factory=list)

    def has(self, data: bytes) -> bytes:
        """Its pointer."""
        self.contents[oid_of(data)] = data
        return pointer(data)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path != "/acme/shop.git/info/lfs/objects/batch":
            found = self.serves(self.contents[request.url.path.rpartition("/")[2]])
            stream = httpx.ByteStream(found.content)
            return httpx.Response(found.status_code, headers=found.headers, stream=stream)
        asked = json.loads(request.content)
        assert (asked["operation"], asked["transfers"]) == ("download", ["basic"])
        told = [
            each | {"actions": {"download": self.action(each["oid"])}}
            if each["oid"] in self.contents
            else each | {"error": {"code": 404, "message": "no"}}
            for each in asked["objects"]
        ]
        data = json.dumps({"transfer": "basic", "objects": told}).encode()
        return httpx.Response(self.batch, stream=httpx.ByteStream(data))

    @property
    def fetched(self) -> int:
        return sum(1 for each in self.requests if each.method == "GET")


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    account = tmp_path / "account"
    account.mkdir()
    (account / "username").write_text("read\n")
    (account / "password").write_text("secret\n")
    return Remote(f"{HOST}/acme/shop.git", str(account))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def fill(server: Server, remote: Remote, tree: Path) -> Callable[..., int]:
    def run(url: str | None = None) -> int:
        at = remote if url is None else Remote(url, remote.credential_dir)
        return lfs.fill(at, [tree], httpx.MockTransport(server.answer))

    return run


def said(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the log says of it at last."""
    rows = [json.loads(row) for row in capsys.readouterr().err.splitlines()]
    found: dict[str, Any] = next(row for row in reversed(rows) if row["event"] == "lfs")
    return {name: found[name] for name in ("fetched", "left", "why")}


def test_a_pointer_gets_its_content_by_the_account_read(
    server: Server, tree: Path, fill: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "art").mkdir()
    file, twin, plain = tree / "art/a.png", tree / "b.png", tree / "c.txt"
    file.write_bytes(server.has(DATA))
    file.chmod(0o755)
    twin.write_bytes(server.has(DATA))
    plain.write_text("no pointer\n")

    assert fill() == 0

    assert (file.read_bytes(), twin.read_bytes()) == (DATA, DATA)
    assert (file.stat().st_mode & 0o777, plain.read_text()) == (0o755, "no pointer\n")
    assert {each.headers["authorization"] for each in server.requests} == {BASIC}
    assert server.fetched == 1, "once for both"
    assert {each.name for each in tree.iterdir()} == {"art", "b.png", "c.txt"}
    assert said(capsys) == {"fetched": 2, "left": 0, "why": ""}


def test_where_the_server_names_an_authorization_that_is_sent_instead(
    server: Server, tree: Path, fill: Callable[..., int]
) -> None:
    (tree / "a").write_bytes(server.has(DATA))
    header = {"Authorization": "Basic of-this-content", "X-Other": "a"}
    server.action = lambda oid: {"href": f"{HOST}/objects/{oid}", "header": header}

    fill()

    assert server.requests[-1].headers["authorization"] == "Basic of-this-content"
    assert "x-other" not in server.requests[-1].headers
    assert (tree / "a").read_bytes() == DATA


@pytest.mark.parametrize(
    "href",
    [
        "https://evil.example/x",
        "http://git.example:8443/x",
        "https://git.example/x",
        "https://git.example:8443@evil.example/x",
        "https://read:x@git.example:8443/x",
        "file:///etc/passwd",
        "//evil.example/x",
        "https://[",
        "",
    ],
)
def test_nothing_is_asked_of_any_other_host(
    server: Server,
    tree: Path,
    fill: Callable[..., int],
    href: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tree / "a").write_bytes(server.has(DATA))
    server.action = lambda _: {"href": href}

    assert fill() == 1, "that it stayed a pointer"

    assert (tree / "a").read_bytes() == pointer(DATA)
    assert len(server.requests) == 1
    assert said(capsys)["left"] == 1


def redirected(_: bytes) -> httpx.Response:
    return httpx.Response(302, headers={"location": "https://evil.example/x"})


@pytest.mark.parametrize(
    ("serves", "why"),
    [
        (redirected, "redirected: 1"),
        (lambda _: httpx.Response(404), "not there: 1"),
        (lambda _: httpx.Response(403), "not there: 1"),
        (lambda data: httpx.Response(200, content=data[:-1]), "not what its pointer says: 1"),
        (lambda data: httpx.Response(200, content=data + b"x"), "not what its pointer says: 1"),
        (
            lambda data: httpx.Response(200, content=data[::-1]),
            "not what its pointer says: 1",
        ),
    ],
)
def test_what_is_not_what_the_pointer_says_stays_away_and_nothing_of_it_is_left(
    server: Server,
    tree: Path,
    fill: Callable[..., int],
    serves: Callable[[bytes], httpx.Response],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tree / "a").write_bytes(server.has(DATA))
    server.serves = serves

    fill()

    assert (tree / "a").read_bytes() == pointer(DATA)
    assert [each.name for each in tree.iterdir()] == ["a"]
    assert said(capsys) == {"fetched": 0, "left": 1, "why": why}
    assert not any(each.url.host == "evil.example" for each in server.requests)


def test_what_work_names_and_nobody_has_keeps_nothing_else_away(
    server: Server, tree: Path, fill: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(150):
        (tree / f"{number}").write_bytes(pointer(b"%d" % number))
    (tree / "z").write_bytes(server.has(DATA))

    fill()

    assert (tree / "z").read_bytes() == DATA
    assert said(capsys) == {"fetched": 1, "left": 150, "why": "not there: 150"}


def test_so_many_bytes_and_files_at_most_and_small_ones_first(
    server: Server,
    tree: Path,
    fill: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(lfs, "MOST_BYTES", 100)
    monkeypatch.setattr(lfs, "MOST_FILES", 3)
    huge = pointer(b"huge", size=10**14)
    server.contents[oid_of(b"huge")] = b"huge"
    for name, text in {"a": huge, "b": server.has(DATA), "c": server.has(b"x" * 100)}.items():
        (tree / name).write_bytes(text)
    (tree / "d").write_bytes(server.has(b"y"))

    fill()

    assert (tree / "c").read_bytes() == b"x" * 100
    assert said(capsys) == {"fetched": 1, "left": 3, "why": "too large: 2, too many: 1"}
    assert server.fetched == 1


@pytest.mark.parametrize("status", [404, 406, 410, 422])
def test_a_server_without_lfs_leaves_them_as_they_are(
    server: Server, tree: Path, fill: Callable[..., int], status: int
) -> None:
    (tree / "a").write_bytes(server.has(DATA))
    server.batch = status

    fill()

    assert (tree / "a").read_bytes() == pointer(DATA)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "RepositoryAuthFailed"),
        (403, "RepositoryAuthFailed"),
        (429, "RepositoryUnreachable"),
        (500, "RepositoryUnreachable"),
        (503, "RepositoryUnreachable"),
    ],
)
def test_what_is_wrong_with_the_server_or_the_account_is_no_verdict(
    server: Server, tree: Path, fill: Callable[..., int], status: int, reason: str
) -> None:
    (tree / "a").write_bytes(server.has(DATA))
    server.batch = status

    with pytest.raises(PodError) as failed:
        fill()

    assert failed.value.reason == reason
    assert "secret" not in str(failed.value)


def test_neither_is_a_network_that_breaks(
    server: Server, remote: Remote, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "a").write_bytes(server.has(DATA))

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield DATA[:3]
            raise httpx.ReadError("it broke")

    def answer(request: httpx.Request) -> httpx.Response:
        broken = request.method == "GET"
        return httpx.Response(200, stream=Broken()) if broken else server.answer(request)

    with pytest.raises(PodError) as failed:
        lfs.fill(remote, [tree], httpx.MockTransport(answer))
    assert failed.value.reason == "RepositoryUnreachable"
    monkeypatch.setattr(lfs, "SECONDS", -1.0)
    with pytest.raises(PodError) as failed:
        lfs.fill(remote, [tree], httpx.MockTransport(server.answer))
    assert failed.value.reason == "RepositoryUnreachable"


def test_nothing_of_the_tree_says_where_or_by_what(
    server: Server, tree: Path, fill: Callable[..., int]
) -> None:
    (tree / "a.bin").write_bytes(server.has(DATA))
    (tree / ".lfsconfig").write_text("[lfs]\n\turl = https://evil.example/lfs\n")
    (tree / ".gitattributes").write_text("*.bin filter=evil\n")

    fill()

    assert (tree / "a.bin").read_bytes() == DATA
    assert {each.url.host for each in server.requests} == {"git.example"}


def test_without_a_pointer_nobody_is_asked(
    server: Server, tree: Path, fill: Callable[..., int]
) -> None:
    (tree / "a").write_bytes(DATA)
    (tree / ".git").mkdir()
    (tree / ".git/a").write_bytes(server.has(DATA))
    (tree / "link").symlink_to(tree / ".git/a")

    fill()

    assert server.requests == []


def test_by_ssh_they_stay(
    server: Server, tree: Path, fill: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a").write_bytes(server.has(DATA))

    fill("ssh://git@git.example/acme/shop.git")

    assert server.requests == []
    assert said(capsys) == {"fetched": 0, "left": 1, "why": "by SSH"}


def test_for_the_trees_own_git_nothing_has_changed(
    server: Server, tree: Path, fill: Callable[..., int]
) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    (tree / "a b\u00e9.png").write_bytes(server.has(DATA))
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "a")

    fill()

    assert (tree / "a b\u00e9.png").read_bytes() == DATA
    assert git("status", "--porcelain") == ""


def test_the_log_says_so_where_contents_are_not_asked_for(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a.png").write_bytes(pointer(DATA))
    lfs_pointers.tell([tree])
    assert capsys.readouterr().err == "", "nobody says that there are any"
    (tree / ".gitattributes").write_text("*.png filter=lfs diff=lfs merge=lfs -text\n")

    lfs_pointers.tell([tree])

    assert said(capsys) == {
        "fetched": 0,
        "left": 1,
        "why": "the Project does not ask for contents",
    }
    assert (tree / "a.png").read_bytes() == pointer(DATA)


# --- pointers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        pointer(DATA)[:-1],
        pointer(DATA) + b"\n",
        pointer(DATA).replace(b"\n", b"\r\n"),
        pointer(DATA, size="-1"),
        pointer(DATA, size="01"),
        pointer(DATA, size="9" * 16),
        pointer(DATA, oid="A" * 64),
        pointer(DATA, oid="a" * 63),
        pointer(DATA).replace(b"oid", b"ext-0-foo sha256:" + b"a" * 64 + b"\noid"),
        b"",
    ],
)
def test_what_is_no_pointer(data: bytes) -> None:
    assert lfs_pointers.parse(data) is None


@given(st.binary(max_size=40), st.integers(0, 10**15 - 1))
def test_each_pointer_is_read_as_it_was_written(data: bytes, size: int) -> None:
    assert lfs_pointers.parse(pointer(data, size=size)) == Content(oid_of(data), size)


def test_work_takes_no_content_from_the_tree_that_it_is_compared_with(
    server: Server, remote: Remote, tree: Path, tmp_path: Path
) -> None:
    """Neither by another size of the same content, nor by many pointers."""
    base = tmp_path / "base"
    base.mkdir()
    for each in (tree, base):
        (each / "golden.bin").write_bytes(server.has(DATA))
    (tree / "a").write_bytes(pointer(DATA, size=len(DATA) + 1))

    lfs.fill(remote, [tree, base], httpx.MockTransport(server.answer))

    assert (base / "golden.bin").read_bytes() == DATA
    assert (tree / "golden.bin").read_bytes() == DATA
    assert (tree / "a").read_bytes() == pointer(DATA, size=len(DATA) + 1)
    assert server.fetched == 1, "one content is asked for once, whatever sizes it is said to have"


def test_many_files_of_one_content_have_room_for_so_many_bytes_together(
    server: Server,
    tree: Path,
    fill: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lfs, "MOST_BYTES", 3 * len(DATA))
    for number in range(5):
        (tree / f"{number}.bin").write_bytes(server.has(DATA))

    fill()

    assert said(capsys) == {"fetched": 3, "left": 2, "why": "too large: 2"}
