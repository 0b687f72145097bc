"""What a machine's Docker engine can do; only asked, never changed but for pulled images."""

from __future__ import annotations

import subprocess

from tests.cluster.machine.packages import find_program, program
from tests.cluster.progress import step


def client() -> str:
    """The client that kind itself uses: the first on the PATH."""
    return program("docker")


def usable(image: str) -> bool:
    """Whether Docker's engine answers, and the image is there or can be pulled."""
    if find_program("docker") is None or not succeeds([client(), "info"], timeout=10):
        return False
    if succeeds([client(), "image", "inspect", image], timeout=10):
        return True
    with step(f"pulling {image}"):
        return succeeds([client(), "pull", "--quiet", image], timeout=600)


def succeeds(command: list[str], timeout: float) -> bool:
    """Whether a command ends with 0 in time."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
