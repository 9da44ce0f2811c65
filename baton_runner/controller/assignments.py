"""One attempt at one task: packet, worktree, turns, and the judgement of each turn by integration (design 4).

An attempt ends when its work is published, when the agent cannot go on, or when its turns are used up. What failed is
kept; a red or a conflict goes back to the agent's session with the output.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from baton_runner.agents.environment import Identity, agent_environment
from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Agent, Outcome, Session, SessionRequest, TurnResult
from baton_runner.agents.registry import limits_for
from baton_runner.agents.usage import NO_USAGE
from baton_runner.base.clock import rfc3339
from baton_runner.base.errors import ActionNeeded, BatonError
from baton_runner.base.files import replace_file
from baton_runner.controller.endings import told_end
from baton_runner.controller.hooks import Hook
from baton_runner.controller.integration import BranchTaken, Conflicted, Integrated, Proposal, Red, checked_out
from baton_runner.controller.parts import Parts
from baton_runner.controller.pauses import MOST_PAUSES
from baton_runner.controller.prompts import boundary
from baton_runner.controller.protection import violations
from baton_runner.controller.verification import Check
from baton_runner.evidence.decisions import Failure, FailureKind, Redo
from baton_runner.evidence.packet import Packet, write_packet
from baton_runner.evidence.receipt import Inputs, Receipt, Work
from baton_runner.plan.definition import definition
from baton_runner.plan.model import Section, Task
from baton_runner.repo.checkout import landed_files
from baton_runner.repo.commits import Captured, CommitMode, StrayedHead, UncommittedWork, UnfinishedOperation, capture
from baton_runner.repo.refs import RefExists, attempt_ref
from baton_runner.repo.slots import Kind, Purpose
from baton_runner.repo.worktrees import Worktree
from baton_runner.store.journal import AttemptRow
from baton_runner.store.ledger import Refusal
from baton_runner.workflow.continuation import continuation
from baton_runner.workflow.prompt_values import PromptFailure, PromptTask

__all__ = ["TURN_COMPLETED", "Assignment", "Brief", "End", "view"]

TURN_COMPLETED = "turn-completed"
"""A file in an attempt's logs: its agent has ended a turn by itself, so what is in the worktree was meant."""
_TAIL_CHARACTERS = 4000
_MESSAGE_CHARACTERS = 200


@dataclass(frozen=True)
class Brief:
    """What an assignment is about, as it was when the task was claimed.

    ``reason`` says why it is worked on (first, redo, edited, upstream, failed, conflict), ``failure`` what was red or
    unwanted before, ``answers`` the redo decision that success answers, ``previous`` the receipt it will supersede.
    """

    task: Task
    section: Section
    definition_digest: str
    inputs: Inputs
    recipe: Mapping[str, str]
    checks: tuple[Check, ...]
    reason: str
    failure: Failure | None
    previous: Receipt | None
    answers: Redo | None
    allow_empty: bool


@dataclass(frozen=True)
class End:
    """How an attempt ended: with a receipt, a failure, or neither (the run was stopped)."""

    receipt: Receipt | None
    failure: Failure | None
    work: Work
    final: bool = False
    """Whether another attempt could not end otherwise."""


