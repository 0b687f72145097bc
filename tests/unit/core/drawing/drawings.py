"""Drawings of all kinds, for tests of everything that writes them."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from bernstein.core.drawing.model import Drawing, Edge, Group, Node, Tone

NASTY = (
    *('"', "\\", "]", "end", "`x`", "a\nb", "<b>x</b>", "&amp;", "#quot;", "%%{init: {}}%%"),
    *("1. one", "- two", "www.a.b", "x://y", "style a:b#c;", "\u202egnp.exe", "\x1b[2J", ""),
    *("-->", "|x|", "subgraph", "click n1", "\\N \\G \\", "*a* _b_", "{"),
    *("\\n", "ﬂ°quot¶ß", "日本語"),
)
WORDS = st.sampled_from(NASTY) | st.text(max_size=20)
TONES = st.sampled_from(get_args(Tone))


def parts(id_: str, depth: int = 2) -> st.SearchStrategy[tuple[Node, ...]]:
    """What the node of this id was split into, and that in turn."""
    if not depth:
        return st.just(())

    def numbered(words: list[str]) -> st.SearchStrategy[tuple[Node, ...]]:
        ids = [f"{id_}.{number}" for number in range(len(words))]
        each = (
            st.builds(Node, st.just(i), st.just(word), tone=TONES, parts=parts(i, depth - 1))
            for i, word in zip(ids, words, strict=True)
        )
        return st.tuples(*each)

    return st.lists(WORDS, max_size=2).flatmap(numbered)


@st.composite
def drawings(draw: st.DrawFn) -> Drawing:
    """Any: with loops, edges that lead anywhere, nodes that were split, and groups that are drawn
    and that are not."""
    ids = [f"node {number}" for number in range(draw(st.integers(1, 9)))]
    nodes = tuple(
        Node(
            *(each, draw(WORDS), draw(WORDS), draw(WORDS), draw(WORDS), draw(TONES)),
            parts=draw(parts(each)),
        )
        for each in ids
    )
    groups: list[Group] = []
    rest = list(ids)
    while rest != [] and draw(st.booleans()):
        size = draw(st.integers(1, len(rest)))
        groups.append(Group(f"group {len(groups)}", draw(WORDS), tuple(rest[:size])))
        rest = rest[size:]
    if draw(st.booleans()):
        some = draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
        groups.append(Group(f"group {len(groups)}", draw(WORDS), tuple(some), framed=False))
    ends = st.sampled_from([*ids, *(group.id for group in groups)])
    edge = st.builds(Edge, ends, ends, WORDS, st.booleans())
    edges = draw(st.lists(edge, max_size=12, unique_by=lambda e: (e.source, e.target, e.label)))
    path = draw(st.lists(st.sampled_from(ids), unique=True))
    notes = tuple(draw(st.lists(WORDS, max_size=2)))
    return Drawing(draw(WORDS), nodes, tuple(groups), tuple(edges), tuple(path), notes)


def chain(*sizes: int) -> Drawing:
    """Groups of so many nodes, each after the one before; the first node of each is critical."""
    groups = [
        Group(f"g{g}", f"group {g}", tuple(f"n{g}.{n}" for n in range(size)))
        for g, size in enumerate(sizes)
    ]
    nodes = [Node(each, f"node {each[1:]}") for group in groups for each in group.members]
    edges = [Edge(f"g{g - 1}", f"g{g}") for g in range(1, len(sizes))]
    path = [group.members[0] for group in groups]
    return Drawing("chain", tuple(nodes), tuple(groups), tuple(edges), tuple(path))


def largest() -> Drawing:
    """As large as a plan can be, with a dependency on each stage before: nodes times nodes would be
    almost two million lines."""
    whole = chain(*[50] * 40)
    every = tuple(Edge(f"g{a}", f"g{b}") for b in range(40) for a in range(b))
    return Drawing(whole.title, whole.nodes, whole.groups, every, whole.critical)
