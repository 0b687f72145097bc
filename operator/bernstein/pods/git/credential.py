"""git's credential helper: answers from files, and only for the repositories it is told of."""

from __future__ import annotations

import base64
import shlex
from pathlib import Path

from bernstein.api.programs.account import PASSWORD, SSH_KEY, USERNAME

_OPENSSH, _OPEN = b"openssh-key-v1\0", b"\0\0\0\x04none"
"""How a key of OpenSSH's form begins, and what follows where no passphrase encrypts it."""

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


def oddities(folder: str) -> str:
    """What of an account's files is most likely not meant, in words; "": nothing. Of that, what
    refuses the login says no word."""
    found = [_oddity(name, _read(folder, name)) for name in (USERNAME, PASSWORD, SSH_KEY)]
    return ", ".join(filter(None, found))


def _read(folder: str, name: str) -> bytes:
    try:
        return Path(folder, name).read_bytes()
    except OSError:
        return b""


def _oddity(name: str, data: bytes) -> str:
    what = ""
    if name != SSH_KEY:
        line = data.rstrip(b"\r\n")
        what = "has spaces or tabs at an end" if line != line.strip(b" \t") else ""
    elif b"\r" in data:
        what = "has lines that end with a carriage return"
    elif data and not data.endswith(b"\n"):
        what = "does not end with a new line, as a key has to"
    elif _needs_passphrase(data):
        what = "has a passphrase, which nobody is there to type"
    return f"'{name}' in its Secret {what}" if what else ""


def _needs_passphrase(key: bytes) -> bool:
    """Of OpenSSH's own form, or of PEM."""
    if b"ENCRYPTED" in key:
        return True
    inside = b"".join(row for row in key.splitlines() if not row.startswith(b"-----"))
    try:
        start = base64.b64decode(inside)[: len(_OPENSSH) + len(_OPEN)]
    except ValueError:
        return False
    return start.startswith(_OPENSSH) and not start.endswith(_OPEN)


def helper(folder: str, protocol: str, host: str, *paths: str) -> str:
    """Value of git's setting `credential.helper`: reads the files `username` and `password`, one
    line each, in `folder`.

    It answers only when git asks for exactly this `protocol`, `host` (with the port, if the address
    has one) and one of the `paths` (without slashes around them).
    """
    quoted = {"protocol": protocol, "host": host, "folder": folder}
    words = {name: shlex.quote(value) for name, value in quoted.items()}
    return "!" + _PROGRAM.format(**words, paths=shlex.join(paths))
