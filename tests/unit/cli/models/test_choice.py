"""Which model is asked, and with which key; nothing shows the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bernstein.cli.errors import CliError
from bernstein.cli.models.choice import Choice, choose
from bernstein.llm.providers import BY_NAME, Provider

KEY = "sk-of-mine-0123456789"


def chosen(
    provider: str = "anthropic",
    model: str | None = None,
    *,
    key_file: Path | None = None,
    env: Mapping[str, str],
) -> Choice:
    return choose(provider, model, str(key_file) if key_file else None, None, env)


def refused(
    provider: str = "anthropic", *, key_file: Path | None = None, env: Mapping[str, str]
) -> CliError:
    with pytest.raises(CliError) as failed:
        chosen(provider, key_file=key_file, env=env)
    error = failed.value
    assert KEY not in f"{error.message} {error.remedy}"
    return error


@pytest.mark.parametrize("provider", BY_NAME.values(), ids=lambda provider: provider.name)
def test_the_key_is_that_of_the_providers_own_variable(provider: Provider) -> None:
    for variable in provider.key_variables:
        found = chosen(provider.name, "some-model", env={variable: f"{KEY}\n"})
        assert found.endpoint.key().reveal() == KEY
        assert KEY not in repr(found)


def test_a_file_goes_before_the_environment(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")

    found = chosen(key_file=tmp_path / "key", env={"ANTHROPIC_API_KEY": "sk-another"})

    assert found.endpoint.key().reveal() == KEY


def test_a_file_that_can_be_read_but_once_is_read_but_once(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    found = chosen(key_file=tmp_path / "key", env={})
    (tmp_path / "key").unlink()

    assert found.endpoint.key().reveal() == KEY


def test_haiku_is_asked_where_nobody_says_another() -> None:
    assert chosen(env={"ANTHROPIC_API_KEY": KEY}).model == "claude-haiku-4-5"
    assert (
        chosen("openrouter", env={"OPENROUTER_API_KEY": KEY}).model == "anthropic/claude-haiku-4.5"
    )
    assert chosen("openrouter", "a/b", env={"OPENROUTER_API_KEY": KEY}).model == "a/b"


def test_of_other_providers_the_model_has_to_be_said() -> None:
    error = refused("openai", env={"OPENAI_API_KEY": KEY})

    assert (error.reason, error.code, error.remedy) == ("Usage", 2, "say it with --model")


def test_a_provider_that_nobody_knows_is_told_with_those_that_there_are() -> None:
    error = refused("antropic", env={"ANTHROPIC_API_KEY": KEY})

    assert (error.reason, error.code) == ("ProviderUnknown", 2)
    assert error.message == "there is no provider 'antropic', did you mean 'anthropic'?"
    assert "openrouter" in error.remedy


@pytest.mark.parametrize("variables", [{}, {"OPENAI_API_KEY": KEY}, {"ANTHROPIC_API_KEY": ""}])
def test_that_there_is_no_key_is_told_with_where_to_put_one(variables: dict[str, str]) -> None:
    error = refused(env=variables)

    assert (error.reason, error.code) == ("ModelKeyMissing", 2)
    assert "ANTHROPIC_API_KEY" in error.remedy
    assert "--api-key-file" in error.remedy


@pytest.mark.parametrize("wrong", [f"{KEY} {KEY}", f"{KEY}ü", f"{KEY}\udcff", "x" * 5000])
def test_what_is_no_key_is_not_shown(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(wrong.encode(errors="surrogateescape"))

    in_variable = refused(env={"ANTHROPIC_API_KEY": wrong})
    in_file = refused(key_file=tmp_path / "key", env={"ANTHROPIC_API_KEY": KEY})

    assert (in_variable.reason, in_file.reason) == ("ModelKeyUnreadable",) * 2
    assert in_variable.message.startswith("the key in ANTHROPIC_API_KEY ")
    assert in_file.message.startswith(f"the key of the file '{tmp_path}/key' ")


def test_a_key_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    error = refused(key_file=tmp_path / "none", env={"ANTHROPIC_API_KEY": KEY})

    assert error.reason == "ModelKeyUnreadable"
    assert "No such file" in error.message
