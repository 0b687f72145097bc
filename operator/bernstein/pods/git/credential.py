"""git's credential helper: answers from files, and only for the repositories it is told of."""

from __future__ import annotations

import shlex
from pathlib import Path

from bernstein.api.programs.account import PASSWORD, USERNAME

_PROGRAM = """\
f() {{
  test "$1" = get || return 0
  protocol= host= path=
  while IFS= read -r line && test -n "$line"; do
    case "$line" in
      protocol=*) protocol=${{line#*=}} ;;
      host=*) host=${{line#*=}} ;;
      path=*) path=${{line#*=}} ;;
    esac
  done
  test "$protocol" = {protocol} && test "$host" = {host} || return 0
  for repository in {paths}; do
    test "$path" = "$repository" && answer && return
  done
  return 0
}}
answer() {{
  test "$(grep -c '' {folder}/username)$(grep -c '' {folder}/password)" = 11 || return 1
  printf 'username=%s\\n' "$(cat {folder}/username)"
  printf 'password=%s\\n' "$(cat {folder}/password)"
}}
f"""
"""In sh, which starts in a millisecond. `printf` is built into the shell, so that the secret is in
no process's arguments."""


def blanks(folder: str) -> str:
    """Which of the two files begin or end with a space or tab, in words; "": none. These are sent
    with the rest, and mostly nobody knows that they are there."""
    found = [name for name in (USERNAME, PASSWORD) if _has_blanks(Path(folder, name))]
    if not found:
        return ""
    whose = " and ".join(f"'{name}'" for name in found)
    return f"{whose} in its Secret {'have' if len(found) > 1 else 'has'} spaces or tabs at an end"


def _has_blanks(file: Path) -> bool:
    try:
        line = file.read_bytes().rstrip(b"\r\n")
    except OSError:
        return False
    return line != line.strip(b" \t")


def helper(folder: str, protocol: str, host: str, *paths: str) -> str:
    """Value of git's setting `credential.helper`: reads the files `username` and `password`, one
    line each, in `folder`.

    It answers only when git asks for exactly this `protocol`, `host` (with the port, if the address
    has one) and one of the `paths` (without slashes around them).
    """
    quoted = {"protocol": protocol, "host": host, "folder": folder}
    words = {name: shlex.quote(value) for name, value in quoted.items()}
    return "!" + _PROGRAM.format(**words, paths=shlex.join(paths))