class Assignment:
    """One attempt. ``run`` does it all and leaves nothing running."""

    def __init__(self, parts: Parts, brief: Brief, agent: Agent, number: int, max_turns: int) -> None:
        self._parts = parts
        self._brief = brief
        self._agent = agent
        self._number = number
        self._max_turns = max_turns
        self._usage = NO_USAGE
        self._turns = 0
        self._session = ""
        self._started = parts.clock.monotonic()
        self._began = int(parts.clock.now().timestamp() * 1_000_000_000)
        self._logs = parts.layout.logs(brief.task.key, number)

    def run(self) -> End:
        """Work until the work is published or the attempt is over."""
        parts, task = self._parts, self._brief.task
        started = rfc3339(parts.clock.now())
        parts.journal.start(parts.change.id, task.key, self._number, agent=self._agent.kind, at=started)
        self._emit("attempt.started", attempt=self._number, agent=self._agent.kind, reason=self._brief.reason)
        try:
            end = self._in_worktree()
        except ActionNeeded:
            self._record(self._ended(), started)
            raise
        except (BatonError, OSError) as error:  # a disk or a folder that fails is no fault of the agent: not paid again
            end = replace(self._failed("error", str(error)), final=True)
        self._record(end, started)
        return end

    def salvage(self, worktree: Worktree, packet: Packet) -> End:
        """Judge what an attempt left whose process died after its agent had ended a turn; no agent is paid again."""
        try:
            judged = self._judge(worktree, packet, packet.digest, ())
        except BatonError as error:
            judged = self._failure("error", str(error))
        end = judged if isinstance(judged, End) else self._ended(failure=judged)
        if end.receipt:
            worktree.release(_held_by_us(worktree, end.receipt))
        else:
            worktree.keep("left by an interrupted run")
        return end

    def _in_worktree(self) -> End:
        parts, task = self._parts, self._brief.task
        base = parts.branch.ensure()
        purpose = Purpose(Kind.ATTEMPT, parts.change.id, task.key, self._number)
        worktree = parts.workspaces.acquire(purpose, base)
        end = self._ended()
        try:
            end = self._prepared(worktree, base)
        finally:
            self._hook(Hook.AFTER_RUN, worktree)
            if end.receipt is not None:
                worktree.release(_held_by_us(worktree, end.receipt))
            elif end.failure is None or end.failure.kind == "error":
                worktree.leave()
            else:
                worktree.keep(end.failure.message.partition("\n")[0][:200])
        if end.failure is not None:
            end = replace(end, failure=replace(end.failure, worktree=str(worktree.path)))
        return end

    def _prepared(self, worktree: Worktree, base: str) -> End:
        """Make the worktree ready, write the packet, and take the turns."""
        parts, task = self._parts, self._brief.task
        self._logs.mkdir(parents=True, exist_ok=True)
        try:
            parts.preparation.bring(worktree)
            parts.preparation.run(worktree, self._logs)
        except BatonError as error:
            return self._failed("setup", str(error))
        context = parts.preparation.context(worktree, parts.change, parts.change.plan_path)
        packet = self._packet(base, context)
        digest = write_packet(parts.layout.packet(task.key, self._number), packet)
        problem = (self._hook(Hook.AFTER_CREATE, worktree) if worktree.fresh else "") or self._hook(
            Hook.BEFORE_RUN, worktree
        )
        if problem:
            return self._failed("hook", problem)
        session = self._agent.start_session(self._request(worktree))
        try:
            return self._take_turns(session, worktree, packet, digest)
        finally:
            session.stop()

    def _hook(self, hook: Hook, worktree: Worktree) -> str:
        parts, key = self._parts, self._brief.task.key
        return parts.hooks.run(
            hook,
            change=parts.change.id,
            key=self._brief.task.id,
            worktree=worktree.path,
            logs=self._logs,
            marker=parts.claims.marker(key),
        )

    def _take_turns(self, session: Session, worktree: Worktree, packet: Packet, digest: str) -> End:
        failure = self._brief.failure
        for turn in range(1, self._max_turns + 1):
            result = self._turn(session, self._prompt(worktree, packet, turn, failure), turn)
            if isinstance(result, Failure):
                return self._ended(failure=result, final=result.kind == "budget")
            if self._parts.cancel.is_set or result.outcome is Outcome.CANCELLED:
                return self._ended()
            if result.outcome is not Outcome.COMPLETED:
                return self._failed(*told_end(self._agent.kind, result))
            replace_file(self._logs / TURN_COMPLETED, b"")
            end = self._judge(worktree, packet, digest, result.denials)
            if isinstance(end, End):
                return end
            failure = end
        assert failure is not None  # noqa: S101 - the last turn ended without an End, so with a failure
        return self._ended(failure=failure)

    def _turn(self, session: Session, prompt: str, turn: int) -> TurnResult | Failure:
        """One turn within its budget; a rate limit is waited for and the same turn taken again."""
        parts, kind = self._parts, self._agent.kind
        for _ in range(MOST_PAUSES):
            parts.pauses.wait(kind, parts.cancel)
            reservation = parts.ledger.reserve(parts.change.id, self._brief.task.key)
            if isinstance(reservation, Refusal):
                spent = f"{reservation.spent:g} of {reservation.value:g}"
                return self._failure("budget", f"{reservation.ceiling} is reached ({spent} spent or reserved)")
            self._emit("turn.started", attempt=self._number, turn=turn)
            result = session.run_turn(prompt, turn)
            parts.ledger.settle(reservation, usd=result.usage.cost_usd or 0.0, tokens=result.usage.total_tokens)
            self._note(result, turn)
            if result.outcome is not Outcome.RATE_LIMITED or parts.cancel.is_set:
                return result
            until = parts.pauses.begin(kind, result.reset_at)
            self._emit("agent.paused", agent=kind, until=rfc3339(until), message=result.message)
        return result

    def _note(self, result: TurnResult, turn: int) -> None:
        self._usage += result.usage
        self._turns = max(self._turns, turn)
        self._session = result.agent_session_id
        cost = result.usage.cost_usd
        self._emit(
            "turn.ended", attempt=self._number, turn=turn, outcome=result.outcome.value, cost_usd=cost,
            seconds=result.seconds, denials=list(result.denials),
        )  # fmt: skip

    def _judge(self, worktree: Worktree, packet: Packet, digest: str, denials: Sequence[str]) -> End | Failure:
        """Capture what the turn left and integrate it: an End, or what the next turn is told."""
        parts, brief = self._parts, self._brief
        mode = CommitMode(parts.policy.settings.agent.commit)
        message = f"{brief.task.name(parts.change.id)} {brief.task.title}"
        try:
            captured = capture(worktree, base=packet.base, plan_paths=(parts.plan_path,), message=message, mode=mode)
        except StrayedHead as error:
            return self._failed("strayed", str(error))
        except (UncommittedWork, UnfinishedOperation) as error:
            return self._failure("agent", str(error))
        if captured.left_behind:
            self._emit("attempt.left_behind", paths=list(captured.left_behind))
        if captured.commit is None and not brief.allow_empty:
            return self._ended(failure=self._failure("no_change", _no_change(denials)), final=True)
        self._park(captured, packet.base)
        landed = self._landed(captured)
        if landed:
            shown = ", ".join(landed[:10])
            what = f"the agent wrote into your checkout {parts.top}, not only into its worktree: {shown}"
            return self._failed("strayed", f"{what}; look at them, nothing there was touched by baton")
        touched = self._protected(captured)
        if touched:
            shown = ", ".join(touched[:10])
            return self._failure("red", f"protected files were changed or deleted: {shown}; put them back as they were")
        return self._integrate(captured, packet, digest)

    def _integrate(self, captured: Captured, packet: Packet, digest: str) -> End | Failure:
        parts, brief = self._parts, self._brief
        proposal = Proposal(
            draft=self._draft(packet, digest),
            title=brief.task.title,
            commit=captured.commit,
            previous=brief.previous,
            answers=brief.answers,
            checks=brief.checks,
            logs=self._logs,
            held=brief.task.directives.resources,
        )
        ending = parts.integrator.integrate(proposal, finished=rfc3339(parts.clock.now()))
        match ending:
            case Integrated():
                return self._ended(receipt=ending.receipt)
            case Red():
                return self._red(ending)
            case Conflicted():
                return self._conflict(ending)
            case BranchTaken():
                raise checked_out(ending.worktree)
            case _:
                return self._ended()

    def _red(self, ending: Red) -> Failure:
        failed = ending.failed
        self._emit("check.red", command=failed.check.command, said=failed.said)
        return replace(
            self._failure("red", f"`{failed.check.command}` is red on the merged tree ({failed.said})"),
            command=failed.check.command,
            output=failed.tail[-_TAIL_CHARACTERS:],
            log=failed.log,
        )

    def _conflict(self, ending: Conflicted) -> End | Failure:
        head, paths = ending.head, ", ".join(ending.paths[:10])
        failure = replace(
            self._failure("conflict", f"cannot be merged with the integration branch at {head[:12]}: {paths}"),
            command=f"git merge {head}",
            output="\n".join(ending.messages)[-_TAIL_CHARACTERS:],
        )
        if self._parts.policy.settings.integration.on_conflict == "keep":
            return self._ended(failure=failure, final=True)
        return failure

    def _landed(self, captured: Captured) -> tuple[str, ...]:
        """The files of the attempt that stand in the user's checkout too, byte for byte, written since it began."""
        top = self._parts.top
        fresh = [change.path for change in captured.changes if _written(top / change.path) >= self._began]
        return landed_files(self._parts.checkout, fresh, captured.changes)

    def _protected(self, captured: Captured) -> tuple[str, ...]:
        """The files that judge the work and were touched by it, unless its task allows that."""
        if not self._brief.task.directives.protect:
            return ()
        return violations(captured.changes, self._parts.policy.settings.verify.protect)

    def _park(self, captured: Captured, base: str) -> None:
        """Name the attempt's commit by a ref of ours before anything relies on it; a later turn gets its own."""
        if captured.commit is None:
            return
        self._parts.objects.make_durable(captured.commit, base)
        name = attempt_ref(self._parts.change.id, self._brief.task.key, self._number)
        for ref in (name, f"{name}.{self._turns}"):
            try:
                self._parts.refs.create(ref, captured.commit)
            except RefExists:
                continue
            return

    def _prompt(self, worktree: Worktree, packet: Packet, turn: int, failure: Failure | None) -> str:
        parts, brief = self._parts, self._brief
        told = _told(failure, brief)
        if turn > 1:
            text = continuation(turn, self._max_turns, told)
        else:
            first = told is None and brief.previous is None
            text = parts.policy.prompt.render(
                task=view(brief.task, brief.section, packet.change, packet.verification),
                attempt=None if first else self._number,
                failure=told,
            )
        end = boundary(
            worktree=worktree.path,
            plan=parts.plan_path,
            verification=packet.verification,
            context=packet.context,
            commits_itself=parts.policy.settings.agent.commit == "agent",
        )
        return f"{text}\n\n{end}\n"

    def _packet(self, base: str, context: tuple[str, ...]) -> Packet:
        parts, brief = self._parts, self._brief
        return Packet(
            change=parts.change.id,
            task=brief.task.id,
            key=brief.task.key,
            attempt=self._number,
            base=base,
            branch=parts.branch.name,
            plan=parts.plan_path,
            definition=definition(brief.task),
            definition_digest=brief.definition_digest,
            inputs={"gates": dict(brief.inputs.gates), "edges": dict(brief.inputs.edges)},
            verification=tuple(check.command for check in brief.checks),
            context=context,
            agent={"kind": self._agent.kind, "max_turns": self._max_turns},
            reason=brief.reason,
            failure=None if brief.failure is None else vars(brief.failure),
            created=rfc3339(parts.clock.now()),
        )

    def _draft(self, packet: Packet, digest: str) -> Receipt:
        brief = self._brief
        return Receipt(
            change=packet.change,
            task=packet.task,
            key=packet.key,
            attempt=packet.attempt,
            packet=digest,
            definition=packet.definition,
            definition_digest=packet.definition_digest,
            inputs=brief.inputs,
            commit=packet.base,
            base=packet.base,
            tree="",
            outcome="",
            checks=(),
            work=self._work(),
            finished="",
            recipe=brief.recipe,
        )

    def _request(self, worktree: Worktree) -> SessionRequest:
        parts, brief, agent = self._parts, self._brief, self._agent
        settings = parts.policy.settings
        limits = limits_for(agent.kind, settings)
        identity = parts.repository.identity
        token = settings.agent.token.reveal() if settings.agent.token else None
        tracker = settings.tracker.token.reveal() if settings.tracker.token else ""
        return SessionRequest(
            worktree=worktree.path,
            change=parts.change.id,
            task_id=brief.task.id,
            attempt=self._number,
            log_folder=self._logs,
            environ=agent_environment(
                parts.environ,
                needed=agent.environment_names,
                named=settings.agent.env,
                token=token,
                withheld=(tracker,),
                identity=Identity(identity.name, identity.email) if identity.is_default else None,
            ),
            marker=parts.claims.marker(brief.task.key),
            turn_timeout=brief.task.directives.timeout or limits.turn,
            stall_timeout=limits.stall,
            packet=parts.layout.packet(brief.task.key, self._number),
            cancel=parts.cancel,
            on_event=self._heard,
            redact=parts.redact,
            recipe=brief.task.recipe,
            verification=tuple(check.command for check in brief.checks),
            clock=parts.clock,
        )

    def _heard(self, event: AgentEvent) -> None:
        """Hand the agent's own words on to whoever follows the run."""
        message = event.payload.get("message") or event.payload.get("tool")
        if message:
            self._emit("agent.message", event=event.event.value, message=str(message)[:_MESSAGE_CHARACTERS])

    def _failed(self, kind: FailureKind, message: str) -> End:
        return self._ended(failure=self._failure(kind, message))

    def _failure(self, kind: FailureKind, message: str) -> Failure:
        at = rfc3339(self._parts.clock.now())
        return Failure(kind, message, self._number, at, log=str(self._logs))

    def _ended(self, *, receipt: Receipt | None = None, failure: Failure | None = None, final: bool = False) -> End:
        return End(receipt, failure, self._work(), final)

    def _work(self) -> Work:
        return Work(
            agent=self._agent.kind,
            session=self._session or None,
            turns=self._turns,
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            cost_usd=self._usage.cost_usd,
            seconds=round(self._parts.clock.monotonic() - self._started, 3),
        )

    def _record(self, end: End, started: str) -> None:
        """Write the end of the attempt into history."""
        parts, work = self._parts, end.work
        state = "resolved" if end.receipt else end.failure.kind if end.failure else "stopped"
        row = AttemptRow(
            parts.change.id, self._brief.task.key, self._number, work.agent, work.session, state,
            end.failure.message if end.failure else "", work.turns, work.input_tokens, work.output_tokens,
            work.cost_usd, started, rfc3339(parts.clock.now()),
        )  # fmt: skip
        parts.journal.end(row)
        self._emit("attempt.ended", attempt=self._number, state=state, message=row.message)

    def _emit(self, kind: str, **data: Any) -> None:
        self._parts.events.emit(self._parts.change.id, self._brief.task.key, kind, **data)


