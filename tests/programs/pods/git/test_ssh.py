"""Our git over SSH, against the SSH server of a real Gitea: accounts, host keys, and no way around
what it is told."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bernstein.api.pod import Remote
from bernstein.api.programs.probe import ProbeConfig, ProbeResult
from bernstein.core.sanitise import without_quotes
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git import permission, remotes
from bernstein.pods.programs import probe
from tests.gitea import Gitea, gitea, ssh_key
from tests.unit.api.addresses import REFUSED

OWNER = "ann"
MAIN = "refs/heads/main"
REF = "refs/bernstein/1111222233334444/probe"
WORK = "refs/bernstein/1111222233334444/work/s1"
ACCOUNTS = {"read": True, "work": False, "deliver": False}
"""Deploy keys, and whether each may only read."""
_numbers = itertools.count()


@dataclass
class Hosted:
    """A repository on the forge, and an account's files for each of its deploy keys."""

    server: Gitea
    name: str
    folder: Path

    @property
    def url(self) -> str:
        return self.server.ssh_url(OWNER, self.name)

    def remote(self, account: str, url: str | None = None) -> Remote:
        return Remote(url or self.url, str(self.folder / account))

    def account(self, name: str, known_hosts: str | None = None) -> str:
        """Makes the files of an account with a new key; returns the public half."""
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        public = ssh_key(folder / "ssh-privatekey")
        (folder / "ssh-privatekey.pub").unlink()
        (folder / "known_hosts").write_text(
            self.server.known_hosts if known_hosts is None else known_hosts
        )
        return public

    def deploy_key(self, title: str, key: str, *, read_only: bool) -> None:
        path = f"/repos/{OWNER}/{self.name}/keys"
        self.server.api("POST", path, user=OWNER, title=title, key=key, read_only=read_only)

    def git(self, account: str, at: str = "own.git", **remote: str) -> git.Git:
        folder = git.init_bare(self.folder / at).git_dir
        return git.Git(folder, replace(self.remote(account), **remote))

    def protect(self) -> None:
        rule = {"branch_name": "main", "enable_push": False}
        path = f"/repos/{OWNER}/{self.name}/branch_protections"
        self.server.api("POST", path, user=OWNER, **rule)

    def probe(self, account: str) -> ProbeResult:
        config = ProbeConfig(
            remote=self.remote(account),
            account=account,
            branch="main",
            secret=f"git-{account}",
            config_map="",
            git_dir=str(self.folder / f"{account}.git"),
            ref=REF if account == "work" else None,
        )
        return probe.run(config)

    def refs(self) -> str:
        folder = self.server.folder / "repositories" / OWNER / f"{self.name}.git"
        asked = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), "for-each-ref"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def server() -> Iterator[Gitea]:
    with gitea(ssh=True) as server:
        server.add_user(OWNER)
        yield server


@pytest.fixture
def hosted(server: Gitea, tmp_path: Path) -> Hosted:
    name = f"app-{next(_numbers)}"
    server.repository(OWNER, name)
    found = Hosted(server, name, tmp_path)
    for account, read_only in ACCOUNTS.items():
        found.deploy_key(account, found.account(account), read_only=read_only)
    return found


def failure(do: Callable[[], object]) -> PodError:
    with pytest.raises(PodError) as found:
        do()
    return found.value


def test_what_is_fetched_with_one_key_is_pushed_with_another(hosted: Hosted) -> None:
    reads = hosted.git("read")
    tip = reads.read_ref(MAIN)
    assert tip is not None
    reads.fetch([f"{MAIN}:{MAIN}"], depth=1)
    reads.expect_at("main", tip)

    works = hosted.git("work")
    works.push(WORK, tip, None)
    works.push_with(REF, tip, None, f"{WORK}-beside", tip)
    assert reads.read_refs(WORK, REF, f"{WORK}-beside") == [tip] * 3

    later = hosted.server.commit(OWNER, hosted.name, "a.txt", "a\n", branch="main")
    reads.fetch([f"{MAIN}:{MAIN}"])
    assert failure(lambda: works.push(WORK, later, "1" * 40)).reason == "RefMoved"


