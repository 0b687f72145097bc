import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.kube.answers import documents, watch_event
from bernstein.kube.answers.documents import Items, loads, without_managed_fields
from bernstein.kube.errors import Unreadable

NAMES = st.sampled_from(["managedFields", "metadata", "items", '"managedFields":[', "\\", '"'])
TEXTS = NAMES | st.text() | st.text('[]{}"\\:,mF', max_size=12)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS, inner, max_size=4)
        | st.fixed_dictionaries({"managedFields": st.lists(inner, max_size=3)})
    ),
    max_leaves=30,
)


def emptied(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            name: [] if name == "managedFields" and isinstance(value, list) else emptied(value)
            for name, value in document.items()
        }
    return [emptied(each) for each in document] if isinstance(document, list) else document


@given(DOCUMENTS, st.sampled_from([None, 1]), st.booleans())
def test_a_document_is_the_same_but_for_its_managed_fields(
    document: Any, indent: int | None, plain: bool
) -> None:
    raw = json.dumps(document, indent=indent, ensure_ascii=plain).encode(errors="surrogatepass")
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return  # half a surrogate: not of the API
    assert orjson.loads(without_managed_fields(raw)) == emptied(document)


@given(st.lists(DOCUMENTS.map(lambda each: {"spec": each}), max_size=5), st.sampled_from([None, 1]))
def test_the_items_of_a_list_are_those_that_it_has(items: list[Any], indent: int | None) -> None:
    around = {"kind": "WidgetList", "metadata": {"resourceVersion": "7", "continue": "t"}}
    for document in ({"items": items, **around}, {**around, "items": items}):
        split = Items(json.dumps(document, indent=indent).encode())
        assert [orjson.loads(raw) for raw in split] == items
        assert orjson.loads(split.frame) == {**around, "items": []}


def deep(levels: int) -> bytes:
    fields = b'{"f:title":' * levels + b"{}" + b"}" * levels
    managed = b'[{"manager":"m","fieldsV1":' + fields + b"}]"
    return b'{"metadata":{"managedFields":' + managed + b',"name":"w"},"spec":{"a":[1]}}'


@pytest.mark.parametrize("levels", [1, 1_100, 10_000, 200_000])
def test_how_deep_managed_fields_are_does_not_matter(levels: int) -> None:
    expected = {"name": "w"}
    read = loads(deep(levels))
    assert read["metadata"].pop("managedFields") is not None
    assert read == {"metadata": expected, "spec": {"a": [1]}}


@pytest.mark.parametrize("levels", [1_100, 200_000])
def test_the_parser_alone_goes_through_no_thousands_of_levels(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b'{"type":"ADDED","object":%s}' % deep(levels).replace(
        b'"name":"w"', b'"name":"w","resourceVersion":"5"'
    )

    with monkeypatch.context() as taken:
        taken.setattr(documents, "without_managed_fields", lambda raw: raw)
        with pytest.raises(Unreadable):
            watch_event(line)

    assert watch_event(line).object["metadata"]["name"] == "w"


def test_what_is_no_text_in_managed_fields_does_not_matter() -> None:
    raw = b'{"metadata":{"managedFields":[{"fieldsV1":{"f:\xff":{}}}],"name":"w"}}'
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(raw)
    assert loads(raw) == {"metadata": {"managedFields": [], "name": "w"}}


@pytest.mark.parametrize("filler", ["", "x" * documents.AS_IT_IS])
def test_a_text_that_looks_like_managed_fields_stays(filler: str) -> None:
    text = filler + '"managedFields":[{"a":1}], \\"managedFields":["] \\'
    obj = {"metadata": {"annotations": {"a": text}, "managedFields": [{"manager": "m"}]}}
    assert loads(orjson.dumps(obj))["metadata"]["annotations"]["a"] == text


@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b'{"managedFields":[', b'{"managedFields":[}', b'{"managedFields":["]}']
)
def test_what_is_no_json_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads(raw)


@pytest.mark.parametrize("raw", [b"", b'{"kind":"x"}', b'{"items":[{"a":1}', b'{"items":[{"a"'])
def test_items_that_do_not_end_are_refused(raw: bytes) -> None:
    def read() -> None:
        items = Items(raw)
        for _ in items:
            pass
        loads(items.frame)

    with pytest.raises(ValueError, match=r".+"):
        read()
