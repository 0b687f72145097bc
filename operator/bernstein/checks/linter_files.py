"""Files that configure a linter or type checker: by their names, and those that these extend."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

_PYTHON = (
    *("ruff.toml", ".ruff.toml", "pyproject.toml", "setup.cfg", "tox.ini", ".flake8", ".pep8"),
    *("mypy.ini", ".mypy.ini", "pyrightconfig.json", "ty.toml", "pyrefly.toml", "pytype.toml"),
    *(".pyre_configuration", ".pyre_configuration.local", ".python-version", "radon.cfg"),
    *(".bandit", ".bandit.y*ml", "bandit.y*ml", "bandit.toml", ".isort.cfg", ".importlinter"),
    *("pylintrc", ".pylintrc", "pylintrc.toml", ".pylintrc.toml", ".pycodestyle", ".style.yapf"),
    *(".pydocstyle", ".pydocstyle.ini", ".prospector.y*ml", "prospector.y*ml"),
)
_ESLINT = (
    *(f"eslint.config.{suffix}" for suffix in ("js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f".eslintrc{suffix}" for suffix in ("", ".json", ".js", ".cjs", ".yaml", ".yml")),
    *(".eslintignore", "eslint-suppressions.json", "package.json"),
)
_SCRIPTS = (
    *("tsconfig*.json", "jsconfig*.json", ".flowconfig", "tslint.json", ".oxlintrc.json"),
    *(".oxlintrc.jsonc", "oxlint.config.ts", "biome.json", "biome.jsonc", ".biome.json"),
    *(".biome.jsonc", "deno.json", "deno.jsonc", "dprint.json", "dprint.jsonc", ".dprint.json"),
    *(f".prettierrc{suffix}" for suffix in ("", ".json", ".json5", ".yml", ".yaml", ".toml")),
    *(f".prettierrc.{suffix}" for suffix in ("js", "mjs", "cjs", "ts")),
    *(f"prettier.config.{suffix}" for suffix in ("js", "mjs", "cjs", "ts")),
    *(f".stylelintrc{suffix}" for suffix in ("", ".json", ".js", ".cjs", ".mjs", ".yaml", ".yml")),
    *(f"stylelint.config.{suffix}" for suffix in ("js", "mjs", "cjs", "ts")),
    *(".prettierignore", ".stylelintignore", ".htmlhintrc", ".jshintrc", ".jshintignore"),
    *(".xo-config", ".xo-config.json", ".xo-config.js", "xo.config.js", "xo.config.ts"),
)
_COMPILED = (
    *("clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "deny.toml", ".deny.toml"),
    *(f".golangci.{suffix}" for suffix in ("yml", "yaml", "toml", "json")),
    *("staticcheck.conf", "revive.toml", ".revive.toml", ".swiftlint.yml", ".swiftformat"),
    *(".clang-tidy", ".clang-format", ".clang-format-ignore", "CPPLINT.cfg", ".clangd"),
    *("checkstyle*.xml", "pmd*.xml", "spotbugs*.xml", "detekt*.yml", "detekt*.xml", "lint.xml"),
    *("lint-baseline.xml", ".scalafix.conf", ".scalafmt.conf", "scalastyle*.xml"),
    *("*.globalconfig", "*.ruleset", "stylecop.json", "analysis_options.yaml"),
)
_INTERPRETED = (
    *(".rubocop*.yml", ".standard*.yml", ".reek.yml", "phpcs.xml", "phpcs.xml.dist"),
    *(".phpcs.xml", ".phpcs.xml.dist", "phpstan*.neon", "phpstan*.dist", "phpstan-baseline.php"),
    *("psalm*.xml", "psalm.xml.dist", "phpmd.xml", "phpmd.xml.dist", ".php-cs-fixer.php"),
    *(".php-cs-fixer.dist.php", ".credo.exs", ".formatter.exs", ".dialyzer_ignore.exs"),
    *(".hlint.yaml", ".luacheckrc", ".luarc.json", "selene.toml", ".perlcriticrc", ".lintr"),
    *(".shellcheckrc", "shellcheckrc"),
)
_OTHERS = (
    *(".yamllint", ".yamllint.yaml", ".yamllint.yml", ".markdownlint*.json", ".mdlrc"),
    *(".markdownlint*.jsonc", ".markdownlint*.y*ml", ".markdownlintrc", ".markdownlintignore"),
    *(".textlintrc", ".textlintrc.json", ".textlintrc.y*ml", ".textlintignore", ".vale.ini"),
    *(".sqlfluff", ".sqlfluffignore", ".tflint.hcl", ".checkov.y*ml", ".trivyignore"),
    *("trivy.yaml", "buf.yaml", ".hadolint.y*ml", "hadolint.y*ml", "actionlint.y*ml"),
    *(".ansible-lint", ".ansible-lint.y*ml", ".ansible-lint-ignore", ".codespellrc"),
    *("typos.toml", ".typos.toml", "_typos.toml", ".gitleaks.toml", ".gitleaksignore"),
    *(".semgrepignore", ".semgrep.y*ml", ".secrets.baseline", ".mega-linter.yml", "trunk.yaml"),
    *(".pre-commit-config.yaml", ".editorconfig", ".gitignore", ".ignore"),
)

LINTER_FILES = (*_PYTHON, *_ESLINT, *_SCRIPTS, *_COMPILED, *_INTERPRETED, *_OTHERS)
"""Base names of files that configure a linter, or say what it ignores; `*` is any characters.

