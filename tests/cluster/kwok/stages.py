"""What KWOK makes of nodes and pods: pods of Jobs run, and end well with what ours have to say.

A pod is written to three times, less than by a kubelet: bound by the scheduler, then running, then
ended. Its last words come from its labels and its configuration alone, because KWOK remembers
nothing: every agent works on the same commit, each makes one of its own, and every push lands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

ROLE_LABELS = ("bernstein.dev/job", "bench/job")
"""Where a pod says what it is for: ours, and those that are like ours but nobody watches."""
TASK_LABELS = ("bernstein.dev/task", "bench/task")
UNCHANGED, HELD = "unchanged", "held"
"""Beginnings of names of Tasks: their agents change nothing, or work until they are stopped."""
COMPARED_WITH = "d4a427c34882af11"
"""Names the protected paths of a Project that says nothing of them: nothing of them is changed."""
RUN_MILLISECONDS = 500
"""Between the start of a pod and its end."""

Stage = Mapping[str, object]

_ENDED = ["Succeeded", "Failed"]
_PHASE = ".status.phase"
_TOLD_TO_END = ".metadata.deletionTimestamp"


def all_stages() -> list[Stage]:
    """Stages of the node and of pods; at most one of them fits an object."""
    return [_node_ready(), _node_heartbeat(), _pod_runs(), _pod_ends(), _pod_killed(), _pod_gone()]


def as_yaml(stages: Iterable[Stage]) -> str:
    """A file as KWOK reads it."""
    return "".join(f"---\n{json.dumps(stage, indent=1)}\n" for stage in stages)


def _stage(
    name: str, kind: str, where: list[object], then: Mapping[str, object], wait: int = 0
) -> Stage:
    """`wait`: milliseconds until it happens."""
    spec: dict[str, object] = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": where},
        "next": then,
    }
    if wait:
        spec["delay"] = {"durationMilliseconds": wait}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }


def _is(key: str, operator: str, *values: str) -> object:
    found: dict[str, object] = {"key": key, "operator": operator}
    return found | {"values": list(values)} if values else found


# --- the node


_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_NODE_STATUS = """
{{ $now := Now }}
addresses: [{address: 10.9.9.9, type: InternalIP}]
allocatable: {cpu: "100000", memory: 100Ti, ephemeral-storage: 1000Ti, pods: "1000000"}
capacity: {cpu: "100000", memory: 100Ti, ephemeral-storage: 1000Ti, pods: "1000000"}
conditions:
- type: Ready
  status: "True"
  reason: KubeletReady
  message: it is played
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
"""


def _node_ready() -> Stage:
    then = {"statusTemplate": _NODE_STATUS}
    return _stage("node-ready", "Node", [_is(_READY, "NotIn", "True")], then)


def _node_heartbeat() -> Stage:
    """Before the controller manager misses it, which takes 50 s."""
    then = {"statusTemplate": _NODE_STATUS}
    return _stage("node-heartbeat", "Node", [_is(_READY, "In", "True")], then, wait=20_000)


# --- pods


_OF_A_JOB = _is(".metadata.ownerReferences.[].kind", "In", "Job")
_LIVES = _is(_TOLD_TO_END, "DoesNotExist")
_NAMES = """
{{ $now := Now }}
{{ $labels := .metadata.labels }}
{{ $begun := or .status.startTime $now }}
"""
_RUNNING = """
phase: Running
startTime: {{ $now | Quote }}
podIP: 10.9.0.1
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }}}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  ready: true
  {{ if eq (default "" .restartPolicy) "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
  {{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  ready: true
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
"""
_FACTS = """
{{ $role := or (index $labels "bernstein.dev/job") (index $labels "bench/job") "" }}
{{ $task := or (index $labels "bernstein.dev/task") (index $labels "bench/task") "" }}
{{ $base := sha1sum "the first commit" }}
{{ $sha := sha1sum .metadata.uid }}
{{ $files := 1 }}
{{ $outcome := "Succeeded" }}
{{ if hasPrefix "unchanged" $task }}{{ $sha = $base }}{{ $files = 0 }}{{ $outcome = "" }}{{ end }}
{{ $tree := sha1sum $sha }}
{{ $pack := printf "pack-%s.pack" $base }}
{{ $index := printf "pack-%s.idx" $base }}
{{ $file := "0000000000000000000000000000000000000000000000000000000000000000" }}
{{ $config := dict }}
{{ range .spec.containers }}{{ $words := or .command list }}
{{ if and (eq (len $words) 5) (eq (index $words 2) "bernstein.pods") }}
{{ $config = fromJson (index $words 4) }}{{ end }}
{{ end }}
{{ $verdicts := list }}
{{ range (or $config.checks $config.questions list) }}
{{ $verdicts = append $verdicts (dict "name" .name "verdict" "Passed") }}
{{ end }}
{{ $says := dict }}
"""
LAST_WORDS = {
    "recorder": (
        'dict "base" $base "sha" $sha "tree" $tree'
        f' "changed" (dict "files" $files "protected_by" "{COMPARED_WITH}")'
        ' "usage" (dict "input" 1000 "output" 100) "final" (dict "outcome" "Succeeded")'
    ),
    "pusher": 'dict "base" $base "sha" $sha "tree" $tree "final" true "outcome" $outcome',
    "inspect": 'dict "verdicts" $verdicts',
    "judge": 'dict "verdicts" $verdicts',
    "land": 'dict "state" "Landed" "tip" $config.sha',
    "cache": (
        'dict "content" (dict "commit" $base'
        ' "pack" (dict "name" $pack "size" 1000 "sha256" $file)'
        ' "index" (dict "name" $index "size" 100 "sha256" $file))'
    ),
    **dict.fromkeys(("probe", "probe-work", "probe-deliver"), 'dict "too_strong" false'),
}
"""What containers leave, by their names, as expressions of Go's templates."""
_SAID = "".join(
    f'{{{{ $says = set $says "{name}" (toJson ({words})) }}}}\n'
    for name, words in LAST_WORDS.items()
)
_END = """
phase: %(phase)s
conditions:
- {type: Ready, status: "False", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", lastTransitionTime: {{ $now | Quote }}}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  ready: false
  started: false
  state:
    terminated:
      exitCode: %(code)d
      reason: %(reason)s
      message: {{ %(message)s }}
      startedAt: {{ $begun | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  ready: false
  started: false
  state:
    terminated:
      exitCode: %(code)d
      reason: %(reason)s
      message: {{ %(message)s }}
      startedAt: {{ $begun | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
"""
_SUCCEEDED = _END % {
    "phase": "Succeeded",
    "code": 0,
    "reason": "Completed",
    # A Job that is like ours, but of one plain container, has nothing to say.
    "message": 'ternary (get $says .name) "" (ne $role "") | Quote',
}
_KILLED = _END % {"phase": "Failed", "code": 143, "reason": "Error", "message": '"" | Quote'}


def _pod_runs() -> Stage:
    where = [_OF_A_JOB, _LIVES, _is(_PHASE, "NotIn", "Running", *_ENDED)]
    return _stage("pod-runs", "Pod", where, {"statusTemplate": _NAMES + _RUNNING})


def _pod_ends() -> Stage:
    held = f'(.metadata.labels["{TASK_LABELS[0]}"] // "") | startswith("{HELD}")'
    where = [_OF_A_JOB, _LIVES, _is(_PHASE, "In", "Running"), _is(held, "NotIn", "true")]
    then = {"statusTemplate": _NAMES + _FACTS + _SAID + _SUCCEEDED}
    return _stage("pod-ends", "Pod", where, then, wait=RUN_MILLISECONDS)


def _pod_killed() -> Stage:
    where = [_OF_A_JOB, _is(_TOLD_TO_END, "Exists"), _is(_PHASE, "NotIn", *_ENDED)]
    return _stage("pod-killed", "Pod", where, {"statusTemplate": _NAMES + _KILLED})


def _pod_gone() -> Stage:
    """As a kubelet does: finalizers stay, and whoever put them there takes them off."""
    where = [_OF_A_JOB, _is(_TOLD_TO_END, "Exists"), _is(_PHASE, "In", *_ENDED)]
    return _stage("pod-gone", "Pod", where, {"delete": True})
