"""Perform: bring one task from what it is to resolved, by the cheapest way that proves it (design 4).

Claim it, look again, then: nothing; or merge and verify what is there; or verify again on today's tree; or let an
agent work, attempt by attempt. Exactly one process gets past the claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from baton_runner.agents.protocol import Agent
from baton_runner.base.clock import rfc3339
from baton_runner.base.errors import ActionNeeded, BatonError, DamagedRecord
from baton_runner.controller.assignments import TURN_COMPLETED, Assignment, Brief, End
from baton_runner.controller.integration import BranchTaken, Conflicted, Integrated, Proposal, Red, checked_out
from baton_runner.controller.numbering import next_attempt
from baton_runner.controller.parts import Parts
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.states import Assessment, Need, State
from baton_runner.controller.ticks import tick_for, untick_for
from baton_runner.controller.verification import Check
from baton_runner.evidence.decisions import Failure, FailureKind, Redo
from baton_runner.evidence.packet import Packet, read_packet
from baton_runner.evidence.receipt import Receipt, Work
from baton_runner.plan.model import Mark, Section, Task
from baton_runner.repo.slots import Kind

__all__ = ["Lifecycle", "Subject"]

_TAIL_CHARACTERS = 4000


@dataclass(frozen=True)
class Subject:
    """A task as it was found under its claim: what it is, what it needs, what would prove it."""

    task: Task
    section: Section
    assessment: Assessment
    definition_digest: str
    recipe: Mapping[str, str]
    checks: tuple[Check, ...]
    receipt: Receipt | None
    failure: Failure | None
    redo: Redo | None

    @property
    def done_before(self) -> bool:
        """Whether it was finished once, so that there may be nothing left to change: only a first run must."""
        done = {State.BROKEN, State.STALE}
        return self.redo is not None or self.receipt is not None or self.assessment.state in done

    @property
    def reason(self) -> str:
        """Why it is worked on, in one word for the packet."""
        match self.assessment.state:
            case State.REDO | State.FAILED | State.CONFLICT | State.BROKEN | State.NOT_INTEGRATED:
                return str(self.assessment.state.value)
            case State.STALE:
                return "upstream" if self.assessment.need is Need.REVERIFY else "edited"
            case _:
                return "first"


class Lifecycle:
    """Works on the tasks of one change. ``look`` assesses a task from what is on disk now; thread-safe."""

    def __init__(
        self, parts: Parts, look: Callable[[str], Subject | None], agent_of: Callable[[Task], tuple[Agent, int, int]]
    ) -> None:
        self._parts = parts
        self._look = look
        self._agent_of = agent_of

    def perform(self, key: str, resources: tuple[str, ...], before_agent: Callable[[], None]) -> Result:
        """Do what a task needs. ``before_agent`` is called before the first agent is paid and may raise ActionNeeded."""
        parts = self._parts
        started = parts.clock.monotonic()
        with parts.claims.claim(key, resources, f"{parts.change.id}:{key}") as denied:
            if denied is not None:
                busy = "in work in" if denied.what == key else "in use by"
                return Result(parts.change.id, key, Verdict.DEFERRED, f"{denied.what} is {busy} {denied.owner}")
            result = self._claimed(key, before_agent)
        return replace(result, seconds=parts.clock.monotonic() - started)

    def _claimed(self, key: str, before_agent: Callable[[], None]) -> Result:
        subject = self._look(key)
        if subject is None:
            return Result(self._parts.change.id, key, Verdict.EDITED, "the plan was edited: run again")
        assessment = subject.assessment
        if assessment.need is Need.NOTHING:
            return self._result(subject, Verdict.CURRENT, assessment.reason)
        if assessment.need is Need.PERSON:
            return self._result(subject, Verdict.PERSON, assessment.reason)
        if assessment.blockers:
            return self._result(subject, Verdict.BLOCKED, assessment.reason)
        self._emit(subject, "task.started", state=assessment.state.value, reason=assessment.reason)
        try:
            cheap = self._without_agent(subject)
            if isinstance(cheap, Result):
                return cheap
            taken = self._parts.branch.checked_out()
            if taken is not None:
                raise checked_out(taken)
            before_agent()
            if subject.task.mark is Mark.RESOLVED:  # the decision to work on it again is on disk: receipt or redo
                untick_for(self._parts, subject.task)
            return self._with_agent(replace(subject, failure=cheap or subject.failure))
        except ActionNeeded as error:  # nothing about this task: the whole run waits for a person
            self._emit(subject, "task.stopped", message=str(error))
            raise
        except BatonError as error:
            return self._fail(subject, self._failure("error", str(error), 0), Work("none"), attempts=0)

    def _without_agent(self, subject: Subject) -> Result | Failure | None:
        """Merge what is there, or verify again; a Failure is what an agent must mend, None that nothing could be tried."""
        receipt = subject.receipt
        if receipt is None or subject.assessment.need not in {Need.INTEGRATE, Need.REVERIFY}:
            return None
        commit = receipt.commit if subject.assessment.need is Need.INTEGRATE else None
        if commit is not None and not self._exists(commit):
            return None
        draft = replace(receipt, inputs=subject.assessment.inputs, recipe=subject.recipe)
        number = receipt.attempt
        proposal = Proposal(
            draft=draft,
            title=subject.task.title,
            commit=commit,
            previous=receipt,
            answers=subject.redo,
            checks=subject.checks,
            logs=self._parts.layout.logs(subject.task.key, number),
            held=subject.task.directives.resources,
        )
        ending = self._parts.integrator.integrate(proposal, finished=rfc3339(self._parts.clock.now()))
        match ending:
            case Integrated():
                return self._publish(subject, ending.receipt, Verdict.RENEWED, Work("none"), attempts=0)
            case Red():
                failed = ending.failed
                message = f"`{failed.check.command}` is red on today's tree ({failed.said})"
                output = failed.tail[-_TAIL_CHARACTERS:]
                return replace(
                    self._failure("red", message, number), command=failed.check.command, output=output, log=failed.log
                )
            case Conflicted():
                message = f"its commit {receipt.commit[:12]} conflicts with the branch: {', '.join(ending.paths[:10])}"
                return self._failure("conflict", message, number)
            case BranchTaken():
                raise checked_out(ending.worktree)
            case _:
                return self._stopped(subject, Work("none"))

    def _exists(self, commit: str) -> bool:
        return self._parts.objects.git.try_run("cat-file", "-e", f"{commit}^{{commit}}").code == 0

    def _with_agent(self, subject: Subject) -> Result:
        agent, attempts, turns = self._agent_of(subject.task)
        salvaged = self._salvage(subject, agent, turns)
        if salvaged is not None:
            return salvaged
        end: End | None = None
        work = Work(agent.kind)
        for tried in range(1, attempts + 1):
            number = next_attempt(self._parts.layout, self._parts.refs, self._parts.workspaces, subject.task.key)
            end = Assignment(self._parts, self._brief(subject), agent, number, turns).run()
            work += end.work
            if end.receipt is not None:
                return self._publish(subject, end.receipt, Verdict.RESOLVED, work, attempts=tried)
            if end.failure is None:
                return self._stopped(subject, work)
            end.failure.write(self._parts.layout.failure(subject.task.key))
            subject = replace(subject, failure=end.failure)
            if end.final or self._parts.cancel.is_set:
                break
        assert end is not None  # noqa: S101 - a run grants at least one attempt
        assert end.failure is not None  # noqa: S101 - anything else returned above
        return self._fail(subject, end.failure, work, attempts=tried)

    def _salvage(self, subject: Subject, agent: Agent, turns: int) -> Result | None:
        """Publish what a dead run's agent had finished, if it still is what is asked for and verifies."""
        parts, key = self._parts, subject.task.key
        if not parts.layout.packets(key).is_dir():
            return None
        for orphan in parts.workspaces.orphans():
            purpose = orphan.record.purpose
            if (purpose.kind, purpose.change, purpose.key) != (Kind.ATTEMPT, parts.change.id, key):
                continue
            worktree = parts.workspaces.adopt(orphan.slot)
            if worktree is None:
                continue
            packet = self._packet_worth_salvaging(subject, purpose.attempt)
            if packet is None:
                worktree.keep("left by an interrupted run")
                continue
            end = Assignment(parts, self._brief(subject), agent, purpose.attempt, turns).salvage(worktree, packet)
            if end.receipt is not None:
                self._emit(subject, "task.salvaged", attempt=purpose.attempt)
                return self._publish(subject, end.receipt, Verdict.RESOLVED, end.work, attempts=0)
        return None

    def _packet_worth_salvaging(self, subject: Subject, attempt: int) -> Packet | None:
        if subject.redo is not None:
            return None  # a person asked for it anew
        if not (self._parts.layout.logs(subject.task.key, attempt) / TURN_COMPLETED).exists():
            return None
        try:
            packet = read_packet(self._parts.layout.packet(subject.task.key, attempt))
        except DamagedRecord:
            return None  # promise 3: the worktree is kept, the task is worked on again
        return packet if packet and packet.definition_digest == subject.definition_digest else None

    def _brief(self, subject: Subject) -> Brief:
        settings = self._parts.policy.settings
        return Brief(
            task=subject.task,
            section=subject.section,
            definition_digest=subject.definition_digest,
            inputs=subject.assessment.inputs,
            recipe=subject.recipe,
            checks=subject.checks,
            reason=subject.reason,
            failure=subject.failure,
            previous=subject.receipt,
            answers=subject.redo,
            allow_empty=settings.agent.allow_empty or subject.task.directives.allow_empty or subject.done_before,
        )

    def _publish(self, subject: Subject, receipt: Receipt, verdict: Verdict, work: Work, *, attempts: int) -> Result:
        """What follows a publication: the tick, and the news."""
        problem = tick_for(self._parts, subject.task, receipt)
        self._emit(
            subject, "task.resolved", verdict=verdict.value, outcome=receipt.outcome, seal=receipt.seal,
            cost_usd=work.cost_usd, turns=work.turns,
        )  # fmt: skip
        return Result(self._parts.change.id, subject.task.key, verdict, problem, work=work, attempts=attempts)

    def _fail(self, subject: Subject, failure: Failure, work: Work, *, attempts: int) -> Result:
        self._emit(subject, "task.failed", reason=failure.kind, message=failure.message, attempt=failure.attempt)
        verdict = Verdict.CONFLICT if failure.kind == "conflict" else Verdict.FAILED
        change = self._parts.change.id
        return Result(change, subject.task.key, verdict, failure.message, failure, work, attempts)

    def _failure(self, kind: FailureKind, message: str, attempt: int) -> Failure:
        return Failure(kind, message, attempt, rfc3339(self._parts.clock.now()))

    def _stopped(self, subject: Subject, work: Work) -> Result:
        message = "stopped; the next run goes on"
        self._emit(subject, "task.stopped", message=message)
        return self._result(subject, Verdict.STOPPED, message, work)

    def _result(self, subject: Subject, verdict: Verdict, message: str, work: Work | None = None) -> Result:
        return Result(self._parts.change.id, subject.task.key, verdict, message, work=work or Work("none"))

    def _emit(self, subject: Subject, kind: str, **data: Any) -> None:
        self._parts.events.emit(self._parts.change.id, subject.task.key, kind, **data)
