"""Programs that run in the Project's image, beside its tools: each is one file that imports nothing
of ours. Checkout lays it where the gate's command finds it.

They run with whatever Python 3.9 and above the image has.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def file(name: str) -> Path:
    """The file of this program."""
    return FOLDER / f"{name}.py"
