"""The container that runs a Project's setup in a checkout, before what the checkout is for.

It has the image, the limits and the network of what follows, and nothing else of the pod but the
tree, HOME and /tmp, which what follows gets as it left them. It runs code of the repository, so
that no credential is in it: none of git, of a model or of our server.
"""

from __future__ import annotations

from bernstein.api.programs.setup import SETUP
from bernstein.api.project import Resources
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object, mount
from bernstein.controllers.settings import OperatorSettings
from bernstein.places import LAUNCHER, SESSION, TMP, WORKSPACE

_TERM_SECONDS = 5


def container(
    command: str,
    seconds: int,
    image: str,
    resources: Resources,
    settings: OperatorSettings,
    *,
    home: str,
    name: str = SETUP,
    tree: str = "workspace",
    read_only: bool = True,
) -> Object:
    """The launcher ends the command, with all that it has started, after so many `seconds`.

    `tree`: the volume of the checkout; `home`: where the volume of that name is.
    """
    limits = ["--seconds", str(seconds), "--int-seconds", "0", "--term-seconds", str(_TERM_SECONDS)]
    return pod.container(
        name,
        image,
        [LAUNCHER, *limits, "--", "sh", "-c", command],
        mounts=[
            mount(tree, WORKSPACE),
            mount("session", SESSION, read_only=True),
            mount("home", home),
            mount("tmp", TMP),
        ],
        resources=pod.their_resources(resources),
        env={**pod.GIT_TRUSTS_WORKSPACE, "HOME": home, "TMPDIR": TMP, "CI": "true"},
        pull=settings.image_pull_policy,
        read_only=read_only,
        workdir=WORKSPACE,
    )
