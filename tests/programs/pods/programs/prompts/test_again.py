"""Out of a clone the command line puts together the very bytes that an agent was given."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.api.verification import RejectedWork
from bernstein.cli.local import prompts as local
from bernstein.cli.local.prompts import Asked, Lacking
from bernstein.core.prompts.assembly import Assembled
from bernstein.pods.git.patch import Rejected
from tests.programs.pods.git_server import plain_env
from tests.programs.pods.programs.prompts.given import CUT_OFF, WORK, Files, Prompts, block, word_of

HEADS = "+refs/*:refs/origin/*"


@pytest.fixture
def clone(prompts: Prompts, tmp_path: Path) -> Callable[..., Path]:
    """Makes a clone; its owner has settings and attributes that show changes otherwise."""

    def made(*options: str, refspec: str = HEADS) -> Path:
        folder = tmp_path / f"clone-{secrets.token_hex(4)}"
        git(tmp_path, "init", "--quiet", str(folder))
        git(folder, "fetch", "--quiet", *options, f"file://{prompts.origin.path}", refspec)
        for setting in ("diff.noprefix", "diff.renames", "color.ui", "core.quotePath"):
            git(folder, "config", setting, "always" if setting == "color.ui" else "true")
        git(folder, "config", "core.abbrev", "40")
        git(folder, "config", "diff.shout.textconv", f"touch {tmp_path}/ran;")
        (folder / ".git" / "info" / "attributes").write_text("*.py diff=shout\n*.md -diff\n")
        return folder

    return made


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), *arguments], env=plain_env(), check=True, capture_output=True
    )


def again(prompts: Prompts, folder: Path | None, rejected: Rejected | None = None) -> Assembled:
    """The prompt as the command line puts it together."""

    async def made() -> Assembled:
        work = RejectedWork(ref=rejected.ref, sha=rejected.sha) if rejected else None
        found = await local.find(str(folder)) if folder is not None else None
        return await local.put_together(Asked(prompts.content, prompts.given, work), found)

    return asyncio.run(made())


def test_the_same_bytes_come_out_of_a_clone(
    prompts: Prompts, clone: Callable[..., Path], tmp_path: Path
) -> None:
    hard = "\ttab, blanks at the end  \n\r\nß\u202e\U0001f600\n\n\n"
    files: Files = {"a.py": f"a = 1\n{hard}", "b.md": "b\n", "link": "->a.py", "latin": b"\xe9"}
    base = prompts.origin.commit(files, ref="refs/heads/main")
    left: Files = {"a.py": "a = 2\n", "b.md": "B\n", ".gitattributes": "* -diff\n", "c": b"\0"}
    rejected = Rejected(WORK, prompts.origin.commit(left, base, ref=WORK))
    given = prompts.of("a.py", "link", "latin", "absent", rejected=rejected)
    prompts.origin.commit({"a.py": "moved on\n"}, base, ref="refs/heads/main")

    made = again(prompts, clone(), rejected)

    assert made.text == given
    assert hashlib.sha256(made.text.encode()).hexdigest() == prompts.given.digest
    assert prompts.given.parts == made.sizes
    assert "+a = 2" in block(given, "rejected change").splitlines()
    assert not (tmp_path / "ran").exists()


def test_a_patch_has_nothing_that_depends_on_what_else_a_repository_holds(
    prompts: Prompts,
) -> None:
    base = prompts.origin.commit({"a": "1\n", "index-1": "1\n"}, ref="refs/heads/main")

    shown = block(
        prompts.rejected({"a": "index 0000000..1111111\n", "index-1": "2\n"}, base=base),
        "rejected change",
    )

    assert "+index 0000000..1111111" in shown.splitlines()
    assert "+++ b/index-1" in shown.splitlines()
    assert not any(row.startswith("index ") for row in shown.splitlines())


def test_what_has_no_room_is_cut_alike(prompts: Prompts, clone: Callable[..., Path]) -> None:
    files: Files = {f"{n}.txt": f"{n}\n" * (10_000 + n) for n in range(1, 9)}
    base = prompts.origin.commit(files, ref="refs/heads/main")
    change = prompts.origin.commit({"1.txt": "word\n" * 40_000}, base, ref=WORK)
    rejected = Rejected(WORK, change)
    given = prompts.of(*files, rejected=rejected)

    made = again(prompts, clone(), rejected)

    assert made.text == given
    assert made.cut == prompts.given.cut
    assert made.cut


def test_a_mark_that_a_file_holds_is_no_mark_of_either(
    prompts: Prompts, clone: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["a" * 24, "b" * 24])
    monkeypatch.setattr(secrets, "token_hex", lambda _bytes: next(drawn))
    prompts.origin.commit({"a": f"----- {'a' * 24} end: file a -----\n"}, ref="refs/heads/main")
    given = prompts.of("a")
    monkeypatch.undo()

    assert (word_of(given), prompts.given.mark) == ("b" * 24, "b" * 24)
    assert again(prompts, clone()).text == given


@pytest.mark.parametrize("how", ["there", "conflict", "gone"])
def test_who_was_to_go_on_from_a_checkpoint_was_told_what_is_shown(
    prompts: Prompts, clone: Callable[..., Path], how: str
) -> None:
    first = prompts.origin.commit({"a.txt": "1\n"})
    tip = prompts.origin.commit({"a.txt": "theirs\n"}, first, ref="refs/heads/main")
    base = first if how == "conflict" else tip
    sha = prompts.origin.commit({"a.txt": "mine\n"}, base, ref=WORK if how != "gone" else None)
    rejected = Rejected(WORK, sha)
    given = prompts.of("a.txt", texts=CUT_OFF, rejected=rejected, resume=WORK)

    assert again(prompts, clone(), rejected).text == given
    missing = {"there": None, "conflict": None, "gone": "RefNotFound"}
    assert prompts.given.change_missing == missing[how]


def test_a_change_that_was_not_shown_is_not_shown_here_either(
    prompts: Prompts, clone: Callable[..., Path]
) -> None:
    base = prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    rejected = Rejected(WORK, prompts.origin.commit({"a": "2\n"}, base, ref="refs/heads/kept"))
    prompts.origin.commit({"a": "forged\n"}, base, ref=WORK)
    given = prompts.of("a", rejected=rejected)

    assert prompts.given.change_missing == "RefMoved"
    assert again(prompts, clone(), rejected).text == given


def test_what_needs_no_commit_needs_no_clone(prompts: Prompts) -> None:
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    given = prompts.of()

    assert again(prompts, None).text == given


def test_a_clone_is_found_from_a_folder_in_it_and_from_a_worktree_beside_it(
    prompts: Prompts, clone: Callable[..., Path], tmp_path: Path
) -> None:
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    given = prompts.of("a")
    folder = clone()
    (folder / "deep").mkdir()
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "beside"), "refs/origin/heads/main")

    assert again(prompts, folder / "deep").text == given
    assert again(prompts, tmp_path / "beside").text == given


def test_commits_that_a_clone_lacks_are_named(prompts: Prompts, clone: Callable[..., Path]) -> None:
    old = prompts.origin.commit({"a": "0\n"}, ref="refs/heads/old")
    base = prompts.origin.commit({"a": "1\n"}, old, ref="refs/heads/main")
    rejected = Rejected(WORK, prompts.origin.commit({"a": "2\n"}, base, ref=WORK))
    given = prompts.of("a", rejected=rejected)
    without = clone(refspec="+refs/heads/old:refs/heads/old")
    shallow = clone("--depth=1")

    for folder, lacks in ((without, (base, rejected.sha)), (shallow, (rejected.sha,))):
        with pytest.raises(Lacking) as raised:
            again(prompts, folder, rejected)
        assert raised.value.commits == lacks
    assert asyncio.run(local.find(str(shallow))).is_shallow

    git(shallow, "fetch", "--quiet", "--unshallow", f"file://{prompts.origin.path}", HEADS)
    assert again(prompts, shallow, rejected).text == given


def test_a_partial_clone_lacks_contents_and_is_asked_for_no_more_than_it_has(
    prompts: Prompts, clone: Callable[..., Path]
) -> None:
    prompts.origin.git("config", "uploadpack.allowFilter", "true")
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    given = prompts.of("a")
    folder = clone("--filter=blob:none")

    assert asyncio.run(local.find(str(folder))).is_partial
    assert again(prompts, folder).text != given


def test_another_release_told_no_mark_and_nothing_else_comes_out_for_it(
    prompts: Prompts, clone: Callable[..., Path]
) -> None:
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    given = prompts.of("a")
    told = prompts.given.model_copy(update={"mark": "f" * 24})

    async def other() -> Assembled:
        found = await local.find(str(clone()))
        return await local.put_together(Asked(prompts.content, told, None), found)

    text = asyncio.run(other()).text
    assert text != given
    assert text.replace("f" * 24, word_of(given)) == given
