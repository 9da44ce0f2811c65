"""The controller of one change: the plan and its states, and the work at each task.

Safe to call from several threads: assessing is serialized and fast, performing runs side by side.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from baton_runner.agents.protocol import Agent
from baton_runner.agents.registry import RECIPE
from baton_runner.base.errors import PlanError, PolicyError
from baton_runner.controller.assembly import assemble
from baton_runner.controller.assess import Assessor, Gate, Rules
from baton_runner.controller.assignments import view
from baton_runner.controller.closing import Closing, close, is_closed
from baton_runner.controller.lifecycle import Lifecycle, Subject
from baton_runner.controller.project import Project
from baton_runner.controller.records import Records
from baton_runner.controller.recovery import Recovered, recover
from baton_runner.controller.results import Result
from baton_runner.controller.states import Assessment, Facts, Need, State
from baton_runner.controller.ticks import tick_again
from baton_runner.controller.verification import Check
from baton_runner.plan.changes import Change
from baton_runner.plan.model import Mark, Plan, Task
from baton_runner.plan.order import Order, order
from baton_runner.plan.tasks_md import load_plan
from baton_runner.plan.verification import resolve
from baton_runner.workflow.agent_settings import Use
from baton_runner.workflow.build_settings import BaseCheck, RerunCause, Unmetered, Untick

__all__ = ["Controller", "RunOptions"]


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about a run. ``forced`` are task keys; ``agent`` overrides the policy's kind."""

    workers: int = 1
    skip_held: bool = False
    forced: frozenset[str] = frozenset()
    agent: str | None = None


