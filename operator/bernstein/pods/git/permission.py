"""What a server lets an account push, asked without changing anything there.

`git push --dry-run` ends before the server has judged a ref. So the command is sent here as git
sends it, but such that it changes nothing even where it is taken. Servers whose rules are hooks
judge first who may push what, and then find that the ref is elsewhere: that answer says that the
account might have.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.parse import SplitResult, urlsplit

from bernstein import urls
from bernstein.api.pod import Remote
from bernstein.api.programs.account import PASSWORD, USERNAME, is_ssh
from bernstein.api.reasons import UNTRUSTED, Reason
from bernstein.pods.git import remotes, ssh_service
from bernstein.pods.git.client import LOOKUP_SECONDS, GitError, full_ref
from bernstein.pods.git.errors import from_output, unreachable
from bernstein.web.authorities import with_more

NOTHING = "0" * 40
"""In a command: there is no such ref."""
_SERVICE = "git-receive-pack"
_FLUSH = b"0000"
_MOST_BYTES = 65536
"""Of an answer."""
_EMPTY_PACK = b"PACK" + (2).to_bytes(4) + (0).to_bytes(4)


def may_push_somewhere(remote: Remote) -> None:
    """Raises GitError(CredentialRefused) where the server opens the repository to no push of this
    account. Which refs it may push stays open."""
    if is_ssh(remote.url):
        ssh_service.received(remote, _FLUSH, LOOKUP_SECONDS)
    else:
        _ask(remote, "GET", f"/info/refs?service={_SERVICE}")


def may_push(remote: Remote, ref: str, sha: str) -> bool | None:
    """Whether a ref that is not there may be pushed to. None: the server does not tell.

    The command has the ref go from `sha` to `sha`: it is not there, so that is refused; and if it
    were, nothing would change. Raises GitError.
    """
    return _judged(remote, ref, sha, sha)


def may_overwrite(remote: Remote, ref: str, sha: str) -> bool | None:
    """Whether a ref that is at `sha` may be pushed to. None: the server does not tell.

    The command makes the ref at `sha`: it is there already, so that is refused. Raises GitError.
    """
    return _judged(remote, ref, NOTHING, sha)


def _judged(remote: Remote, ref: str, old: str, new: str) -> bool | None:
    name = full_ref(ref)
    command = f"{old} {new} {name}\0report-status agent=bernstein".encode()
    pack = _EMPTY_PACK + hashlib.sha1(_EMPTY_PACK, usedforsecurity=False).digest()
    body = f"{len(command) + 4:04x}".encode() + command + _FLUSH + pack
    for line in _answers(remote, body):
        word, _, rest = line.partition(b" ")
        told, _, why = rest.strip().partition(b" ")
        if told != name.encode() or word not in (b"ok", b"ng"):
            continue
        if word == b"ok":
            return True
        reason = from_output(b"[remote rejected] (" + why + b")", pushing=True).reason
        return {Reason.REF_MOVED: True, Reason.BRANCH_PROTECTED: False}.get(Reason(reason))
    return None


def _answers(remote: Remote, body: bytes) -> Iterable[bytes]:
    if is_ssh(remote.url):
        return ssh_service.received(remote, body, LOOKUP_SECONDS)
    return _lines(_ask(remote, "POST", f"/{_SERVICE}", body))


def _lines(answer: bytes) -> Iterator[bytes]:
    """The lines of git's protocol in an answer, as far as they can be read."""
    at = 0
    while at + 4 <= len(answer):
        try:
            length = int(answer[at : at + 4], 16)
        except ValueError:
            return
        yield answer[at + 4 : at + length]
        at += max(length, 4)


def _ask(remote: Remote, method: str, path: str, body: bytes | None = None) -> bytes:
    """The beginning of the answer. No redirect is followed. Raises GitError.

    Asked beside us: a server that says a byte now and then never runs into the time of a read.
    """
    url, found = remotes.https_address(remote.url), SimpleQueue[bytes | Exception]()

    def asks() -> None:
        try:
            found.put(_asked(remote, url, method, path, body))
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            found.put(error)

    threading.Thread(target=asks, daemon=True).start()
    try:
        answer = found.get(timeout=LOOKUP_SECONDS)
    except Empty:
        words = f"git receive-pack took over {LOOKUP_SECONDS:.0f} s"
        raise unreachable(url.hostname or "", words) from None
    if not isinstance(answer, bytes):
        raise answer
    return answer


def _asked(remote: Remote, url: SplitResult, method: str, path: str, body: bytes | None) -> bytes:
    assert url.hostname is not None
    connection, proxy = _connection(remote, url)
    try:
        try:
            connection.connect()
        except socket.gaierror as failure:
            whose = "proxy" if proxy else "host"
            raise unreachable(url.hostname, f"Could not resolve {whose}: {failure}") from failure
        target = url.path.rstrip("/") + path
        connection.request(method, target, body, dict(_headers(remote, body is not None)))
        answer = connection.getresponse()
        return _taken(answer.status, answer.read(_MOST_BYTES))
    except (OSError, http.client.HTTPException) as failure:
        words = f"{type(failure).__name__}: {failure}"
        raise unreachable(url.hostname, words) from failure
    finally:
        connection.close()


def _connection(remote: Remote, url: SplitResult) -> tuple[http.client.HTTPSConnection, bool]:
    """To the server, and whether it goes through a proxy, which is told its host and port alone.
    Raises GitError."""
    assert url.hostname is not None
    proxy = urls.proxy_of(remote.url, os.environ)
    through = urlsplit(proxy) if proxy else url
    assert through.hostname is not None
    connection = http.client.HTTPSConnection(
        through.hostname,
        through.port or (http.client.HTTP_PORT if proxy else None),
        timeout=LOOKUP_SECONDS,
        context=_trust(remote),
    )
    if proxy:
        connection.set_tunnel(url.hostname, url.port or http.client.HTTPS_PORT)
    return connection, proxy is not None


def _taken(status: int, answer: bytes) -> bytes:
    if status == http.HTTPStatus.OK:
        return answer
    refused = status in (401, 403, 404)
    reason = Reason.CREDENTIAL_REFUSED if refused else Reason.REPOSITORY_UNREACHABLE
    raise GitError(reason, f"the git server answers {status} to a push")


def _trust(remote: Remote) -> ssl.SSLContext:
    """The given authority alone, or those of the system; and those that our program is told of
    besides. Raises GitError."""
    try:
        return with_more(ssl.create_default_context(cafile=remote.ca_file))
    except OSError as error:
        text = f"{UNTRUSTED}: its authorities cannot be read: {type(error).__name__}"
        raise GitError(Reason.REPOSITORY_UNREACHABLE, text) from None


def _headers(remote: Remote, posts: bool) -> Mapping[str, str]:
    headers = {"User-Agent": "bernstein"}
    if posts:
        headers["Content-Type"] = f"application/x-{_SERVICE}-request"
        headers["Accept"] = f"application/x-{_SERVICE}-result"
    if remote.credential_dir is not None:
        pair = ":".join(_line(remote.credential_dir, name) for name in (USERNAME, PASSWORD))
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return headers


def _line(folder: str, name: str) -> str:
    """A file of the account, of one line; more lines never reach a header."""
    lines = (Path(folder) / name).read_text().splitlines()
    if len(lines) != 1:
        text = f"'{name}' of the account '{Path(folder).name}' has not one line"
        raise GitError(Reason.REPOSITORY_AUTH_FAILED, text)
    return lines[0]
