"""Gate `auto_format`: the files that the work has changed are formatted before they are judged."""

from __future__ import annotations

from bernstein.checks.gate import Formats, Gate
from bernstein.checks.linter_files import LINTER_FILES

_BY = """by() {
grep -E "$1" "$CHANGED" >"$TMPDIR/these" || return 0
if ! command -v "$2" >/dev/null; then echo "no $2 in the image: $(wc -l <"$TMPDIR/these") passed over"; return 0; fi
shift 2
tr '\\n' '\\0' <"$TMPDIR/these" | xargs -0 "$@" || failed=1
}
failed=0"""  # noqa: E501 - a line of the shell's
_WEB = "[cm]?[jt]sx?|vue|s?css|less|html|json5?|graphql|mdx?|ya?ml"
_RUST = """sh -c 'rustfmt --edition 2021 <"$1" >"$TMPDIR/new" && cat "$TMPDIR/new" >"$1"' sh"""
_FORMATTERS = (
    (r"\.pyi?$", "ruff", "ruff format --no-cache --force-exclude"),
    (rf"\.({_WEB})$", "prettier", "prettier --write --log-level warn --ignore-unknown"),
    (r"\.go$", "gofmt", "gofmt -w"),
    # Of a file that it opens itself it would format all modules, too.
    (r"\.rs$", "rustfmt", f"-n 1 {_RUST}"),
)
"""What the names of files end in, what formats them, and how `xargs` calls that."""

_CALLS = (f"by '{ends}' {program} {words}" for ends, program, words in _FORMATTERS)

GATE = Gate(
    name="auto_format",
    condition="any_changed",
    default_on=False,
    runs=Formats("\n".join((_BY, *_CALLS, "exit $failed")), pinned=LINTER_FILES),
    required=False,
)
