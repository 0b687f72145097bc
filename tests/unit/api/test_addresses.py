"""The model takes the addresses of repositories that the API server takes; programs, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from bernstein.api.pod import Remote
from bernstein.api.projects.repository import Repository
from bernstein.pods.git import remotes
from bernstein.pods.git.errors import GitError
from tests.unit.api.addresses import HOST_AND_PATH, REFUSED, TAKEN
from tests.unit.core import objects


def repository(url: str) -> Repository:
    plain = objects.project().spec.repositories[0].dump()
    return TypeAdapter(Repository).validate_python({**plain, "url": url})


@pytest.mark.parametrize("url", TAKEN)
def test_an_address_that_is_taken_is_used(url: str) -> None:
    assert repository(url).url == url
    assert remotes.settings(Remote(url, "/secrets/read"), Path("/git"))


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_is_refused_is_never_used_either(url: str) -> None:
    if url not in HOST_AND_PATH:
        with pytest.raises(ValidationError):
            repository(url)
    with pytest.raises(GitError) as found:
        remotes.settings(Remote(url, "/secrets/read"), Path("/git"))
    assert found.value.reason == "InvalidConfig"
