"""What a real Gitea calls merged, and whether git shows it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import Remote
from bernstein.api.programs.forge import (
    ForgeAddress,
    ProposeConfig,
    SeenPullRequest,
    WatchConfig,
)
from bernstein.api.programs.merge import LandConfig
from bernstein.pods.programs import land, propose, watch
from tests.background import wait_for
from tests.gitea import Gitea
from tests.programs.forges.repository import BOT, BRANCHES, OWNER, Repository

TLS = True


@dataclass
class Proposed:
    """Work on its branch, of which a pull request is open."""

    repository: Repository
    forge: ForgeAddress
    remote: Remote
    folder: Path
    pull: SeenPullRequest

    def seen(self) -> SeenPullRequest:
        """As the watch tells it, once it is not as it was."""
        (now,) = watch.run(
            WatchConfig(self.forge, (self.pull,), look_seconds=1, seconds=60)
        ).changed
        return now

    def closed(self) -> SeenPullRequest:
        """As the Job tells it that is to close it."""
        asked = ProposeConfig(
            self.forge, BRANCHES.head, BRANCHES.base, "", "", close=True, number=self.pull.number
        )
        return propose.run(asked).pull_request

    def sought(self) -> str:
        """What the Job says that looks for it on the branch, with the account that reads."""
        config = LandConfig(
            self.remote,
            ref=f"refs/pull/{self.pull.number}/head",
            sha=self.pull.sha,
            tree="",
            onto="refs/heads/main",
            expect=None,
            git_dir=str(self.folder / "own.git"),
            by_others=True,
        )
        return land.run(config).state

    def merge(self, number: int, **how: Any) -> None:
        """Gitea says for a while that it does not know yet whether it can."""
        server, name = self.repository.server, self.repository.name
        url = f"{server.url}/api/v1/repos/{OWNER}/{name}/pulls/{number}/merge"
        wait_for(lambda: server.ask("POST", url, OWNER, **how).is_success, 60)


@pytest.fixture
def proposed(server: Gitea, repository: Repository, tmp_path: Path) -> Proposed:
    assert server.certificate is not None
    (tmp_path / "ca.crt").write_text(server.certificate.ca)
    (tmp_path / "read").mkdir()
    (tmp_path / "read/username").write_text(BOT)
    (tmp_path / "read/password").write_text(server.token(BOT, "read:repository"))
    ca_file = str(tmp_path / "ca.crt")
    forge = ForgeAddress("gitea", repository.url, str(repository.token), ca_file=ca_file)
    remote = Remote(repository.url, str(tmp_path / "read"), ca_file)
    asked = ProposeConfig(forge, BRANCHES.head, BRANCHES.base, "Add a shop", "Verified.\n")
    return Proposed(repository, forge, remote, tmp_path, propose.run(asked).pull_request)


def test_one_that_somebody_has_marked_as_merged_is_on_no_branch(proposed: Proposed) -> None:
    repository, name = proposed.repository, proposed.repository.name
    repository.api("PATCH", "", allow_manual_merge=True, autodetect_manual_merge=False)
    other = repository.server.commit(OWNER, name, "other.py", "x = 1\n", branch="main")

    proposed.merge(proposed.pull.number, Do="manually-merged", MergeCommitID=other)

    now = proposed.seen()
    assert (now.state, now.sha) == ("Merged", repository.sha), "it takes somebody's word"
    assert proposed.closed().state == "Merged"
    assert proposed.sought() == "Moved"

    again = {"head": BRANCHES.head, "base": "main", "title": "The shop itself"}
    number = repository.api("POST", "/pulls", **again)["number"]
    proposed.merge(number, Do="squash")
    assert proposed.sought() == "Landed", "a merge that follows counts"


@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
def test_whichever_way_people_merge_it_the_branch_has_it(proposed: Proposed, way: str) -> None:
    """Beside what others have brought there, so that the branch moves."""
    repository = proposed.repository
    repository.server.commit(OWNER, repository.name, "other.py", "x = 1\n", branch="main")

    proposed.merge(proposed.pull.number, Do=way)

    assert proposed.closed().state == "Merged"
    assert proposed.sought() == "Landed"
    repository.api("DELETE", f"/branches/{BRANCHES.head.replace('/', '%2F')}")
    assert proposed.sought() == "Landed", "the forge keeps what was proposed"