class Controller:
    """One change under one policy."""

    def __init__(self, project: Project, change: Change, options: RunOptions | None = None) -> None:
        self.project = project
        self.change = change
        self.options = options or RunOptions()
        self.parts = assemble(project, change, workers=self.options.workers)
        self._records = Records(self.parts.layout, project.refs, project.objects, [each.id for each in project.changes])
        self._lock = threading.RLock()
        self._agents: dict[str, Agent] = {}
        self._done: set[str] = set()
        self.refresh()
        self._lifecycle = Lifecycle(self.parts, self._look, self._agent_of)

    # -- looking

    def refresh(self) -> None:
        """Read the plan and all facts again. Raises PlanError or Problems when the plan cannot be built."""
        text = self._plan_text()
        plan = load_plan(self.change.plan_path, self.change.id, self.parts.plan_path)
        ordered = order(plan, sections=self.project.policy.settings.plan.sections.value)
        with self._lock:
            self._text = text
            self.plan: Plan = plan
            self.order: Order = ordered
            self._head = self.parts.branch.head()
            facts = self._records.all(plan.tasks)
            owners = self.parts.claims.owners([task.key for task in plan.tasks])
            self._assessor = Assessor(
                plan, ordered, {key: self._completed(key, each, owners.get(key, "")) for key, each in facts.items()},
                self._rules(),
            )  # fmt: skip

    def task(self, key: str) -> Task:
        """The task with this key."""
        return self.plan.by_key[key]

    def assess(self, key: str) -> Assessment:
        """The state of a task by what is known; :meth:`look` reads again first."""
        with self._lock:
            return self._assessor.assess(key)

    def look(self, key: str) -> Assessment:
        """The state of a task, its facts read anew."""
        self._update(key, worker=self.parts.claims.owner(key))
        return self.assess(key)

    def states(self) -> dict[str, Assessment]:
        """Every task's state, in plan order."""
        with self._lock:
            return self._assessor.all()

    def facts(self, key: str) -> Facts:
        """What is known of a task."""
        with self._lock:
            return self._assessor.facts(key)

    def gate(self, section: int) -> Gate:
        """The gate at the end of a section."""
        with self._lock:
            return self._assessor.gate(section)

    def definition_digest(self, key: str) -> str:
        """The digest of a task's definition as the plan has it now."""
        with self._lock:
            return self._assessor.definition(key)

    def force(self, keys: frozenset[str]) -> None:
        """Have these tasks done again once, whatever their receipts say."""
        with self._lock:
            self.options = replace(self.options, forced=keys)
            self._assessor.judge_by(self._rules())

    def checks(self, task: Task) -> tuple[Check, ...]:
        """The commands that must exit 0 for a task: its own, then the policy's."""
        verify = self.project.policy.settings.verify
        found = resolve(
            task,
            self.plan.sections[task.section],
            commands=verify.commands,
            tasks=verify.tasks,
            sections=verify.sections,
        )
        return tuple(Check(each.command, each.source.value, verify.timeout) for each in found)

    # -- working

    def check_startable(self, keys: Iterable[str]) -> None:
        """Refuse before anything is paid what cannot end well: unproven tasks, no agent, an unmetered one on a budget."""
        needed = [key for key in keys if self.assess(key).need is Need.AGENT]
        tasks = [self.task(key) for key in needed]
        if self.project.policy.settings.verify.required:
            unproven = [task for task in tasks if not self.checks(task)]
            if unproven:
                raise _unproven(unproven, self.parts.plan_path)
        for kind in {self._kind(task) for task in tasks}:
            self._check_agent(kind)
        if tasks:
            self._check_prompt(tasks[0])

    def recover(self) -> Recovered:
        """Mend what an earlier process left unfinished; read everything again if there was anything."""
        recovered = recover(self.parts, self.plan.tasks)
        if recovered.lines:
            self.refresh()
        self._project_ticks()
        return recovered

    def perform(self, key: str) -> Result:
        """Bring a task to resolved, or say why not. Blocks for as long as that takes."""
        result = self._lifecycle.perform(key, self.task(key).directives.resources, lambda: self._before_agent(key))
        self._update(key, worker="")
        if result.verdict.good:
            with self._lock:
                self._done.add(key)
        return result

    def close(self) -> Closing:
        """The closing check over every finished task."""
        proves: dict[Check, tuple[str, ...]] = {}
        for task in self.plan.tasks:
            if self.assess(task.key).state.finished:
                for check in self.checks(task):
                    proves[check] = (*proves.get(check, ()), task.id)
        return close(self.parts, proves)

    def is_closed(self) -> bool:
        """Whether the closing check would run nothing."""
        checks = {
            check: None
            for task in self.plan.tasks
            if self.assess(task.key).state.finished
            for check in self.checks(task)
        }
        return is_closed(self.parts.layout, self.parts.objects.tree_of(self.parts.branch.head()), tuple(checks))

    def end(self) -> None:
        """Give back what this controller holds."""
        self.parts.verifier.close()

    # -- inside

    def _look(self, key: str) -> Subject | None:
        """A task as it is now; None when the plan is not the one it was read from, so that all is to be read again."""
        self._update(key, worker="")
        if self._is_edited(key):
            return None
        with self._lock:
            task, facts = self.task(key), self._assessor.facts(key)
            return Subject(
                task=task,
                section=self.plan.sections[task.section],
                assessment=self._assessor.assess(key),
                definition_digest=self._assessor.definition(key),
                recipe=self._recipe(),
                checks=self.checks(task),
                receipt=facts.receipt,
                failure=facts.failure,
                redo=facts.redo,
            )

    def _plan_text(self) -> bytes:
        """The bytes of the plan with every tick taken back: what a person may have edited, and we never do."""
        try:
            data = self.change.plan_path.read_bytes()
        except OSError:
            return b""
        return data.replace(b"[x]", b"[ ]").replace(b"[X]", b"[ ]").replace(b"[]", b"[ ]")

    def _is_edited(self, key: str) -> bool:
        """Whether the plan was edited since it was read, or this task's box was ticked by a person."""
        if self._plan_text() != self._text:
            return True
        task, facts = self.task(key), self.facts(key)
        if task.mark is not Mark.READY or facts.named:
            return False
        box = self.change.plan_path.read_bytes()[task.box.start : task.box.end]
        return box in {b"[x]", b"[X]"}

    def _update(self, key: str, *, worker: str) -> None:
        facts = self._records.one(key)
        head = self.parts.branch.head()
        with self._lock:
            self._head = head
            if key in self._done and key in self._assessor.rules.forced:
                self._assessor.judge_by(self._rules())
            facts = replace(facts, stray=self._assessor.facts(key).stray)
            self._assessor.replace(key, self._completed(key, facts, worker))

    def _completed(self, key: str, facts: Facts, worker: str) -> Facts:
        """Facts with what git's history and the locks say."""
        del key
        integrated = facts.receipt is not None and self.parts.branch.contains(facts.receipt.commit, self._head)
        return replace(facts, integrated=integrated, worker=worker)

    def _rules(self) -> Rules:
        return Rules(
            skip_held=self.options.skip_held,
            untick_is_redo=self.project.policy.settings.plan.untick is Untick.REDO,
            recipe=self._recipe_compared(),
            forced=self.options.forced - self._done,
        )

    def _recipe(self) -> Mapping[str, str]:
        """What receipts note of the policy, so that ``rerun.on`` may be turned on later."""
        policy = self.project.policy
        return {RerunCause.PROMPT.value: policy.prompt_digest, RerunCause.AGENT.value: policy.agent_digest}

    def _recipe_compared(self) -> Mapping[str, str]:
        causes = {cause.value for cause in self.project.policy.settings.rerun.on}
        return {name: value for name, value in self._recipe().items() if name in causes} if causes - {"task"} else {}

    def _before_agent(self, key: str) -> None:
        settings = self.project.policy.settings
        if settings.verify.base is BaseCheck.SKIP or self._kind(self.task(key)) == RECIPE:
            return
        self.parts.baseline.require(self._checks_to_come)

    def _checks_to_come(self) -> tuple[Check, ...]:
        """The distinct commands of all tasks that an agent will work on."""
        tasks = [task for task in self.plan.tasks if self.assess(task.key).need is Need.AGENT]
        return tuple(dict.fromkeys(check for task in tasks for check in self.checks(task)))

    def _kind(self, task: Task) -> str:
        if task.recipe:
            return RECIPE
        kind = task.directives.agent or self.options.agent or self.project.policy.settings.agent.kind
        if kind is None:
            raise PolicyError(
                f"names no agent, and task {task.id} needs one",
                where=self.project.policy.path.name if self.project.policy.path else "WORKFLOW.md",
                todo="set agent.kind (command, claude_code or terminal); `baton init` writes a policy",
                code="unsupported_agent_kind",
            )
        return kind

    def _agent_of(self, task: Task) -> tuple[Agent, int, int]:
        """The agent for a task, with how many attempts and turns it has: a recipe does not learn, so it has one."""
        kind = self._kind(task)
        agent = self._agent(kind)
        settings = self.project.policy.settings.agent
        return (agent, 1, 1) if kind == RECIPE else (agent, settings.max_attempts, settings.turns(Use.BUILD))

    def _agent(self, kind: str) -> Agent:
        with self._lock:
            if kind not in self._agents:
                self._agents[kind] = self.parts.agent_for(kind)
            return self._agents[kind]

    def _check_prompt(self, task: Task) -> None:
        """Render the policy's prompt once, as a first try and as a later one: PolicyError before anything is paid."""
        seen = view(task, self.plan.sections[task.section], self.change.id, ())
        for attempt in (None, 3):
            self.project.policy.prompt.render(task=seen, attempt=attempt)

    def _check_agent(self, kind: str) -> None:
        agent = self._agent(kind)
        problem = agent.available(self.project.environ)
        if problem:
            raise PolicyError(problem, where=f"agent {kind}", code="agent_not_found")
        budget = self.project.policy.settings.budget
        if self.project.ceilings.usd and not agent.metered and kind != RECIPE and budget.unmetered is Unmetered.REFUSE:
            raise PolicyError(
                f"a ceiling in US dollars is set, and agent {kind} reports no cost",
                where="WORKFLOW.md: budget",
                todo="set budget.unmetered: allow to run it anyway, or remove the ceiling",
                code="unmetered_agent",
            )

    def _project_ticks(self) -> None:
        """Tick again what is proven and lost its tick (a stash, a switch, an old editor buffer)."""
        found = [
            (task, receipt)
            for task in self.plan.tasks
            if self._is_unticked(task) and (receipt := self.facts(task.key).receipt) is not None
        ]
        if not found:
            return
        for task in tick_again(self.parts, found):
            if task.mark is Mark.READY:
                self.parts.events.emit(self.change.id, task.key, "plan.ticked_again", id=task.id)
        self.refresh()

    def _is_unticked(self, task: Task) -> bool:
        """Whether a proven task has no tick, or none that is marked as made for its receipt."""
        facts = self.facts(task.key)
        if facts.receipt is None or self.assess(task.key).state is not State.RESOLVED:
            return False
        return task.mark is Mark.READY or facts.tick is None or facts.tick.seal != facts.receipt.seal


def _unproven(tasks: list[Task], plan_path: str) -> PlanError:
    named = ", ".join(f"{task.id} (line {task.line})" for task in tasks[:10])
    more = f" and {len(tasks) - 10} more" if len(tasks) > 10 else ""  # noqa: PLR2004 - as many as are named
    counted = "1 task has" if len(tasks) == 1 else f"{len(tasks)} tasks have"
    return PlanError(
        f"{counted} no verification command: {named}{more}",
        where=plan_path,
        todo=(
            "add `Verify: \\`command\\`` to the task or verify.commands to WORKFLOW.md (`baton init` proposes one), "
            "or set verify.required: false"
        ),
        code="no_verification",
    )
