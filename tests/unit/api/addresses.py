"""Addresses of repositories, as a Project may and may not have them."""

from __future__ import annotations

TAKEN = (
    "https://git.example/team/app.git",
    "https://git.example:8443/app",
    "ssh://git.example/app.git",
    "ssh://git@git.example:2222/team/app",
    "ssh://git@[2001:db8::1]:22/~ann/app.git",
    "ssh://git@git.example:65535/team/sub-group/my_app.git/",
)
HOST_AND_PATH = ("git@git.example:team/app.git", "git.example:team/app.git")
"""As git also takes them. The model has them, so that a rule of the CRD can say what to write."""
REFUSED = (
    *HOST_AND_PATH,
    "http://git.example/app.git",
    "https://user:secret@git.example/app.git",
    "ssh://-oProxyCommand=touch%20x/app.git",
    "ssh://-oProxyCommand=x@git.example/app.git",
    "ssh://git@-oProxyCommand=x/app.git",
    "ssh://git@git.example/-x",
    "ssh://git@git.example/a b",
    "ssh://git@git.example/a'b",
    "ssh://git@git.example/$(id)",
    "ssh://git@git.example/a%0Ab",
    "ssh://git:secret@git.example/app.git",
    "ssh://git@git.example:99999/app.git",
    "ssh://git@git.example:-1/app.git",
    "ssh://git@git.example/",
    "ssh://git@git.example",
    "ssh://git@git.example/app.git?x",
    "ssh://git@git.example/app.git#x",
    "ssh://git@git.example/app.git\n",
    "ssh:///app.git",
    "git+ssh://git@git.example/app.git",
    "SSH://git@git.example/app.git",
    "file:///srv/app.git",
    "ext::sh -c id",
    "-oProxyCommand=x",
)
"""Each could be read as an option or a command by git, ssh or a shell, holds a secret, or is none
of ours."""
