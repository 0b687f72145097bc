"""The page on clusters without the internet: its loop finds each archive and its name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "install-without-internet.md"


def test_images_are_copied_under_their_names_whatever_the_version(tmp_path: Path) -> None:
    consoles = (block.text for block in blocks("console") if block.page == PAGE)
    (command,) = (text for text in consoles if "skopeo" in text)
    (tmp_path / "images").mkdir()
    names = ("bernstein", "bernstein-agent-demo")
    for name in names:
        (tmp_path / f"images/{name}-1.0.0-rc.1.tar").touch()
    lines = [f"host.example.com:5000/team/{name}:1.0.0-rc.1@sha256:ab\n" for name in names]
    (tmp_path / "images.txt").write_text("".join(lines))
    skopeo = tmp_path / "skopeo"
    skopeo.write_text('#!/bin/sh\ntest -f "${4#oci-archive:}" && echo "$5"\n')
    skopeo.chmod(0o755)

    done = subprocess.run(
        ["bash", "-c", command.removeprefix("$ ")],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == [
        f"docker://registry.example.com/team/{name}:1.0.0-rc.1" for name in names
    ], done.stderr
