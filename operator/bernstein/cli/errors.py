"""Errors for the person at the terminal: what went wrong, in one line, and what helps."""

from __future__ import annotations

import os
import re

from pydantic import ValidationError

from bernstein.kube.errors import (
    ApiError,
    ConfigError,
    Forbidden,
    Invalid,
    NotFound,
    TransportError,
    Unauthorized,
)

FAILED = 1
INVALID = 2
INTERRUPTED = 130

_FORBIDDEN = re.compile(r'cannot (\S+) resource "([^"]+)"(?: in API group "[^"]*")?(.*)')
_EVERYWHERE = "at the cluster scope"
_NO_NAMESPACE = re.compile(r'namespaces "([^"]+)" not found')


class CliError(Exception):
    """Ends the command with the exit code `code`. `remedy` is what the user can do."""

    def __init__(self, reason: str, message: str, remedy: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.remedy = remedy
        self.code = code


def takes_no_name(what: str) -> CliError:
    """Of a command that was given a name and `--all-namespaces`: `what` has one namespace."""
    text = f"{what} has one namespace: --all-namespaces takes no name"
    return CliError("Usage", text, "name its namespace with --namespace", INVALID)


def explained(error: Exception, server: str) -> CliError | None:
    """The error as a CliError; None where it is not a known one, hence a bug."""
    if isinstance(error, CliError):
        return error
    if isinstance(error, TransportError):
        return _unreachable(error, server)
    if isinstance(error, ApiError):
        return _refused(error, server)
    if isinstance(error, ConfigError):
        return _config(error)
    if isinstance(error, OSError):
        return _files(error)
    if isinstance(error, ValidationError):
        return CliError(
            "VersionMismatch",
            f"a {error.title} of the cluster is not as this version knows it",
            "install the same version of the command line and of the operator",
        )
    return None


def _refused(error: ApiError, server: str) -> CliError:
    match error:
        case Unauthorized():
            return CliError(
                "Unauthorized",
                f"the API server {server} does not accept these credentials",
                "log in again, or choose another --context",
            )
        case Forbidden():
            return _forbidden(error)
        case NotFound():
            return _not_found(error)
        case Invalid():
            return CliError("Invalid", f"the API server refuses it: {error.message}")
    return CliError(error.reason, f"the API server answers: {error.message}")


def _config(error: ConfigError) -> CliError:
    # The message may quote what others wrote; the remedy behind it is ours and has no semicolon.
    message, _, remedy = error.message.rpartition("; ")
    return CliError(error.reason, message.rstrip(".") or remedy, remedy if message else "")


def _files(error: OSError) -> CliError:
    name = f" '{error.filename}'" if error.filename else ""
    return CliError(
        "KubeConfigInvalid",
        f"a file that the kubeconfig names cannot be used{name}: {error.strerror or error}",
        "check the certificates in the kubeconfig, or choose another --context",
    )


def _unreachable(error: TransportError, server: str) -> CliError:
    return CliError(
        "ApiServerUnreachable",
        f"the API server {server} cannot be reached: {_cause(error)}",
        "check that the cluster runs, or choose another --context or --kubeconfig",
    )


def _cause(error: TransportError) -> str:
    cause = error.__cause__
    beneath = getattr(cause, "os_error", None)
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    certificate = getattr(cause, "certificate_error", None)
    if certificate is not None:
        return f"its certificate is not trusted ({certificate})"
    if isinstance(beneath, OSError) and beneath.errno and beneath.errno > 0:
        return os.strerror(beneath.errno)
    return str(cause or error)


def _forbidden(error: Forbidden) -> CliError:
    match = _FORBIDDEN.search(error.message)
    if match is None:
        return CliError("Forbidden", error.message, "ask who administers the cluster")
    verb, resource, where = match.groups()
    if resource == "approvals" and verb == "patch":
        return CliError(
            "Forbidden",
            f"you may not decide: {verb} {resource}{where.rstrip()}",
            "ask for the chart's role whose name ends with -approver, such as bernstein-approver, "
            "in the namespace; the page 'Approve what agents do' says how one gets it",
        )
    role = f"a Role that allows '{verb}' on '{resource}'"
    if _EVERYWHERE in where:
        role = f"a ClusterRole, bound by a ClusterRoleBinding, that allows '{verb}' on '{resource}'"
    return CliError(
        "Forbidden", f"you may not {verb} {resource}{where.rstrip()}", f"ask for {role}"
    )


def _not_found(error: NotFound) -> CliError:
    if namespace := _NO_NAMESPACE.search(error.message):
        return CliError(
            "NamespaceNotFound",
            f"there is no namespace '{namespace[1]}'",
            "name another one with --namespace",
        )
    if error.details.get("name"):
        return CliError("NotFound", error.message, "it may just have been deleted")
    return CliError(
        "NotInstalled",
        "this cluster does not know Bernstein's kinds",
        "install the Helm chart, or choose another --context",
    )
