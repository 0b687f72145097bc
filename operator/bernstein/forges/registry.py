"""All forges, by the names that Projects have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.forges.forge import Forge
from bernstein.forges.gitea import GITEA
from bernstein.forges.github import GITHUB
from bernstein.forges.gitlab import GITLAB

FORGES: Final[tuple[Forge, ...]] = (GITEA, GITHUB, GITLAB)
"""`gitea` is Forgejo, too."""

BY_NAME: Final[Mapping[str, Forge]] = {forge.name: forge for forge in FORGES}
