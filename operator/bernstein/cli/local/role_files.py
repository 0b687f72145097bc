"""The AgentRoles of files and folders, which plans may name where no cluster is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bernstein.api.meta import API_VERSION, ROLE_KIND
from bernstein.api.project import Project
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.cli import manifests, objects
from bernstein.cli.errors import CliError
from bernstein.cli.local import role_folder
from bernstein.cli.manifests import Checked
from bernstein.core.money import models
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.roles.known import BUILT_IN, Roles


class RoleFiles:
    """What was found, in the order in which it was named."""

    def __init__(self, projects: Iterable[Project] = ()) -> None:
        self._projects = [*projects]
        self._specs: dict[str, AgentRoleSpec] = {}
        self._places: dict[str, str] = {}
        self.checked: list[Checked] = []
        """What is wrong with each; what is no AgentRole is not among them, unless it was named."""

    @property
    def roles(self) -> Roles:
        """The built-in ones with those that were found, however these are."""
        return Roles(self._specs) if self._specs else BUILT_IN

    def read(self, path: str) -> None:
        """An AgentRole as an object or as a folder of three files, several of the first, or a
        folder that holds such."""
        before = len(self.checked)
        folder = Path(path)
        if not folder.is_dir():
            self._file(path)
        for inner in (folder, *sorted(folder.rglob("*"))) if folder.is_dir() else ():
            if inner.is_dir() and role_folder.is_one(inner):
                self._folder(inner)
            elif inner.suffix in manifests.SUFFIXES and inner.is_file():
                self._file(str(inner), asked_for=False)
        if len(self.checked) == before and (folder / role_folder.CONFIG).is_file():
            self._folder(folder)
        if len(self.checked) == before:
            self._refuse(path, f"holds no {ROLE_KIND}, and no folder of a role")

    def _folder(self, path: Path) -> None:
        name = path.resolve().name
        try:
            found = role_folder.read(path)
        except CliError as error:
            self._refuse(str(path), error.message)
            return
        if found.problems:
            errors = tuple(FieldError("", each) for each in found.problems)
            self._tell(str(path), f"{ROLE_KIND} '{name}'", errors, name)
            return
        data = {"apiVersion": API_VERSION, "kind": ROLE_KIND, "metadata": {"name": name}}
        spec = role_folder.spec_of(found).model_dump(mode="json", by_alias=True, exclude_none=True)
        self._object(str(path), data | {"spec": spec})

    def _file(self, path: str, *, asked_for: bool = True) -> None:
        try:
            documents = manifests.documents_of(path)
        except OSError as error:
            self._refuse(path, f"cannot be read: {error.strerror}")
        except plan_file.PlanSyntaxError as error:
            if asked_for:
                self._refuse(path, f"Failed to parse YAML: {error.problem}")
        else:
            for data in documents:
                if isinstance(data, dict) and _is_role(data):
                    self._object(path, data)

    def _object(self, path: str, data: dict[str, Any]) -> None:
        errors = tuple(objects.problems(data))
        metadata, spec = data.get("metadata"), data.get("spec")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not errors and isinstance(name, str):
            role = AgentRoleSpec.model_validate(spec)
            errors = (*self._twice(path, name), *self._model(role))
            self._specs[name] = role
        self._tell(path, objects.title(data), errors, name)

    def _tell(
        self, path: str, title: str, errors: tuple[FieldError, ...], name: str | None
    ) -> None:
        self.checked.append(Checked(path, (title,), errors))
        if errors and isinstance(name, str):
            # Plans are not told besides that there is no such role.
            self._specs.setdefault(name, AgentRoleSpec())

    def _twice(self, path: str, name: str) -> Iterator[FieldError]:
        if (first := self._places.setdefault(name, path)) != path:
            yield FieldError(
                "metadata.name", f"metadata.name: '{name}' is the role of {first}, too"
            )

    def _model(self, role: AgentRoleSpec) -> Iterator[FieldError]:
        """As at the cluster, where every Task of the role would wait for a person."""
        strangers = models.strangers(role.model, self._projects)
        if strangers and len(strangers) == len(self._projects):
            yield FieldError("spec.model", f"spec.model: {models.unknown(role.model, strangers)}")

    def _refuse(self, path: str, message: str) -> None:
        self.checked.append(Checked(path, (), (FieldError("", message),)))


def _is_role(data: Mapping[str, Any]) -> bool:
    return objects.is_ours(data) and data.get("kind") == ROLE_KIND