def test_a_key_that_may_only_read_does_not_push(hosted: Hosted) -> None:
    reads = hosted.git("read")
    tip = reads.read_ref(MAIN)
    assert tip is not None
    reads.fetch([f"{MAIN}:{MAIN}"])
    refs = hosted.refs()

    refused = failure(lambda: reads.push(WORK, tip, None))
    assert refused.reason == "CredentialRefused"
    assert hosted.refs() == refs


def test_a_key_that_the_server_does_not_know_is_refused_and_the_account_is_named(
    hosted: Hosted,
) -> None:
    hosted.account("stranger")
    found = failure(lambda: hosted.git("stranger").read_ref(MAIN))
    assert found.reason == "RepositoryAuthFailed"
    assert "the account 'stranger'" in without_quotes(found.message)


def test_what_is_no_key_is_refused_like_a_wrong_one(hosted: Hosted) -> None:
    (hosted.folder / "read" / "ssh-privatekey").write_text("no key at all\n")
    assert failure(lambda: hosted.git("read").read_ref(MAIN)).reason == "RepositoryAuthFailed"


@pytest.mark.parametrize("end", [b"\r\n", b"\r"], ids=["every line", "the last line"])
def test_a_key_with_line_ends_of_windows_works_or_is_told(hosted: Hosted, end: bytes) -> None:
    """Which of both is up to the ssh that is there."""
    file = hosted.folder / "read" / "ssh-privatekey"
    key = file.read_bytes()
    file.write_bytes(key.replace(b"\n", end) if end == b"\r\n" else key.rstrip() + end)
    reads = hosted.git("read")
    answer: str | None = ""
    with contextlib.suppress(PodError):
        answer = reads.read_ref(MAIN)
    if answer == "":
        found = failure(lambda: reads.read_ref(MAIN))
        assert found.reason == "RepositoryAuthFailed"
        told = "'ssh-privatekey' in its Secret has lines that end with a carriage return"
        assert told in without_quotes(found.message)
    else:
        assert answer


def test_a_repository_of_others_is_not_shown_to_the_key(hosted: Hosted, server: Gitea) -> None:
    other = f"other-{hosted.name}"
    server.api("POST", f"/admin/users/{OWNER}/repos", name=other, auto_init=True, private=True)
    url = server.ssh_url(OWNER, other)
    found = failure(lambda: hosted.git("read", url=url).read_ref(MAIN))
    assert found.reason == "RepositoryAuthFailed", found.message


@pytest.mark.parametrize("known", ["none", "another", "of another host", "a file that is empty"])
@pytest.mark.parametrize("asks", ["git", "permission"])
def test_a_host_key_that_is_not_known_ends_it_before_the_key_is_offered(
    hosted: Hosted, tmp_path: Path, known: str, asks: str
) -> None:
    at = f"[{hosted.server.host}]:{hosted.server.ssh_port}"
    lines = {
        "none": "# nobody\n",
        "another": f"{at} {ssh_key(tmp_path / 'other')}\n",
        "of another host": hosted.server.known_hosts.replace(at, "[git.example]:22"),
        "a file that is empty": "",
    }
    (hosted.folder / "work" / "known_hosts").write_text(lines[known])

    found = failure(
        (lambda: hosted.git("work").read_ref(MAIN))
        if asks == "git"
        else lambda: permission.may_push_somewhere(hosted.remote("work"))
    )
    assert found.reason == "HostKeyUntrusted"
    ours = without_quotes(found.message)
    assert "known_hosts of the account 'work'" in ours
    assert hosted.server.host in ours
    assert (hosted.folder / "work" / "known_hosts").read_text() == lines[known]


def test_a_server_that_is_not_there_cannot_be_reached(hosted: Hosted) -> None:
    gone = {"url": f"ssh://git@127.0.0.1:1/{OWNER}/{hosted.name}.git"}
    assert failure(lambda: hosted.git("read", **gone).read_ref(MAIN)).reason == (
        "RepositoryUnreachable"
    )
    nowhere = {"url": f"ssh://git@host.invalid/{OWNER}/{hosted.name}.git"}
    found = failure(lambda: hosted.git("read", **nowhere).read_ref(MAIN))
    assert found.reason == "RepositoryUnreachable"
    assert "its name is not known here" in found.message


# --- the probe ----------------------------------------------------------------------------------


@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_account_that_does_what_it_is_for_is_sound_and_nothing_is_left_behind(
    hosted: Hosted, account: str
) -> None:
    hosted.protect()
    refs = hosted.refs()
    assert hosted.probe(account) == ProbeResult(too_strong=False)
    assert hosted.refs() == refs


