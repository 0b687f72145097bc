"""What the rules about a Project's repositories let through and refuse, by their messages."""

from __future__ import annotations

from bernstein.api.projects.repository import NO_USER, NO_USER_OF_API
from tests.control_plane.api.registry_pairs import Pair

BRANCHES = {
    "git takes no branch with '..', '//', '/.' or '.lock/' in its name, or with '.', '/' or "
    "'.lock' at its end": Pair(
        "release/v1.2_rc-1.locked",
        ("a..b", "a//b", "a/.b", "a.lock/b", "a.lock", "a.", "a/"),
    )
}
_ACCOUNTS = {each: {"secretName": f"git-{each}"} for each in ("read", "work", "deliver")}
_HTTPS = {"name": "app", "url": "https://git.example/team/app.git", "credentials": _ACCOUNTS}
_SSH = {**_HTTPS, "url": "ssh://git@git.example:2222/team/app.git"}
_FORGE = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
_API = {**_FORGE, "api": "https://git.example/api/v1"}
_CA = {"name": "git-ca"}
REPOSITORIES = {
    "an address begins with https:// or ssh://; what git also takes as HOST:PATH is "
    "ssh://HOST/PATH": Pair(_SSH["url"], ("git@git.example:team/app.git", "git.example:app")),
    NO_USER: Pair(
        _SSH["url"],
        (
            "https://ann:secret@git.example/app.git",
            "https://ann:se@cret@git.example:8443/app.git",
            "https://ann@git.example",
            "ssh://git:secret@git.example/app.git",
            "ssh://:secret@git.example:2222/app.git",
        ),
    ),
    NO_USER_OF_API: Pair(
        _API,
        tuple(
            {**_API, "api": f"https://{there}"}
            for there in (
                "ann:secret@git.example/api/v1",
                "ann:se@cret@git.example:8443/api/v1",
                "ann@git.example",
            )
        ),
    ),
    "an address for SSH does not say where the forge's API is: say it in forge.api": Pair(
        {**_SSH, "forge": _API}, ({**_SSH, "forge": _FORGE},)
    ),
    "SSH knows no certificates: known_hosts in the accounts' Secrets has the server's keys. With a "
    "forge 'ca' is the authority of its API": Pair(
        {**_SSH, "forge": _API, "ca": _CA}, ({**_SSH, "ca": _CA},)
    ),
    "contents of Git LFS are fetched by https: give the repository such an address": Pair(
        {**_HTTPS, "checkout": {"lfs": True}}, ({**_SSH, "checkout": {"lfs": True}},)
    ),
    "it says nothing: name folders, or say what of Git LFS is fetched": Pair({"lfs": False}, ({},)),
    "it is another repository on the git server of 'url': the same accounts are used for "
    "both": Pair(
        {**_SSH, "workRepository": {"url": "ssh://git@git.example:2222/team/work.git"}},
        tuple(
            {**_SSH, "workRepository": {"url": url}}
            for url in (
                "https://git.example/team/work.git",
                "ssh://git@git.example/team/work.git",
                "ssh://git:secret@git.example:2222/team/work.git",
            )
        ),
    ),
    "it is the repository itself: leave it out": Pair(
        {**_HTTPS, "workRepository": {"url": f"{_HTTPS['url']}/work"}},
        ({**_HTTPS, "workRepository": {"url": _HTTPS["url"]}},),
    ),
}
