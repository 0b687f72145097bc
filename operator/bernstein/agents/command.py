"""Starting a CLI whose key lies in a file although the CLI takes it only from its environment."""

from __future__ import annotations

from collections.abc import Sequence

KEY_VARIABLE = "MODEL_API_KEY"


def with_key(
    argv: Sequence[str], key_file: str | None, *, before: Sequence[str] = ()
) -> tuple[str, ...]:
    """`argv`, started by `sh` after the commands `before` and with the key in `MODEL_API_KEY`.

    So the key stands neither in a pod's specification nor in anything the operator reads. Nothing
    of `argv` or of the file's name is parsed by the shell; `before` is.
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