def test_a_work_key_that_may_push_to_the_branch_is_too_strong(hosted: Hosted) -> None:
    refs = hosted.refs()
    assert hosted.probe("work") == ProbeResult(too_strong=True)
    assert hosted.refs() == refs


@pytest.mark.parametrize("account", ["work", "deliver"])
def test_a_key_that_may_only_read_is_too_weak_for_who_pushes(hosted: Hosted, account: str) -> None:
    hosted.account("weak")
    hosted.deploy_key("weak", _public(hosted.folder / "weak"), read_only=True)
    (hosted.folder / account).rename(hosted.folder / "unused")
    (hosted.folder / "weak").rename(hosted.folder / account)
    assert failure(lambda: hosted.probe(account)).reason == "CredentialRefused"


def test_a_secret_without_known_hosts_is_told(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "FILES_SECONDS", 0.0)
    (hosted.folder / "read" / "known_hosts").unlink()
    found = failure(lambda: hosted.probe("read"))
    assert (found.reason, found.message) == (
        "SecretNotFound",
        'secret "git-read" has no key known_hosts',
    )


def _public(folder: Path) -> str:
    asked = ["ssh-keygen", "-y", "-f", str(folder / "ssh-privatekey")]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


# --- no way around ------------------------------------------------------------------------------


def test_neither_settings_nor_an_agent_nor_other_keys_of_the_machine_are_used(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that a user's ssh would find here would let it in."""
    hosted.account("stranger")
    socket = tmp_path / "agent"
    agent = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not socket.exists():
            assert agent.poll() is None
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        added = ["ssh-add", "-q", str(hosted.folder / "work" / "ssh-privatekey")]
        subprocess.run(added, check=True, capture_output=True)
        monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {tmp_path}/started; ssh")
        monkeypatch.setenv("GIT_SSH", "/bin/false")
        own = hosted.git("stranger")
        with (own.git_dir / "config").open("a") as config:
            config.write(f'[core]\n\tsshCommand = "touch {tmp_path}/started; ssh"\n')
        assert failure(lambda: own.read_ref(MAIN)).reason == "RepositoryAuthFailed"
        weak = hosted.remote("stranger")
        refused = failure(lambda: permission.may_push_somewhere(weak))
        assert refused.reason == "CredentialRefused"
        assert not (tmp_path / "started").exists()
    finally:
        agent.terminate()
        agent.wait()


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_could_be_read_otherwise_is_never_used(tmp_path: Path, url: str) -> None:
    account = Remote(url, str(tmp_path))
    for use in (
        lambda: git.Git(tmp_path, account),
        lambda: permission.may_push_somewhere(account),
    ):
        assert failure(use).reason == "InvalidConfig"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("ssh://git.example/app.git", ("git", "git.example", 22, "/app.git")),
        ("ssh://ann@git.example:2222/team/app", ("ann", "git.example", 2222, "/team/app")),
        ("ssh://git@[2001:db8::1]:22/~ann/app.git", ("git", "2001:db8::1", 22, "/~ann/app.git")),
    ],
)
def test_an_address_for_ssh_is_taken_apart(url: str, found: tuple[str, str, int, str]) -> None:
    assert remotes.ssh_address(url) == found


def test_ssh_takes_a_key_of_root_that_its_group_may_read(hosted: Hosted) -> None:
    """As the kubelet lays out a Secret, and as the user of our pods reads it."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of root's for another user")
    key = hosted.folder / "read" / "ssh-privatekey"
    for folder in [key.parent, *key.parents[1:-2]]:
        folder.chmod(folder.stat().st_mode | 0o055)
    os.chown(key, 0, _GROUP)
    key.chmod(0o440)
    asked = ("ssh-keygen", "-y", "-f", str(key))
    done = _as_daemon(*asked)
    assert done.returncode == 0, done.stderr
    os.chown(key, _DAEMON, _GROUP)
    done = _as_daemon(*asked)
    assert b"bad permissions" in done.stderr


_DAEMON, _GROUP = 1, 1000
"""A user that every Debian has, since ssh works for nobody without a name; and a volume's group."""


def _as_daemon(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, user=_DAEMON, group=1, extra_groups=[_GROUP], capture_output=True, check=False
    )
