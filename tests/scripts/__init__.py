"""Scripts as people have them, byte for byte."""

from __future__ import annotations

from pathlib import Path

TASK_LIFECYCLE = Path(__file__).with_name("task_lifecycle.sh")
"""Adds a Task, waits for it, decides where it is asked to, and merges: the contract for scripts."""
