"""Tables of prices: the one of the package, and those that a file states."""

from __future__ import annotations

import argparse
import json
from importlib import resources
from pathlib import Path

import pytest

from bernstein.api import prices
from bernstein.controllers import settings
from bernstein.core.money.pricing import price_of

ROW = {"model": "local-coder", "input": "0.02", "output": "0.08"}


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices of a file are in place of the package's."""
    monkeypatch.setattr(prices, "_in_place", [])
    prices.replace(prices.stated(json.dumps({"prices": [ROW]})))


def package() -> str:
    return resources.files(prices).joinpath("prices.json").read_text(encoding="utf-8")


def test_the_file_of_the_package_is_such_a_table() -> None:
    assert prices.stated(package()) == prices.built_in()


def test_prices_of_a_file_are_in_place_of_the_packages(replaced: None) -> None:
    found = price_of("local-coder-30b")

    assert found is not None
    assert (found.input, found.output, found.cache_read) == ("0.02", "0.08", "0")
    assert price_of("claude-opus") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "it is no JSON: "),
        ("[" * 100_000, "it is no JSON that can be read: too deeply nested"),
        ("[]", "it is no object with a list 'prices'"),
        ('{"prices": []}', "it is no object with a list 'prices'"),
        (json.dumps({"prices": [ROW, {**ROW, "model": "b", "input": "x"}]}), "prices[1].input: "),
        (json.dumps({"prices": [{**ROW, "cacheread": "1"}]}), "prices[0].cacheread: Extra inputs"),
        (
            json.dumps({"prices": [{"model": "b", "input": "1"}]}),
            "prices[0].output: Field required",
        ),
        (json.dumps({"prices": [ROW, ROW]}), "the model 'local-coder' stands there twice"),
    ],
)
def test_what_is_no_table_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)

    with pytest.raises(argparse.ArgumentTypeError) as raised:
        settings.prices(str(file))

    assert str(raised.value).startswith(f"{file} is no table of prices: {told}")
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="No such file"):
        settings.prices(str(tmp_path / "none.json"))