def _written(file: Path) -> int:
    """When a file was written, in nanoseconds; 0 where there is none."""
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0


def _held_by_us(worktree: Worktree, receipt: Receipt) -> str | None:
    """The commit the worktree is at, where the published receipt names it; None where nothing was changed in it."""
    return receipt.commit if worktree.head() == receipt.commit else None


def _no_change(denials: Sequence[str]) -> str:
    """The message of a turn that completed and changed nothing, with what may explain it."""
    text = "the agent changed nothing"
    if denials:
        text += f"; it was denied {', '.join(denials[:5])}: allow these tools in the policy"
    return text + "; reword the task, or mark it `<!-- baton: allow-empty -->` if nothing is to change"


def _told(failure: Failure | None, brief: Brief) -> PromptFailure | None:
    """What the prompt learns of a failure, and of what a person said when asking for the task again."""
    answers = brief.answers
    notes = [answers.feedback] if answers and answers.feedback else []
    if failure is not None:
        note = "\n".join([failure.message, *notes])
        return PromptFailure(kind=failure.kind, command=failure.command, output=failure.output, note=note)
    if answers is not None:
        return PromptFailure(kind="redo", note="\n".join(notes) or "The task was finished and is to be done again.")
    if brief.reason == "edited" and brief.previous is not None:
        before = brief.previous.definition
        was = "\n".join(str(part) for part in (before.get("text"), before.get("body")) if part)
        return PromptFailure(kind="edited", note=f"It was finished when it read otherwise, namely:\n{was}")
    return None


def view(task: Task, section: Section, change: str, verification: tuple[str, ...]) -> PromptTask:
    """The task as a template sees it."""
    return PromptTask(
        id=task.id,
        key=task.name(change),
        title=task.title,
        text=task.text,
        body=task.body,
        steps=tuple(step.text for step in task.steps),
        section=section.title,
        change=change,
        verification=verification,
    )
