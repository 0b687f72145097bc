"""git as trusted code runs it, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.pod import Remote
from bernstein.core.sanitise import without_quotes
from bernstein.pods.git import client as git
from tests.background import wait_for
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import USERS, GitServer
from tests.programs.pods.test_launcher import lives

WORK = "refs/bernstein/01234567/task/s1"


@pytest.fixture
def repository(tmp_path: Path, origin: Origin) -> git.Git:
    """Our own repository with the origin as remote, as the user `work`."""
    git.init_bare(tmp_path / "own.git")
    return git.Git(tmp_path / "own.git", origin.remote("work"))


def reason(action: Callable[[], object]) -> str:
    with pytest.raises(git.GitError) as raised:
        action()
    return raised.value.reason


def test_fetches_reads_and_pushes_a_ref(repository: git.Git, origin: Origin) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    repository.fetch(["refs/heads/main:refs/heads/main"])
    assert repository.read_ref("main") == first
    assert repository.read_ref(WORK) is None
    repository.push(WORK, first, None)
    assert origin.tip(WORK) == first
    assert repository.read_ref(WORK) == first


def test_push_replaces_only_what_it_expects(repository: git.Git, origin: Origin) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    second = origin.commit({"a": "2"}, ref="refs/heads/other")
    repository.fetch(["refs/heads/*:refs/heads/*"])
    repository.push(WORK, first, None)
    assert reason(lambda: repository.push(WORK, second, None)) == "RefMoved"
    assert reason(lambda: repository.push(WORK, second, second)) == "RefMoved"
    assert origin.tip(WORK) == first
    repository.push(WORK, second, first)
    assert origin.tip(WORK) == second


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_a_branch_or_tag_of_the_whole_name_of_a_ref_is_told_and_never_pushed_to(
    repository: git.Git, origin: Origin, kind: str
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    second = origin.commit({"a": "2"}, first, ref="refs/heads/other")
    repository.fetch(["refs/heads/*:refs/heads/*"])
    foreign = f"refs/{kind}/{WORK}"
    origin.git("update-ref", foreign, first)

    def told(action: Callable[[], object]) -> str:
        with pytest.raises(git.GitError) as raised:
            action()
        assert raised.value.reason == "PushRejected"
        return without_quotes(raised.value.message)

    whose = f"a branch or tag whose own name is '{WORK}'"
    assert whose in told(lambda: repository.push(WORK, second, None))
    assert whose in told(lambda: repository.overwrite(WORK, second))
    assert origin.tip(foreign) == first, "git takes it for the ref, as that is not there"

    origin.git("update-ref", WORK, first)
    assert whose in told(lambda: repository.push(WORK, second, first))
    assert whose in told(lambda: repository.overwrite(WORK, second))
    assert (origin.tip(WORK), origin.tip(foreign)) == (first, first)


@pytest.mark.parametrize("kind", ["heads", "tags"])
@pytest.mark.parametrize("ref", ["refs/heads/gone", "refs/tags/v1", WORK])
def test_a_branch_or_tag_of_the_whole_name_of_a_ref_is_never_fetched_in_its_place(
    repository: git.Git, origin: Origin, ref: str, kind: str
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    foreign = f"refs/{kind}/{ref}"
    origin.commit({"a": "2"}, first, ref=foreign)
    spec = f"{ref}:{ref}"

    for specs in ([spec], ["refs/heads/main:refs/heads/main", spec]):
        with pytest.raises(git.GitError) as raised:
            repository.fetch(specs)
        assert raised.value.reason == "RefNotFound"
        assert f"asked for: {ref}; a branch or tag of that" in raised.value.message

    repository.fetch([f"{foreign}:{foreign}"])  # whoever asks for exactly that gets it
    origin.git("update-ref", ref, first)
    repository.fetch([spec], depth=1)
    assert repository.commit_id(ref) == first


def test_repeating_a_push_that_got_through_is_fine(repository: git.Git, origin: Origin) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    repository.fetch(["refs/heads/main:refs/heads/main"])
    repository.push(WORK, first, None)
    repository.push(WORK, first, None)
    assert origin.tip(WORK) == first


def test_of_many_pushers_at_once_exactly_one_wins(repository: git.Git, origin: Origin) -> None:
    base = origin.commit({"a": "0"}, ref="refs/heads/main")
    shas = [origin.commit({"a": str(i)}, base, ref=f"refs/heads/b{i}") for i in range(6)]
    repository.fetch(["refs/heads/*:refs/heads/*"])
    repository.push(WORK, base, None)
    outcomes: list[str] = []

    def push(sha: str) -> None:
        try:
            repository.push(WORK, sha, base)
            outcomes.append(sha)
        except git.GitError as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=push, args=(sha,)) for sha in shas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("RefMoved") == 5
    assert origin.tip(WORK) in outcomes


def test_a_shallow_repository_can_push_on_top(tmp_path: Path, origin: Origin) -> None:
    first = origin.commit({"a": "1"})
    second = origin.commit({"a": "2"}, first, ref="refs/heads/main")
    base = git.Git(git.init_bare(tmp_path / "base.git").git_dir, origin.remote("read"))
    base.fetch(["refs/heads/main:refs/heads/main"], depth=1)
    assert base.text("rev-list", "--count", second) == "1"
    own = git.init_bare(tmp_path / "own.git", alternates=[tmp_path / "base.git"])
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    env = dict.fromkeys(names, "x")
    tree = own.text("rev-parse", f"{second}^{{tree}}")
    third = own.run("commit-tree", tree, "-p", second, env=env).decode().strip()
    git.Git(own.git_dir, origin.remote("work")).push(WORK, third, None)
    assert origin.tip(f"{WORK}~2") == first


def test_a_server_that_lacks_the_history_of_a_push_is_not_called_unreachable(
    tmp_path: Path, origin: Origin, new_origin: Callable[[], Origin]
) -> None:
    first = origin.commit({"a": "1"})
    second = origin.commit({"a": "2"}, first, ref="refs/heads/main")
    own = git.init_bare(tmp_path / "own.git").git_dir
    git.Git(own, origin.remote("read")).fetch(["refs/heads/main:refs/heads/main"], depth=1)
    elsewhere = git.Git(own, new_origin().remote("work"))

    with pytest.raises(git.GitError) as raised:
        elsewhere.push(WORK, second, None)

    assert raised.value.reason == "PushRejected"
    assert "lacks history" in raised.value.message


@pytest.mark.parametrize(
    ("user", "action", "expected"),
    [
        (None, "read", "RepositoryAuthFailed"),
        ("read", "push", "CredentialRefused"),
        (None, "push", "CredentialRefused"),
        ("work", "push-main", "BranchProtected"),
        ("deliver", "push-protected", "BranchProtected"),
    ],
)
def test_refusals_have_their_reason(
    tmp_path: Path, origin: Origin, user: str | None, action: str, expected: str
) -> None:
    sha = origin.commit({"a": "1"}, ref="refs/heads/main")
    git.init_bare(tmp_path / "own.git")
    git.Git(tmp_path / "own.git", origin.remote("read")).fetch(["refs/heads/main:refs/heads/main"])
    repository = git.Git(tmp_path / "own.git", origin.remote(user))
    target = {"push-main": "refs/heads/new", "push-protected": "refs/heads/protected"}
    if action == "read":
        assert reason(lambda: repository.read_ref("main")) == expected
    else:
        assert reason(lambda: repository.push(target.get(action, WORK), sha, None)) == expected


@pytest.mark.parametrize("user", ["read", "deliver"])
def test_a_push_that_is_refused_is_told_with_its_account_and_the_ref(
    tmp_path: Path, origin: Origin, user: str
) -> None:
    sha = origin.commit({"a": "1"}, ref="refs/heads/main")
    secret = tmp_path / user
    own = git.init_bare(tmp_path / "own.git").git_dir
    remote = origin.remote(user)
    assert remote.credential_dir is not None
    secret.symlink_to(remote.credential_dir)
    repository = git.Git(own, replace(remote, credential_dir=str(secret)))
    repository.fetch(["refs/heads/main:refs/heads/main"])

    with pytest.raises(git.GitError) as raised:
        repository.push("refs/heads/protected", sha, None)

    ours = without_quotes(raised.value.message)
    assert f"the account '{user}'" in ours
    assert ours.endswith("to 'refs/heads/protected'")


def test_a_wrong_password_is_an_authentication_failure(tmp_path: Path, origin: Origin) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "username").write_text("read")
    (secret / "password").write_text("wrong-one")
    remote = Remote(origin.remote().url, str(secret), origin.server.ca_file)
    repository = git.Git(git.init_bare(tmp_path / "own.git").git_dir, remote)
    assert reason(lambda: repository.read_ref("main")) == "RepositoryAuthFailed"


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r"])
def test_a_line_end_of_a_password_is_not_sent(tmp_path: Path, origin: Origin, end: bytes) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")

    assert with_end(tmp_path, origin, end).read_ref("main")


def test_a_space_behind_a_password_is_sent_and_told(tmp_path: Path, origin: Origin) -> None:
    with pytest.raises(git.GitError) as raised:
        with_end(tmp_path, origin, b" \n").read_ref("main")

    assert raised.value.reason == "RepositoryAuthFailed"
    told = "'password' in its Secret has spaces or tabs at an end"
    assert without_quotes(raised.value.message).endswith(told)


def with_end(folder: Path, origin: Origin, end: bytes) -> git.Git:
    """With an account whose password ends so in its Secret."""
    known = origin.remote()
    secret = folder / "secret"
    shutil.copytree(str(known.credential_dir), secret)
    password = (secret / "password").read_bytes().rstrip()
    (secret / "password").write_bytes(password + end)
    remote = Remote(known.url, str(secret), origin.server.ca_file)
    return git.Git(git.init_bare(folder / "own.git").git_dir, remote)


def test_a_repository_that_the_server_does_not_show_is_an_authentication_failure(
    tmp_path: Path, origin: Origin
) -> None:
    """A forge answers alike whether it is not there or the account may not see it."""
    known = origin.remote()
    url = known.url.replace(origin.name, "absent")
    remote = Remote(url, known.credential_dir, origin.server.ca_file)
    absent = git.Git(git.init_bare(tmp_path / "own.git").git_dir, remote)
    assert reason(lambda: absent.read_ref("main")) == "RepositoryAuthFailed"


def test_a_missing_ref_host_or_ca_has_its_reason(
    tmp_path: Path, repository: git.Git, origin: Origin
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    assert reason(lambda: repository.fetch(["refs/heads/no:refs/heads/no"])) == "RefNotFound"
    url = origin.remote().url
    remotes = {
        "nobody listens": Remote("https://localhost:1/a.git"),
        "no such host": Remote("https://host.invalid/a.git"),
        "unknown CA": Remote(url, origin.remote().credential_dir, None),
    }
    for case, remote in remotes.items():
        broken = git.Git(tmp_path / "own.git", remote)
        assert reason(lambda b=broken: b.read_ref("main")) == "RepositoryUnreachable", case  # type: ignore[misc]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/a.git",
        "git://localhost/a.git",
        "file:///etc",
        "/srv/a.git",
        "ext::sh -c id",
        "https://user:secret@localhost/a.git",
        "https:///a.git",
    ],
)
def test_only_https_without_credentials_in_the_address(tmp_path: Path, url: str) -> None:
    assert reason(lambda: git.Git(tmp_path, Remote(url))) == "InvalidConfig"


@pytest.mark.parametrize("name", ["refs/heads/../x", "a b", "-x\n", "", "refs/heads/x.lock", "a:b"])
def test_nonsense_is_no_ref(name: str) -> None:
    assert reason(lambda: git.full_ref(name)) == "InvalidConfig"


def test_a_redirecting_server_does_not_get_the_credential(
    tmp_path: Path, origin: Origin, tmp_path_factory: pytest.TempPathFactory
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    trap = GitServer(tmp_path_factory.mktemp("trap"))
    (tmp_path / "both.pem").write_text(
        Path(origin.server.ca_file).read_text() + Path(trap.ca_file).read_text()
    )
    remote = Remote(origin.remote().url, origin.remote().credential_dir, str(tmp_path / "both.pem"))
    repository = git.Git(git.init_bare(tmp_path / "own.git").git_dir, remote)
    origin.server.redirect_to = f"https://127.0.0.1:{trap.port}"
    try:
        assert reason(lambda: repository.read_ref("main")) == "RepositoryUnreachable"
        assert trap.requests == []
        repository._settings["http.followRedirects"] = "true"
        with pytest.raises(git.GitError):
            repository.read_ref("main")
        assert trap.requests, "with the protection off the redirect is followed"
        assert all(request.authorization is None for request in trap.requests)
    finally:
        origin.server.redirect_to = None
        trap.close()


def test_the_credential_is_answered_for_its_repository_only(
    tmp_path: Path, new_origin: Callable[[], Origin]
) -> None:
    ours, other = new_origin(), new_origin()
    for each in (ours, other):
        each.commit({"a": "1"}, ref="refs/heads/main")
    repository = git.Git(git.init_bare(tmp_path / "own.git").git_dir, ours.remote())
    assert repository.read_ref("main")
    before = len(ours.server.requests)
    done = repository.complete("ls-remote", other.remote().url)
    assert done.code != 0
    assert b"could not read Username" in done.stderr
    assert [r.authorization for r in ours.server.requests[before:]] == [None]


def test_no_secret_in_arguments_environment_or_messages(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `git` in front of the real one writes down what every process can see of it."""
    sha = origin.commit({"a": "1"}, ref="refs/heads/main")
    seen = tmp_path / "seen"
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    real = subprocess.check_output(["sh", "-c", "command -v git"], text=True).strip()
    spy.write_text(
        f'#!/bin/sh\n(echo "$@"; env) >>{seen}\nGIT_TRACE={seen}.trace GIT_TRACE_CURL={seen}.trace'
        f' exec {real} "$@"\n'
    )
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-git")
    repository = git.Git(git.init_bare(tmp_path / "own.git").git_dir, origin.remote("work"))
    repository.fetch(["refs/heads/main:refs/heads/main"])
    with pytest.raises(git.GitError) as raised:
        repository.push("refs/heads/main2", sha, None)
    told = seen.read_text() + (tmp_path / "seen.trace").read_text() + raised.value.message
    assert "secrets/work/password" in told, "the spy sees where the secret is"
    assert "not-for-git" not in told
    assert not [secret for secret in USERS.values() if secret in told]


