"""What agents left is read by one GET, and told apart by its digest."""

from __future__ import annotations

from bernstein.api.plans.workflow import MAX_NODES
from bernstein.api.task import Output
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.plans.outputs import Outputs
from bernstein.core.documents import MOST_BYTES, OUTPUT, handed, kept
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS
from tests.unit.core.objects import NAMESPACE
from tests.unit.kube.apiserver import ApiServer

VALUES = b'{"failed": 2}'


def left(session: str = "one-s1", document: bytes = VALUES) -> Output:
    return Output(session=session, bytes=len(document), sha256=handed.digest(document))


def keep(api: ApiServer, session: str = "one-s1", document: bytes = VALUES) -> None:
    api.put(
        CONFIG_MAPS,
        f"{session}-documents",
        NAMESPACE,
        binaryData=kept.data({OUTPUT.name: document}),
    )


async def test_values_are_read_once(api: ApiServer, client: Client) -> None:
    keep(api)
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    found = [await outputs.of(NAMESPACE, [left()], lost.append) for _ in range(3)]

    assert found == [{left().sha256: {"failed": 2}}] * 3
    assert lost == []
    reads = [call for call in api.calls if call.plural == "configmaps"]
    assert len(reads) == 1


async def test_what_is_lost_is_null_and_told_once(api: ApiServer, client: Client) -> None:
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    for _ in range(2):
        assert await outputs.of(NAMESPACE, [left()], lost.append) == {left().sha256: None}

    assert lost == [left()]


async def test_another_document_of_that_name_is_not_the_one(api: ApiServer, client: Client) -> None:
    keep(api, document=b'{"failed": 0}')
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    assert await outputs.of(NAMESPACE, [left()], lost.append) == {left().sha256: None}
    assert lost == [left()]


async def test_only_the_last_ones_stay_known(api: ApiServer, client: Client) -> None:
    outputs, lost = Outputs(DocumentReader(client), most=1), list[Output]()
    for session in ("one-s1", "two-s1"):
        keep(api, session, session.join('""').encode())
    one, two = (left(s, s.join('""').encode()) for s in ("one-s1", "two-s1"))

    for each in (one, two, one):
        assert list((await outputs.of(NAMESPACE, [each], lost.append)).values()) == [each.session]


async def test_what_one_session_has_lost_another_one_of_the_same_words_still_has(
    api: ApiServer, client: Client
) -> None:
    keep(api, session="two-s1")
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    await outputs.of(NAMESPACE, [left("one-s1")], lost.append)
    found = await outputs.of(NAMESPACE, [left("two-s1")], lost.append)

    assert found == {left().sha256: {"failed": 2}}
    assert lost == [left("one-s1")]


async def test_a_loss_in_one_namespace_is_none_in_another(api: ApiServer, client: Client) -> None:
    keep(api)
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    assert await outputs.of("others", [left()], lost.append) == {left().sha256: None}
    assert await outputs.of(NAMESPACE, [left()], lost.append) == {left().sha256: {"failed": 2}}


async def test_values_of_others_are_not_told_to_who_knows_their_digest(
    api: ApiServer, client: Client
) -> None:
    keep(api)
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()
    await outputs.of(NAMESPACE, [left()], lost.append)

    assert await outputs.of("others", [left()], lost.append) == {left().sha256: None}
    assert lost == [left()]


async def test_of_two_that_left_the_same_one_is_enough(api: ApiServer, client: Client) -> None:
    keep(api, session="one-s1")
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    for sessions in (("one-s1", "two-s1"), ("two-s1", "one-s1")):
        found = await outputs.of(NAMESPACE, [left(each) for each in sessions], lost.append)
        assert found == {left().sha256: {"failed": 2}}


def gets(api: ApiServer) -> int:
    return sum(call.plural == "configmaps" for call in api.calls)


async def test_each_document_of_the_largest_plan_is_read_once_however_often_it_is_looked_at(
    api: ApiServer, client: Client
) -> None:
    """All nodes of a loop that goes on, each with as much as an agent may leave."""
    ending = b" " * (MOST_BYTES - 100)
    every = [(f"{n:03}-s1", b'{"n": %d}' % n + ending) for n in range(MAX_NODES)]
    for session, document in every:
        keep(api, session, document)
    wanted = [left(session, document) for session, document in every]
    outputs, lost = Outputs(DocumentReader(client)), list[Output]()

    for _ in range(2):
        found = await outputs.of(NAMESPACE, wanted, lost.append)
        assert [found[each.sha256] for each in wanted] == [{"n": n} for n in range(MAX_NODES)]

    assert (gets(api), lost) == (MAX_NODES, [])


async def test_what_is_known_is_bounded_in_bytes_too(api: ApiServer, client: Client) -> None:
    documents = [b'"%s"' % (letter * 38) for letter in (b"a", b"b", b"c")]
    sessions = ["one-s1", "two-s1", "three-s1"]
    for session, document in zip(sessions, documents, strict=True):
        keep(api, session, document)
    one, two, three = map(left, sessions, documents)
    outputs, lost = Outputs(DocumentReader(client), most_bytes=80), list[Output]()

    async def read(each: Output) -> int:
        """How many documents that took."""
        before = gets(api)
        assert (await outputs.of(NAMESPACE, [each], lost.append))[each.sha256] is not None
        return gets(api) - before

    assert [await read(each) for each in (one, two, one, two)] == [1, 1, 0, 0]
    assert [await read(each) for each in (three, two, three, one, three)] == [1, 0, 0, 1, 0]
