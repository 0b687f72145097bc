"""The metrics of the operator and of the server, each with a registry of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import product
from typing import Literal, get_args

from prometheus_client import Gauge

from bernstein.api.approvals.approval import ApprovalState
from bernstein.api.meta import PLAN_KIND, PROJECT_KIND, TASK_KIND
from bernstein.api.requests import OF_A_PLAN, OF_A_TASK
from bernstein.api.states import SessionState, TaskState
from bernstein.observe import series
from bernstein.observe.allowances import Allowances, Remaining
from bernstein.observe.budgets import Budgets, Purses
from bernstein.observe.engine import EngineMetrics
from bernstein.observe.population import ByReason, Census, Population
from bernstein.observe.registry import counter, histogram, new_registry, one_of, plain_gauge, word
from bernstein.observe.silence import Heard, Silent
from bernstein.observe.vocabulary import FORGES, JOBS, NO_FORGE, REASONS
from bernstein.observe.work import Work, role_label

MANY_ATTEMPTS = 5
VERBS = frozenset({*OF_A_TASK, *OF_A_PLAN})
AttemptLabel = Literal["first", "later", "plan"]
"""What a verification judged: a Task's first counted attempt, a later one, or a Plan as a whole."""


class Metrics(EngineMetrics):
    """The operator's metrics. Count a fact once, after the write that records it has succeeded.

    No method raises or blocks. Money and tokens are added to what was counted; amounts that are not
    positive are ignored.
    """

    def __init__(self, *, process: bool = True) -> None:
        self.registry = new_registry(process=process)
        super().__init__(self.registry)
        self._begun: set[str] = set()
        self._task_moves = counter(series.TASK_MOVES, self.registry)
        self._task_closed = histogram(series.TASK_CLOSED_SECONDS, self.registry)
        self._closed = counter(series.TASKS_CLOSED, self.registry)
        self._landed = histogram(series.AGENT_END_TO_CLOSED, self.registry)
        self._waitings = histogram(series.WAITED, self.registry)
        self._answers = counter(series.ANSWERS, self.registry)
        self._decisions = histogram(series.DECISIONS, self.registry)
        self._started = counter(series.SESSIONS_STARTED, self.registry)
        self._ended = counter(series.SESSIONS_ENDED, self.registry)
        self._jobs = histogram(series.JOB_SECONDS, self.registry)
        self._signals = counter(series.SIGNAL_VERDICTS, self.registry)
        self._gates = counter(series.GATE_VERDICTS, self.registry)
        self._known = counter(series.GATE_CACHE_HITS, self.registry)
        self._verifications = counter(series.VERIFICATIONS, self.registry)
        self._scores = histogram(series.QUALITY_SCORE, self.registry)
        self._merges = counter(series.MERGES, self.registry)
        self._feedback = counter(series.FEEDBACK, self.registry)
        self._asked = counter(series.FORGE_REQUESTS, self.registry)
        self._refs = counter(series.REFS, self.registry)
        self._withdrawn = counter(series.WITHDRAWN, self.registry)
        self._cache_fills = counter(series.CACHE_FILLS, self.registry)
        self._cache_bytes = counter(series.CACHE_BYTES, self.registry)
        self._cost = counter(series.COST, self.registry)
        self._tokens = counter(series.TOKENS, self.registry)
        self._spans = counter(series.TRACE_SPANS, self.registry)

    @contextmanager
    def population(
        self,
        *,
        tasks: Census,
        sessions: Census,
        plans: Census,
        approvals: Census,
        projects: Census,
        allowances: Allowances,
        budgets: Budgets,
        heard: Heard,
    ) -> Iterator[None]:
        """Inside of the block every scrape tells how many of these objects there are.

        Every replica has them in its caches: so only the one that leads may enter the block, or a
        sum over replicas would count each object more than once.
        """
        needs_person = {
            TASK_KIND: tasks.stalled,
            PLAN_KIND: plans.stalled,
            PROJECT_KIND: projects.stalled,
        }
        collectors = (
            Population(series.TASKS, tasks, known=TaskState),
            Population(series.SESSIONS, sessions, known=SessionState),
            Population(series.PLANS, plans),
            Population(series.APPROVALS, approvals, known=ApprovalState),
            ByReason(series.STALLED, needs_person),
            ByReason(series.WAITING, {TASK_KIND: tasks.waiting, PLAN_KIND: plans.waiting}),
            Remaining(allowances),
            Purses(budgets),
            Silent(heard),
        )
        for collector in collectors:
            self.registry.register(collector)
        try:
            yield
        finally:
            for collector in collectors:
                self.registry.unregister(collector)

    def _begin(self, namespace: str) -> None:
        """What objectives are reckoned from begins with 0: a line that begins with its first event
        shows Prometheus no increase by it."""
        if namespace in self._begun:
            return
        self._begun.add(namespace)
        for attempt, result in product(get_args(AttemptLabel), ("passed", "rejected")):
            self._verifications(namespace, attempt, result)
        self._task_closed(namespace)

    def task_moved(self, namespace: str, state: str) -> None:
        self._begin(namespace)
        self._task_moves(namespace, word(state)).inc()

    def task_closed(self, namespace: str, seconds: float) -> None:
        """`seconds` since the Task was created."""
        self._task_closed(namespace).observe(max(seconds, 0.0))

    def closed_after(self, namespace: str, project: str, role: str, attempts: int) -> None:
        """`attempts`: those that counted, the last one with them."""
        many = str(max(attempts, 1)) if attempts < MANY_ATTEMPTS else "more"
        self._closed(namespace, project, role_label(role), many).inc()

    def agent_end_to_closed(self, namespace: str, seconds: float) -> None:
        """`seconds` since the last session of a Task ended that is Closed now."""
        self._landed(namespace).observe(max(seconds, 0.0))

    def waited(
        self, namespace: str, kind: Literal["Task", "Plan"], reason: str, seconds: float
    ) -> None:
        """`seconds` of waiting for this reason that is over."""
        labels = (namespace, kind, one_of(reason, REASONS))
        self._waitings(*labels).observe(max(seconds, 0.0))

    def answered(
        self, namespace: str, kind: Literal["Task", "Plan"], verb: str, answer: str
    ) -> None:
        self._answers(namespace, kind, one_of(verb, VERBS), answer).inc()

    def decided(
        self, namespace: str, kind: Literal["Task", "Plan"], decision: str, seconds: float
    ) -> None:
        """`seconds` from the question to people until the decision was acted upon."""
        self._decisions(namespace, kind, word(decision)).observe(max(seconds, 0.0))

    def session_started(self, namespace: str, adapter: str) -> None:
        self._started(namespace, word(adapter)).inc()

    def session_ended(self, namespace: str, adapter: str, reason: str) -> None:
        self._ended(namespace, word(adapter), word(reason)).inc()

    def job_finished(self, namespace: str, kind: str, result: str, seconds: float) -> None:
        """`kind`: what the Job is for. `result`: succeeded, failed."""
        self._jobs(namespace, one_of(kind, JOBS), word(result)).observe(max(seconds, 0.0))

    def signal_verdict(self, namespace: str, type_: str, verdict: str) -> None:
        self._signals(namespace, word(type_), word(verdict)).inc()

    def gate_verdict(self, namespace: str, gate: str, verdict: str) -> None:
        self._gates(namespace, word(gate), word(verdict)).inc()

    def gate_was_known(self, namespace: str, gate: str) -> None:
        self._known(namespace, word(gate)).inc()

    def verified(
        self, namespace: str, attempt: AttemptLabel, *, passed: bool, score: int | None = None
    ) -> None:
        """`score`: from 0 to 100, where there is one."""
        result = "passed" if passed else "rejected"
        self._verifications(namespace, attempt, result).inc()
        if score is not None:
            self._scores(namespace, attempt).observe(score / 100)

    def delivered(
        self,
        namespace: str,
        kind: Literal["Task", "Plan"],
        result: str,
        *,
        strategy: Literal["pr", "direct"] = "direct",
        forge: str = NO_FORGE,
    ) -> None:
        """`forge`: of its pull request; NO_FORGE where it has none."""
        labels = (namespace, kind, strategy, one_of(forge, FORGES), word(result))
        self._merges(*labels).inc()

    def sent_back(self, namespace: str, kind: Literal["Task", "Plan"]) -> None:
        """What was said of its pull request goes back to an agent."""
        self._feedback(namespace, kind).inc()

    def forge_asked(self, namespace: str, forge: str, *, requests: int, unchanged: int) -> None:
        """`unchanged`: of the requests, those that were answered by a tag."""
        forge = one_of(forge, FORGES)
        for answer, many in (("full", requests - unchanged), ("unchanged", unchanged)):
            if many > 0:
                self._asked(namespace, forge, answer).inc(many)

    def refs_pruned(self, namespace: str, *, deleted: int, left: int, lost: int) -> None:
        for outcome, many in (("deleted", deleted), ("left", left), ("lost", lost)):
            if many > 0:
                self._refs(namespace, outcome).inc(many)

    def requests_withdrawn(self, namespace: str, *, closed: int, left: int) -> None:
        for outcome, many in (("closed", closed), ("left", left)):
            if many > 0:
                self._withdrawn(namespace, outcome).inc(many)

    def cache_looked_at(
        self, namespace: str, outcome: Literal["filled", "unchanged", "failed"], size: int
    ) -> None:
        """`size`: bytes that were written."""
        self._cache_fills(namespace, outcome).inc()
        self._cache_bytes(namespace).inc(size)

    def spent(self, work: Work, usd: Decimal | float) -> None:
        amount = float(usd)
        if 0 < amount < math.inf:
            self._cost(*work.labels).inc(amount)

    def tokens(
        self,
        work: Work,
        *,
        input: int = 0,  # noqa: A002 - the name of that kind of tokens everywhere
        output: int = 0,
        cache_read: int = 0,
        cache_write: int = 0,
    ) -> None:
        amounts = {
            "input": input,
            "output": output,
            "cache_read": cache_read,
            "cache_write": cache_write,
        }
        for kind, amount in amounts.items():
            if amount > 0:
                self._tokens(*work.labels, kind).inc(amount)

    def spans(self, outcome: Literal["sent", "refused", "dropped"], many: int) -> None:
        """What became of spans of traces."""
        if many > 0:
            self._spans(outcome).inc(many)


class ServerMetrics(EngineMetrics):
    """The server's metrics."""

    def __init__(self, *, process: bool = True) -> None:
        self.registry = new_registry(process=process)
        super().__init__(self.registry)
        self._http = counter(series.HTTP_REQUESTS, self.registry)
        self._http_seconds = histogram(series.HTTP_SECONDS, self.registry)
        self._callbacks = counter(series.CALLBACKS, self.registry)
        self._reviews = counter(series.TOKEN_REVIEWS, self.registry)
        self._certificate: Gauge | None = None

    def http_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route` is the pattern of the path, never the path itself."""
        self._http(method, route, str(status)).inc()
        self._http_seconds(route).observe(seconds)

    def callback(self, kind: str, result: str) -> None:
        self._callbacks(word(kind), word(result)).inc()

    def token_reviewed(self, result: str) -> None:
        self._reviews(word(result)).inc()

    def certificate_ends(self, at: float) -> None:
        """`at`: seconds since 1970. Without a certificate there is no such series."""
        if self._certificate is None:
            self._certificate = plain_gauge(series.CERTIFICATE_EXPIRY, self.registry)
        self._certificate.set(at)
