"""Prompts that `checkout` puts together of a repository on the test's server."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api import encoding
from bernstein.api.pod import TERMINATION_FEW, CheckoutConfig, CheckoutResult, PromptConfig
from bernstein.api.session import Prompt
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import Told
from bernstein.core.prompts.parts import Part
from bernstein.core.sessions.given import of_checkout
from bernstein.pods.git.patch import Rejected
from bernstein.pods.programs import checkout
from tests.programs.pods.conftest import Origin

Files = dict[str, bytes | str | None]
WORK = "refs/bernstein/0/task/s1"
TEXTS = {
    parts.HEAD: "Task: Do it\nAttempt: 1\nRole: backend",
    parts.DESCRIPTION: "Well.",
    parts.RULES: "Work here.",
}
CUT_OFF = TEXTS | {
    parts.NOTES: "Mind the gap.",
    parts.RESUMED: "The files are there already.",
    parts.AFRESH: "The files could not be taken over.",
    parts.FINDINGS: "F401",
}
"""Of who was to go on from a checkpoint."""


@dataclasses.dataclass
class Prompts:
    """Checks out, and reads the prompt that was left."""

    origin: Origin
    config: dict[str, Any]
    folder: Path
    result: CheckoutResult | None = None
    content: dict[str, str] = dataclasses.field(default_factory=dict)
    """Of the ConfigMap."""

    def of(
        self,
        *context: str,
        texts: dict[Part, str] = TEXTS,
        rejected: Rejected | None = None,
        resume: str | None = None,
        told: Iterable[Told] = (),
    ) -> str:
        given = self.folder / "session"
        given.mkdir(parents=True)
        (self.folder / "prompt").mkdir()
        self.content = parts.data(texts, context) | knowledge.data(told)
        for name, text in self.content.items():
            (given / name).write_bytes(text.encode())
        prompt = PromptConfig(
            parts=str(given),
            to=str(self.folder / "prompt" / "prompt.md"),
            git_dir=str(self.folder / "base" / "rejected.git"),
            rejected_ref=rejected.ref if rejected else None,
            rejected_sha=rejected.sha if rejected else None,
        )
        self.result = checkout.run(
            CheckoutConfig(
                **self.config | {"worktree_git": True, "prompt": prompt, "resume": resume}
            )
        )
        assert not (self.folder / "base" / "rejected.git").exists()
        data = (self.folder / "prompt" / "prompt.md").read_bytes()
        assert len(data) <= PROMPT_BYTES
        assert self.result.prompt is not None
        assert self.result.prompt.digest == hashlib.sha256(data).hexdigest()
        assert self.result.prompt.size == len(data)
        assert len(encoding.dump(self.result)) <= TERMINATION_FEW
        assert encoding.load(CheckoutResult, encoding.dump(self.result)) == self.result
        return data.decode()

    @property
    def given(self) -> Prompt:
        """What the session's status has of it."""
        assert self.result is not None
        told = of_checkout(self.result)
        assert told is not None
        return told

    def rejected(self, files: dict[str, bytes | str | None], *, base: str) -> str:
        """The prompt of who begins at `base`, where the attempt before left `files`."""
        sha = self.origin.commit(files, base, ref=WORK)
        return self.of(rejected=Rejected(WORK, sha))


def word_of(text: str) -> str:
    return text.splitlines()[0].split()[2]


def block(text: str, title: str) -> str:
    """What stands between the marks of this title."""
    word = re.escape(word_of(text))
    found = re.search(
        rf"^----- {word} begin: {re.escape(title)} -----\n(.*?)\n?----- {word} end: ",
        text,
        re.DOTALL | re.MULTILINE,
    )
    assert found is not None, f"no {title} in {text}"
    return found[1]
