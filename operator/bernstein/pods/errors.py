"""Why a program of ours in a pod could not do its work."""

from __future__ import annotations

from bernstein.api.programs.forge_jobs import AskedForge


class PodError(Exception):
    """An expected failure; it becomes the `Failure` in the termination message.

    `reason` is stable and CamelCase, `message` is plain words; the remedy is that of the reason.
    `asked`: where it asks a forge.
    """

    def __init__(self, reason: str, message: str, asked: AskedForge | None = None) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.asked = asked


class Terminated(BaseException):
    """The pod is being stopped. It is no Exception, so that no `except Exception` takes it for a
    step that failed."""
