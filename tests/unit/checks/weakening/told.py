"""What is told of a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bernstein.checks.weakening.weakened import support_of, weakened


def found(
    before: Mapping[str, str],
    after: Mapping[str, str],
    others: Mapping[str, str] = {},
    links: Collection[str] = (),
) -> list[str]:
    """`before`, `after`: files that differ; `others`: those that stay as they are; `links`: which
    of `after` are symbolic links, whose text is where they lead to."""
    was, now, same = ({p: t.encode() for p, t in fs.items()} for fs in (before, after, others))
    tree = same | now
    support = support_of({*was, *now}, tree, tree.get, links) if others or links else None
    return [str(each) for each in weakened(was, now, support)]
