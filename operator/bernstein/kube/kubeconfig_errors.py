"""What the `kubernetes` library trips over in a kubeconfig, in plain words."""

from __future__ import annotations

import binascii
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bernstein.kube.errors import ConfigError

_LONGEST = 500


@contextmanager
def kubeconfig_errors(file: str) -> Iterator[None]:
    """Turns every failure of the library inside the block into a ConfigError with a remedy, which
    names the `file`.

    The library checks no shapes, so a file that is no kubeconfig makes it raise anything.
    """
    import yaml
    from kubernetes.config import ConfigException

    heard = _PluginErrors()
    root = logging.getLogger()
    root.addFilter(heard)
    try:
        yield
    except (
        *(ConfigException, yaml.YAMLError, OSError, RecursionError),
        *(TypeError, AttributeError, LookupError, ValueError),
    ) as error:
        raise ConfigError(
            f"cannot use the kubeconfig '{file}': {_words(error, file)}; "
            "check --kubeconfig, --context or KUBECONFIG"
        ) from error
    finally:
        root.removeFilter(heard)
    if heard.first is not None:
        raise _plugin_failed(file, *heard.first)


class _PluginErrors(logging.Filter):
    """Keeps the library's log lines about credential plugins from the log: it logs on the root
    logger that a plugin failed and goes on without credentials."""

    def __init__(self) -> None:
        super().__init__()
        self.first: tuple[str, BaseException | None] | None = None
        """The message, and the exception that the library caught, if it did."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.ERROR or record.module != "kube_config":
            return True
        self.first = self.first or (record.getMessage(), sys.exception())
        return False


def _plugin_failed(file: str, message: str, error: BaseException | None) -> ConfigError:
    if isinstance(error, FileNotFoundError | PermissionError) and error.filename:
        why = "is not installed" if isinstance(error, FileNotFoundError) else "cannot be executed"
        return ConfigError(
            f"the credential plugin '{error.filename}' that the kubeconfig '{file}' names {why}; "
            "install it, or choose another --context"
        )
    return ConfigError(
        f"the credential plugin that the kubeconfig '{file}' names has failed: "
        f"{_one_line(message)}; "
        "log in again, or choose another --context"
    )


def _words(error: Exception, file: str) -> str:
    import yaml
    from kubernetes.config import ConfigException

    match error:
        case ConfigException():
            return _one_line(str(error))
        case yaml.MarkedYAMLError() if error.problem_mark is not None:
            return f"it is no YAML: line {error.problem_mark.line + 1}: {error.problem}"
        case yaml.YAMLError() | UnicodeDecodeError():
            return "it is no YAML"
        case binascii.Error():
            return "a field whose name ends with '-data' is no base64"
        case OSError():
            other = f"'{error.filename}': " if error.filename not in (None, file) else ""
            return f"{other}{error.strerror or error}"
    return "it has not the form of a kubeconfig"


def _one_line(message: Any) -> str:
    return " ".join(str(message).split())[:_LONGEST]
