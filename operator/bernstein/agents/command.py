"""Starts a CLI that reads its key from the environment, with a key that is in a file."""

from __future__ import annotations

from collections.abc import Sequence

KEY_VARIABLE = "MODEL_API_KEY"


def with_key(
    argv: Sequence[str], key_file: str | None, *, before: Sequence[str] = ()
) -> tuple[str, ...]:
    """A command line by which `sh` runs the commands `before`, reads the key into `MODEL_API_KEY`,
    and then starts `argv`.

    So the key is neither in the pod's spec nor in anything else that the operator reads. The shell
    parses `before`, but nothing of `argv` or of the file's name.
    """
    steps = [*before]
    arguments = list(argv)
    if key_file is not None:
        steps += [f'{KEY_VARIABLE}=$(cat "$1")', f"export {KEY_VARIABLE}", "shift"]
        arguments = [key_file, *arguments]
    if not steps:
        return tuple(argv)
    script = "; ".join(["set -eu", *steps, 'exec "$@"'])
    return ("sh", "-c", script, "sh", *arguments)