def test_settings_of_the_machine_and_of_the_user_do_not_count(
    tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = me\n[core]\n\thooksPath = /tmp\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'user.name=me'")
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    repository = git.init_bare(tmp_path / "own.git")
    assert repository.complete("config", "user.name").code == 1
    assert repository.text("config", "core.hooksPath") == "/dev/null"
    assert repository.text("config", "safe.bareRepository") == "explicit"


def test_a_hung_command_is_ended_with_all_its_children(tmp_path: Path) -> None:
    repository = git.init_bare(tmp_path / "own.git")
    child = tmp_path / "child"
    told = f"echo $! >{child}.new; mv {child}.new {child}"
    repository._settings["alias.hang"] = f"!sleep 600 & {told}; wait"
    for seconds in (0.5, 5, 50):  # until there was time enough to start it
        assert reason(lambda s=seconds: repository.run("hang", timeout=s)) == "InternalError"  # type: ignore[misc]
        if child.exists():
            break
    wait_for(lambda: not lives(int(child.read_text())))


@pytest.mark.parametrize(
    "hidden",
    ["*.py -diff\n", "*.py binary\n", "[attr]merge -diff\n", "[attr]x -diff\n*.py x\n"],
)
def test_attributes_in_a_tree_hide_nothing(tmp_path: Path, origin: Origin, hidden: str) -> None:
    first = origin.commit({".gitattributes": hidden, "a.py": "1\n"})
    second = origin.commit({"a.py": "1\nplanted\n"}, first, ref="refs/heads/main")
    git.init_bare(tmp_path / "own.git")
    repository = git.Git(tmp_path / "own.git", origin.remote())
    repository.fetch(["refs/heads/main:refs/heads/main"])
    index = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    repository.run("read-tree", second, env=index)

    def shown() -> str:
        attributes = repository.run("check-attr", "--cached", "diff", "--", "a.py", env=index)
        return attributes.decode().strip()

    assert shown() == "a.py: diff: set"
    (tmp_path / "own.git" / "info" / "attributes").write_text(git.ATTRIBUTES.splitlines()[-1])
    if hidden.startswith("[attr]merge"):
        assert shown() == "a.py: diff: unset", "a macro named like ours defeats the single line"
    (tmp_path / "own.git" / "info" / "attributes").unlink()
    if not hidden.startswith("[attr]merge"):
        assert shown() == "a.py: diff: unset", "fires with the protection off"


def test_old_flaws_are_fetched_and_dangerous_objects_are_not(
    repository: git.Git, origin: Origin
) -> None:
    tree = origin.tree({"a": "1"})
    old = f"tree {tree}\nauthor Ada <ada> 1 +051800\ncommitter Ada<ada> 1 +0000\n\nold\n"
    sha = origin.git(
        "hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=old.encode()
    )
    origin.git("update-ref", "refs/heads/old", sha)
    repository.fetch(["refs/heads/old:refs/heads/old"])
    assert repository.text("rev-parse", "refs/heads/old") == sha
    blob = origin.git("hash-object", "-w", "--stdin", input=b"[core]\n\tfsmonitor = id\n")
    inner = origin.git("mktree", input=f"100644 blob {blob}\tconfig\n".encode())
    raw = b"40000 .git\0" + bytes.fromhex(inner)
    outer = origin.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", input=raw)
    bad = origin.git("commit-tree", outer, "-m", "bad")
    origin.git("update-ref", "refs/heads/bad", bad)
    assert (
        reason(lambda: repository.fetch(["refs/heads/bad:refs/heads/bad"])) == "RepositoryInvalid"
    )
