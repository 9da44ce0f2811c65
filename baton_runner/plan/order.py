"""What waits for what: edges inside sections, and the sections whose gates a section waits for.

Linear in the size of the plan: a section waits for the few gates that together cover every earlier section, a task
for the few tasks that its notes or its section's flow name. Nothing ever lists all earlier tasks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from baton_runner.base.errors import PlanError, Problems
from baton_runner.plan.ids import family
from baton_runner.plan.model import Flow, Plan, Section, Task, Wait

__all__ = ["Order", "order"]


@dataclass(frozen=True)
class Order:
    """The order of one plan.

    ``edges``: for each task key the keys of its direct blockers: of its own section, or of an earlier one that
    ``after`` does not cover. ``after``: for each section index the indexes of the sections whose gates it waits for;
    a gate is passed when its section's tasks (follow-ups apart) are resolved and the gates of ``after`` of that section are passed.
    Follow-ups block nothing and are blocked by nothing here: they come when all else is done.
    """

    edges: Mapping[str, tuple[str, ...]]
    after: Mapping[int, tuple[int, ...]]


def order(plan: Plan, *, sections: Literal["parallel", "sequential"]) -> Order:
    """The order of a plan; ``sections`` is the policy for tasks of one section that say nothing.

    Raises Problems with a PlanError (code ``unknown_blocker``, ``later_blocker``, ``cycle``) for each note that cannot be met.
    """
    return _Orderer(plan, Flow(sections)).order()


@dataclass
class _Orderer:
    plan: Plan
    policy: Flow
    problems: list[PlanError] = field(default_factory=list)

    def order(self) -> Order:
        after = self._after()
        covers = _Coverage(after)
        edges: dict[str, tuple[str, ...]] = {}
        for section in self.plan.sections:
            inner = self._inside(section, covers)
            self._refuse_cycles(section, inner)
            edges.update(inner)
        if self.problems:
            raise Problems(self.problems)
        return Order(MappingProxyType(edges), MappingProxyType(after))

    # -- between sections

    def _after(self) -> dict[int, tuple[int, ...]]:
        """The fewest gates that cover every earlier section, unless a heading names others."""
        after: dict[int, tuple[int, ...]] = {}
        uncovered: dict[int, None] = {}  # sections that no other one read so far waits for, in order
        for section in self.plan.sections:
            if section.waits is None:
                after[section.index] = tuple(uncovered)
            else:
                after[section.index] = self._named_sections(section, section.waits)
            for index in after[section.index]:
                uncovered.pop(index, None)
            uncovered[section.index] = None
        return after

    def _named_sections(self, section: Section, waits: tuple[Wait, ...]) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for wait in waits:
            named = self._sections_of(wait)
            if not named:
                self._refuse(
                    wait,
                    f"section {_label(section)} depends on section {wait}, which does not exist",
                    "name the number of an earlier section",
                    "unknown_blocker",
                )
            for index in named:
                if index < section.index:
                    found[index] = None
                else:
                    self._refuse(
                        wait,
                        f"section {_label(section)} depends on section {wait}, which does not stand before it",
                        "move it behind that section, or name an earlier one",
                        "later_blocker",
                    )
        return tuple(found)

    def _sections_of(self, wait: Wait) -> tuple[int, ...]:
        first = self._numbers.get(wait.first.lower(), ())
        if wait.last is None or not first:
            return first
        last = self._numbers.get(wait.last.lower(), ())
        return tuple(range(first[0], last[-1] + 1)) if last else ()

    @cached_property
    def _numbers(self) -> dict[str, tuple[int, ...]]:
        """Section labels; positions from 1 where no section carries one."""
        if not any(section.number for section in self.plan.sections):
            return {str(section.index + 1): (section.index,) for section in self.plan.sections}
        found: dict[str, list[int]] = {}
        for section in self.plan.sections:
            if section.number:
                found.setdefault(section.number.lower(), []).append(section.index)
        return {label: tuple(indexes) for label, indexes in found.items()}

    # -- inside a section

    def _inside(self, section: Section, covers: "_Coverage") -> dict[str, tuple[str, ...]]:
        """The edges of one section's tasks: what their notes name, else what the section's flow says."""
        tasks = [task for task in section.tasks if not task.follow_up]
        edges: dict[str, tuple[str, ...]] = {task.key: () for task in section.tasks}
        flow = self._spec_kit(tasks) if self._is_spec_kit else self._flow(section, tasks)
        for task, default in zip(tasks, flow, strict=True):
            here, before = self._named_tasks(task, section, covers)
            narrowed = bool(here) or task.waits == ()
            edges[task.key] = (*before, *(here if narrowed else default))
        return edges

    def _flow(self, section: Section, tasks: list[Task]) -> Iterator[tuple[str, ...]]:
        chained = (section.flow or self.policy) is Flow.SEQUENTIAL
        previous: tuple[str, ...] = ()
        for task in tasks:
            yield previous
            previous = (task.key,) if chained else ()

    def _spec_kit(self, tasks: list[Task]) -> Iterator[tuple[str, ...]]:
        """``[P]`` tasks run together; an unmarked one waits for all before it."""
        barrier: tuple[str, ...] = ()
        together: list[str] = []
        for task in tasks:
            if task.parallel:
                yield barrier
                together.append(task.key)
            else:
                yield tuple(together) or barrier
                barrier, together = (task.key,), []

    @cached_property
    def _is_spec_kit(self) -> bool:
        return any(task.parallel and family(task.id) == "T" for task in self.plan.tasks)

    def _named_tasks(
        self, task: Task, section: Section, covers: "_Coverage"
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The keys a task's notes name: of its own section, and of earlier ones that its gates do not cover."""
        here: dict[str, None] = {}
        before: dict[str, None] = {}
        for wait in task.waits or ():
            for other in self._tasks_of(wait, task, section):
                if other.follow_up:
                    self._refuse(
                        wait,
                        f"task {task.id} depends on {other.id}, which is done after everything else",
                        "drop the note, or give that task other words",
                        "later_blocker",
                    )
                elif other.section > task.section:
                    later = _label(self.plan.sections[other.section])
                    self._refuse(
                        wait,
                        f"task {task.id} depends on {other.id} of the later section {later}",
                        "move one of the two",
                        "later_blocker",
                    )
                elif other.section == task.section:
                    if other is not task or wait.last is None:
                        here[other.key] = None
                elif not covers.covers(task.section, other.section):
                    before[other.key] = None
        return tuple(here), tuple(before)

    def _tasks_of(self, wait: Wait, task: Task, section: Section) -> Iterable[Task]:
        first, last = self._ids.get(wait.first), self._ids.get(wait.last or wait.first)
        if first and last:
            if wait.last is None:
                return [self.plan.tasks[position] for position in first]
            low, high = first[0], last[-1]
            return self.plan.tasks[low : high + 1] if low <= high else self.plan.tasks[last[0] : first[-1] + 1]
        if self._is_prose(wait):
            return ()
        named = self._sections_of(wait)
        if (
            named and max(named) < section.index
        ):  # "(after 1)": section 1; the tasks its gates do not cover become edges
            return (other for index in named for other in self.plan.sections[index].tasks if not other.follow_up)
        unknown = wait.last if first and wait.last else wait.first
        self._refuse(
            wait,
            f"task {task.id} depends on {unknown}, which does not exist",
            "name the id of a task of this plan",
            "unknown_blocker",
        )
        return ()

    @cached_property
    def _ids(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for position, task in enumerate(self.plan.tasks):
            found.setdefault(task.id, []).append(position)
        return found

    @cached_property
    def _families(self) -> frozenset[str | None]:
        return frozenset(family(task.id) for task in self.plan.tasks if not task.synthetic)

    def _is_prose(self, wait: Wait) -> bool:
        """Whether a reference that is no id is a word such as S3: its letters name no family of this plan."""
        letters = family(wait.first)
        return letters is not None and letters not in self._families

    # -- complaints

    def _refuse_cycles(self, section: Section, edges: dict[str, tuple[str, ...]]) -> None:
        for cycle in _cycles(edges):
            tasks = [self.plan.by_key[key] for key in cycle]
            named = " -> ".join(f"{task.id} (line {task.line})" for task in (*tasks, tasks[0]))
            wait = Wait(tasks[0].id, None, tasks[0].line)
            self._refuse(
                wait,
                f"tasks of section {_label(section)} wait for each other: {named}",
                "drop one of their notes",
                "cycle",
            )

    def _refuse(self, wait: Wait, what: str, todo: str, code: str) -> None:
        self.problems.append(PlanError(what, where=f"{self.plan.path}:{wait.line}", todo=todo, code=code))


class _Coverage:
    """Whether waiting for one section's gates means that another section is done."""

    def __init__(self, after: Mapping[int, tuple[int, ...]]) -> None:
        self._after = after
        self._sets: dict[int, int] = {}  # section -> bit set of all sections below it, made when asked
        self._chain = all(after[index] == ((index - 1,) if index else ()) for index in after)

    def covers(self, section: int, other: int) -> bool:
        if self._chain:
            return other < section
        return bool(self._below(section) >> other & 1)

    def _below(self, section: int) -> int:
        if section not in self._sets:
            for index in range(len(self._sets), section + 1):  # a section waits for earlier ones only
                found = 0
                for earlier in self._after[index]:
                    found |= self._sets[earlier] | 1 << earlier
                self._sets[index] = found
        return self._sets[section]


def _cycles(edges: Mapping[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """One cycle of each knot, in the direction of waiting. An explicit stack: chains may be long."""
    state: dict[str, int] = {}  # absent: not seen, 1: on the path, 2: done
    for root in edges:
        if root in state:
            continue
        path, stack = [root], [iter(edges[root])]
        state[root] = 1
        while stack:
            following = next(stack[-1], None)
            if following is None:
                state[path.pop()] = 2
                stack.pop()
            elif state.get(following) == 1:
                yield path[path.index(following) :]
            elif following in edges and following not in state:
                state[following] = 1
                path.append(following)
                stack.append(iter(edges[following]))


def _label(section: Section) -> str:
    return section.number or repr(section.title or section.index + 1)
