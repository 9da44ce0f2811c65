"""``baton lint``: everything wrong or doubtful in the policy and the plans, at once, before anything is paid."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from baton_runner.base.errors import BatonError, PolicyError, Problems, UsageError
from baton_runner.cli.exits import Exit
from baton_runner.cli.output import bad, one_line, plural, say, wary
from baton_runner.cli.place import CHANGE, Place, command

if TYPE_CHECKING:
    from pathlib import Path

    from baton_runner.plan.changes import Change
    from baton_runner.plan.model import Plan, Task
    from baton_runner.repo.repository import Repository
    from baton_runner.workflow.settings import Settings

__all__ = ["lint_command"]

_NAMED = 10
"""So many tasks are named in one sentence."""


@command(name="lint", short_help="Check WORKFLOW.md and every plan.")
@click.argument("names", metavar="[CHANGE]...", nargs=-1, type=CHANGE)
@click.option("--service", is_flag=True, help="Check the policy for the board service instead of a build.")
def lint_command(place: Place, names: tuple[str, ...], *, service: bool) -> Exit:
    """Check WORKFLOW.md and the plans of all changes, or of those named.

    Errors end with exit code 4; warnings are only said. Nothing is started or written.
    """
    from baton_runner.plan.changes import find_changes, select_change
    from baton_runner.repo.repository import Repository

    repository = Repository.open(place.folder, place.environ)
    top = repository.top or repository.common_dir
    errors = warnings = 0
    settings, findings = _policy(place, repository, top, service=service)
    changes = find_changes(top)
    chosen = tuple(select_change(changes, name) for name in names) or changes
    if settings is not None and not service:
        findings += [*_agent(settings)]
    for change in chosen:
        findings += [*_plan(change, top, settings)]
    for kind, text in findings:
        errors += kind == "error"
        warnings += kind == "warning"
        say(f"{(bad if kind == 'error' else wary)(kind + ':')} {one_line(text)}")
    say(f"{plural(len(chosen), 'plan')} checked: {plural(errors, 'error')}, {plural(warnings, 'warning')}")
    return Exit.USAGE if errors else Exit.DONE


_Found = tuple[str, str]
"""``error`` or ``warning``, and the sentence."""


def _policy(
    place: Place, repository: "Repository", top: "Path", *, service: bool
) -> "tuple[Settings | None, list[_Found]]":
    """The settings the plans are checked under (None when they are broken), and what was found in WORKFLOW.md."""
    from baton_runner.workflow.agent_settings import Use
    from baton_runner.workflow.policy import find_policy, load_policy
    from baton_runner.workflow.validation import lint

    path = find_policy(top)
    if path is None and not service:
        return load_policy(None, environ=place.environ, folder=top).settings, []
    found = lint(
        path or top / "WORKFLOW.md",
        environ=place.environ,
        folder=top,
        use=Use.SERVICE if service else Use.BUILD,
        is_ignored=lambda asked: _is_ignored(repository, asked),
    )
    sentences = [(finding.severity.value, str(finding)) for finding in found]
    if path is None:
        return None, sentences
    try:
        return load_policy(path, environ=place.environ, folder=top).settings, sentences
    except PolicyError:  # its findings are among the sentences
        return None, sentences


def _agent(settings: "Settings") -> Iterator[_Found]:
    """What keeps the policy's agent from working in a build, although the policy itself is sound."""
    from baton_runner.agents.registry import KINDS, agent_for
    from baton_runner.workflow.build_settings import Unmetered

    kind = settings.agent.kind
    if kind is None:
        return
    where = "WORKFLOW.md: agent.kind"
    if kind not in KINDS:
        todo = f"use {' or '.join(KINDS)}, or name one with baton run --agent"
        yield (
            "warning",
            str(PolicyError(f"{kind} has no adapter yet, so no build can run with it", where=where, todo=todo)),
        )
        return
    budget = settings.budget
    limits = [name for name in ("run_usd", "task_usd") if getattr(budget, name)]
    if not limits or budget.unmetered is not Unmetered.REFUSE:
        return
    try:
        metered = agent_for(kind, settings).metered
    except PolicyError:  # what it lacks is among the findings of the policy
        return
    if not metered:
        what = f"agent {kind} reports no cost, so a build under this ceiling is refused"
        todo = "set budget.unmetered: allow, or remove the ceiling"
        yield "error", str(PolicyError(what, where=f"WORKFLOW.md: budget.{limits[0]}", todo=todo))


def _plan(change: "Change", top: "Path", settings: "Settings | None") -> Iterator[_Found]:
    """What is wrong or doubtful in one plan; without settings, only what no policy could change."""
    from baton_runner.build.names import EVERYTHING
    from baton_runner.plan.model import Mark
    from baton_runner.plan.order import order
    from baton_runner.plan.tasks_md import load_plan
    from baton_runner.plan.verification import resolve

    shown = change.plan_path.relative_to(top).as_posix()
    try:
        plan = load_plan(change.plan_path, change.id, shown)
    except UsageError as error:
        yield "error", str(error)
        return
    yield from (("error", str(problem)) for problem in (*plan.problems, *_unknown_agents(plan, shown)))
    yield from (("warning", warning) for warning in plan.warnings)
    if change.id == EVERYTHING:
        todo = f"name its folder otherwise, or build everything with `{EVERYTHING} run`"
        yield "warning", f"{shown}: `doit {EVERYTHING}` builds this change alone instead of all; {todo}"
    try:
        order(plan, sections=settings.plan.sections.value if settings else "parallel")
    except Problems as error:
        yield from (("error", str(each)) for each in error.errors)
    if settings is None or not settings.verify.required:
        return
    verify = settings.verify
    unproven = [
        task
        for task in plan.tasks
        if task.mark is Mark.READY
        and not task.manual
        and not resolve(
            task, plan.sections[task.section], commands=verify.commands, tasks=verify.tasks, sections=verify.sections
        )
    ]
    if unproven:
        yield "error", _unproven(unproven, shown)


def _unknown_agents(plan: "Plan", shown: str) -> Iterator[BatonError]:
    """Directives of open tasks that name an agent there is not."""
    from baton_runner.build.startable import unknown_agents
    from baton_runner.plan.model import Mark

    yield from unknown_agents((task for task in plan.tasks if task.mark is Mark.READY), shown)


def _unproven(tasks: "list[Task]", shown: str) -> str:
    lines = ", ".join(f"{task.id} (line {task.line})" for task in tasks[:_NAMED])
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    todo = "add verify.commands to WORKFLOW.md (baton init proposes one), or `Verify:` with a command to the task"
    return f"{shown}: no verification command for {lines}{more}; {todo}"


def _is_ignored(repository: "Repository", path: "Path") -> bool:
    """Whether git would ignore what lies in a folder of the checkout, which need not exist yet."""
    found = repository.git.try_run(
        "check-ignore", "--quiet", "--", str(path / "w"), cwd=repository.top,
        env={"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)},
    )  # fmt: skip
    return found.code == 0
