"""The ConfigMap of a session's prompt: what stands there already, and may stand for it."""

from __future__ import annotations

import re

from bernstein.controllers.jobs.agent import CALLBACK_CA
from bernstein.controllers.writer import Writer
from bernstein.core.prompts import knowledge
from bernstein.core.prompts.parts import FOLDERS, ROLE, texts_of
from bernstein.core.sessions.prompt import OF_ROLES, digest_of_roles
from bernstein.kube.content import is_content_of
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import CONFIG_MAPS, Key, Object

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s*")

_LATER = (FOLDERS, ROLE)
"""Parts that older releases did not write."""
_OF_ROLES = tuple(part.key for part in OF_ROLES)


async def put(writer: Writer, owner: Key, wanted: Object, role_digest: str | None = None) -> None:
    """Makes it. Raises NameConflict where there is one that may not stand for it.

    Before a new certificate is served, and after that, the server's authorities are told otherwise
    than when this may have been written, and older releases left parts to the pod or told none of
    them; and AgentRoles may be others by now than when the session was made, which has the
    `role_digest` of what they said. That alone ends no session. Nor does a ConfigMap of the
    Project that says something else since: what was read first counts.
    """
    try:
        await writer.create(owner, CONFIG_MAPS, wanted)
    except NameConflict as conflict:
        if conflict.differs != "spec" or not may_stand_for(conflict.live, wanted, role_digest):
            raise


def may_stand_for(live: Object, wanted: Object, role_digest: str | None = None) -> bool:
    """Whether it says the same, but for parts that it lacks as older releases did, and for what the
    Project's ConfigMaps said then; and trusts no authority that is not trusted now."""
    there, data = live.get("data") or {}, dict(wanted["data"])
    if role_digest is not None and digest_of_roles(texts_of(there)) == role_digest:
        data = {key: text for key, text in data.items() if key not in _OF_ROLES}
        data |= {key: there[key] for key in _OF_ROLES if key in there}
    for part in _LATER:
        if part.key not in there:
            data.pop(part.key, None)
    if knowledge.names_same(there, data):
        data = {name: text for name, text in data.items() if not knowledge.is_of(name)}
        data |= knowledge.data(knowledge.told_in(there))
    told, now = there.get(CALLBACK_CA, ""), data.get(CALLBACK_CA, "")
    if told != now:
        if not told or not _authorities(told) <= _authorities(now):
            return False
        data[CALLBACK_CA] = told
    return is_content_of(live, {**wanted, "data": data})


def _authorities(bundle: str) -> set[str]:
    """Each in PEM, and what stands between them."""
    between = _CERTIFICATE.sub("", bundle).strip()
    found = {each.strip() for each in _CERTIFICATE.findall(bundle)}
    return found | {between} if between else found
