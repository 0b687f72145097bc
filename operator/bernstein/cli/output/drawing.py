"""A drawing as text, as wide as the terminal: a line for each node, below its group.

What comes before stands in words: arrows between hundreds of lines nobody could follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal
from bernstein.core.drawing.labels import shown
from bernstein.core.drawing.model import Drawing, Edge, Group, Node, Tone

STYLES: dict[Tone, str] = {
    "running": "blue",
    "verifying": "cyan",
    "done": "green",
    "failed": "red",
    "cancelled": "dim",
}
MARKS: dict[Tone, str] = {
    "waiting": "○",
    "running": "●",
    "verifying": "◆",
    "done": "✓",
    "failed": "✗",
    "cancelled": "⊘",
}
CRITICAL = "┃"
"""Before a node on the critical path."""
_WIDEST = 16
"""Columns of roles and states on a terminal."""
_LEAST = 20
"""Columns of a title."""


def tell(terminal: Terminal, drawing: Drawing) -> None:
    """All of it."""
    _Text(terminal, drawing).tell()


def critical_titles(drawing: Drawing) -> list[str]:
    """Where the critical path leads along: groups, and nodes that are in none."""
    critical = frozenset(drawing.critical)
    of_node = {node.id: shown(node.title) for node in drawing.nodes if node.id in critical}
    for group in drawing.groups:
        if group.framed:
            of_node |= {each: shown(group.title) for each in group.members if each in critical}
    return list(dict.fromkeys(of_node[each] for each in drawing.critical))


class _Text:
    def __init__(self, terminal: Terminal, drawing: Drawing) -> None:
        self._terminal = terminal
        self._drawing = drawing
        self._critical = frozenset(drawing.critical)
        self._titles = {group.id: shown(group.title) for group in drawing.groups}
        self._numbers = {node.id: str(n) for n, node in enumerate(drawing.nodes, 1)}
        self._names = self._titles | self._numbers
        self._before: dict[str, list[Edge]] = {}
        for edge in drawing.edges:
            self._before.setdefault(edge.target, []).append(edge)
        self._is_numbered = any(edge.source in self._numbers for edge in drawing.edges)
        self._has_states = any(node.tone for node in drawing.nodes)
        self._every = [*drawing.every]

    def tell(self) -> None:
        self._terminal.say(shown(self._drawing.title), "bold")
        for group, nodes in self._drawing.framed:
            self._terminal.say("")
            if group is not None:
                self._tell_group(group)
            self._terminal.show(self._table(nodes))
        if self._drawing.notes:
            self._terminal.say("")
        for note in self._drawing.notes:
            self._terminal.say(shown(note))

    def _tell_group(self, group: Group) -> None:
        first, *more = self._sentences(group.id) or [""]
        self._terminal.say(f"  {self._titles[group.id]}{f', {first}' if first else ''}", "bold")
        for sentence in more:
            self._terminal.say(f"    {sentence}", "dim")

    def _sentences(self, id_: str) -> list[str]:
        """What comes before a node or a group, by the condition on which it is followed."""
        by_condition: dict[tuple[bool, str], list[str]] = {}
        for edge in self._before.get(id_, ()):
            by_condition.setdefault((edge.is_loop, edge.label), []).append(self._names[edge.source])
        return [
            f"{'again ' * is_loop}after {', '.join(names)}{_condition(label, is_loop=is_loop)}"
            for (is_loop, label), names in by_condition.items()
        ]

    def _table(self, nodes: Sequence[Node]) -> Table:
        every = self._drawing.nodes
        table = Table(
            box=None, show_header=False, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0)
        )
        table.expand = self._terminal.people.is_terminal
        table.add_column("path", width=1 + 2 * self._has_states)
        if self._is_numbered:
            table.add_column("number", justify="right", width=len(str(len(every))))
        table.add_column("title", ratio=1, min_width=self._wide("title", least=_LEAST))
        table.add_column("role", no_wrap=True, overflow="ellipsis", width=self._wide("role"))
        table.add_column("time", no_wrap=True, justify="right", width=self._wide("time"))
        if self._has_states:
            table.add_column("state", no_wrap=True, overflow="ellipsis", width=self._wide("state"))
        for node in nodes:
            table.add_row(*self._cells(node))
            for depth, part in node.family:
                if depth:
                    table.add_row(*self._cells(part, depth))
            for sentence in self._sentences(node.id):
                blank = [""] * (1 + self._is_numbered)
                table.add_row(*blank, Text(f"  {sentence}", style="dim"))
        return table

    def _wide(self, column: str, *, least: int = 0) -> int:
        """The same below each group. What a pipe gets is as wide as it must be, and a terminal
        has the title take what is left."""
        if least and self._terminal.people.is_terminal:
            return least
        if column == "title":
            return max(map(self._width_of_title, self._drawing.nodes))
        words: Iterable[str] = (getattr(node, column) for node in self._every)
        widest = max(cell_len(_words(each)) for each in words)
        return min(widest, _WIDEST) if self._terminal.people.is_terminal else widest

    def _width_of_title(self, node: Node) -> int:
        below = (cell_len(f"  {sentence}") for sentence in self._sentences(node.id))
        family = (cell_len(_titled(each, depth)) for depth, each in node.family)
        return max(*family, *below, 0)

    def _cells(self, node: Node, depth: int = 0) -> list[Text]:
        is_critical = node.id in self._critical
        style = STYLES.get(node.tone, "")
        mark = f"{CRITICAL if is_critical else ' '} {MARKS.get(node.tone, '')}".rstrip()
        number = [Text(self._numbers.get(node.id, ""), style="dim")] if self._is_numbered else []
        state = [Text(_words(node.state), style=style)] if self._has_states else []
        title = Text(_titled(node, depth), style=style, no_wrap=True, overflow="ellipsis")
        return [
            Text(mark, style=style),
            *number,
            title,
            Text(_words(node.role), style="dim"),
            Text(_words(node.time), style="bold" if is_critical else "dim"),
            *state,
        ]


def _titled(node: Node, depth: int) -> str:
    return f"{tables.below(depth)}{shown(node.title)}"


def _condition(label: str, *, is_loop: bool) -> str:
    """Behind a name. A loop says itself until when."""
    return f"{' ' if is_loop else ' if '}{shown(label)}" if label else ""


def _words(value: str) -> str:
    return shown(value) if value else ""
