"""Reads what a Project tells all its agents, for the prompt of a session that begins."""

from __future__ import annotations

from collections.abc import Sequence

from bernstein.api.projects.knowledge import Knowledge, KnowledgeKey
from bernstein.core.prompts import knowledge
from bernstein.core.prompts.assembly import Told
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import CONFIG_MAPS, Object


class KnowledgeReader:
    """Asks for the ConfigMaps that a Project names, one after another, and keeps none."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, namespace: str, entries: Sequence[Knowledge]) -> tuple[Told, ...]:
        """All of it, in its order: texts of ConfigMaps, and paths of the repository.

        What is not there, or may not be read, has a sentence instead. Raises KubeError where the
        API server does not answer.
        """
        sources = [each.config_map for each in entries if each.config_map is not None]
        found: dict[str, Told] = {}
        for name in dict.fromkeys(source.name for source in sources):
            found |= await self._of(namespace, name, entries)
        of_files = {
            each.name: Told(each.name, None, path=each.path) for each in entries if each.path
        }
        every = found | of_files
        return knowledge.bounded(every[each.name] for each in entries)

    async def _of(
        self, namespace: str, config_map: str, entries: Sequence[Knowledge]
    ) -> dict[str, Told]:
        """By name, what is told out of one ConfigMap."""
        its = {e.name: e.config_map for e in entries if e.config_map is not None}
        asked = {name: source for name, source in its.items() if source.name == config_map}
        try:
            obj: Object | None = await self._client.get(CONFIG_MAPS, config_map, namespace)
        except NotFound:
            obj = None
        except Forbidden:
            return {name: _forbidden(name, source) for name, source in asked.items()}
        return {name: knowledge.of_config_map(name, source, obj) for name, source in asked.items()}


def _forbidden(name: str, source: KnowledgeKey) -> Told:
    why = f"it could not be read: the operator may not read ConfigMap '{source.name}'"
    return Told(name, None, why)
