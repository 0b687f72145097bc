"""What `quality_gates` of a `bernstein.yaml` says, as the gates of a Project.

Every key is translated, or told with why and with what to do: a gate that is left out in silence
would be believed to judge. Nothing here reads a file or a cluster.
"""

from __future__ import annotations

from bernstein.cli.local.gates.notes import Note
from bernstein.cli.local.gates.translation import Translation, translate

__all__ = ["Note", "Translation", "translate"]