No `*` stands at an end: what is called so is taken out of the tree, and code must not be.
"""

_MOST_BYTES = 1_000_000
_STRING = rb"""(?:"[^"\n]{1,500}"|'[^'\n]{1,500}')"""
_EXTENDS = re.compile(
    rb"""["']?\b(?:extends?|inherit_from)["']?\s{0,20}[:=](?:"""
    rb"""\s{0,20}\[([^\]]{0,4000})\]"""  # a list
    rb"""|((?:[ \t]{0,20}\n[ \t]{0,20}-[^\n]{1,500}){1,50})"""  # a list of YAML
    rb"""|\s{0,20}([^\n,}]{1,500}))"""  # one
)
_IMPORT = re.compile(rb"""(?:\bfrom|\bimport|\brequire\s{0,5}\()\s{0,20}(""" + _STRING + rb")")
_WORD = re.compile(_STRING + rb"|[^\s,\[\]]{1,500}")
_MODULES = ("", ".js", ".mjs", ".cjs", ".ts", ".json", ".yml", ".yaml", "/index.js", "/index.ts")


def extended(path: str, content: bytes) -> frozenset[str]:
    """Paths of the repository that the configuration at `path` may take more from.

    Which of them there are is not known here. A name of a package is taken for a path, too.
    """
    if len(content) > _MOST_BYTES:
        return frozenset()
    named = _in_toml(content) if path.endswith(".toml") else _in_text(path, content)
    folder = posixpath.dirname(path)
    found: set[str] = set()
    for name in named:
        whole = posixpath.normpath(posixpath.join(folder, name))
        if not whole.startswith(("/", "../")) and whole != ".":
            found.update(f"{whole}{end}" for end in _MODULES)
    return frozenset(found)


def _in_toml(content: bytes) -> Iterator[str]:
    """What ruff's `extend` and pyright's `extends` name."""
    import tomllib  # every checkout loads this module, and few read such a file

    try:
        settings = tomllib.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    tool = settings.get("tool")
    tools = tool if isinstance(tool, dict) else {}
    for table, key in (
        *((settings, "extend"), (tools.get("ruff"), "extend")),
        (tools.get("pyright"), "extends"),
    ):
        if isinstance(table, dict) and isinstance(table.get(key), str):
            yield table[key]


def _in_text(path: str, content: bytes) -> Iterator[str]:
    """What `extends` names in JSON or YAML, and what a script imports from beside it."""
    for match in _EXTENDS.finditer(content):
        for word in _WORD.finditer(match[1] or match[2] or match[3] or b""):
            yield _plain(word[0])
    if path.endswith((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")):
        for match in _IMPORT.finditer(content):
            name = _plain(match[1])
            if name.startswith("."):
                yield name


def _plain(word: bytes) -> str:
    return word.strip(b"\"'").decode("utf-8", "surrogateescape")
