"""doit's commands, taught what a task of ours is; found through the entry points ``doit.COMMAND``.

They stand in for doit's own in every project of their environment, so they act on our nodes alone: a dodo.py without
them, or a selection of the user's own tasks, is handed to doit as it is. Bare ``run`` builds plans only in a dodo.py that
holds nothing else or names them in ``default_tasks``; bare ``forget`` and ``clean`` never touch them.
"""

# ruff: noqa: PLR0917 - doit reads the signatures of _execute

import sys
from collections.abc import Sequence
from typing import Any

from doit import cmd_clean, cmd_forget, cmd_ignore, cmd_info, cmd_list, cmd_resetdep, cmd_run
from doit.cmd_base import check_tasks_exist, subtasks_iter
from doit.exceptions import InvalidCommand, InvalidDodoFile

from baton_runner.base.errors import BatonError, NothingCollected
from baton_runner.build.dependency import PlanDependency
from baton_runner.build.nodes import Node
from baton_runner.build.picking import default_names, picked, with_dependencies
from baton_runner.build.plan_run import DoitOptions, PlanRun

__all__ = ["Clean", "Forget", "Ignore", "Info", "List", "ResetDep", "Run"]


class Run(cmd_run.Run):  # type: ignore[misc] # doit is untyped
    """``doit run``, and ``doit`` alone."""

    task_list: list[Any]
    sel_tasks: list[str] | None

    def _execute(
        self,
        outfile: Any,
        verbosity: int | None = None,
        always: bool = False,
        continue_: bool = False,
        reporter: Any = "console",
        num_process: int = 0,
        par_type: str = "process",
        single: bool = False,
        auto_delayed_regex: bool = False,
        force_verbosity: bool = False,
        failure_verbosity: int = 0,
        pdb: bool = False,
    ) -> int:
        """Run what is selected: plans by our runner, anything else by doit."""
        _refuse_same_names(self.task_list)
        if self.sel_tasks is None:
            self.sel_tasks = default_names(self.task_list)
        chosen = with_dependencies(self.task_list, picked(self.task_list, self.sel_tasks))
        if not any(isinstance(task, Node) for task in chosen):
            code: int = super()._execute(
                outfile, verbosity, always, continue_, reporter, num_process, par_type, single, auto_delayed_regex,
                force_verbosity, failure_verbosity, pdb,
            )  # fmt: skip
            return code
        options = DoitOptions(
            workers=num_process or 1,
            always=always,
            keep_going=continue_,
            single=single,
            verbosity=verbosity,
            force_verbosity=force_verbosity,
            failure_verbosity=failure_verbosity,
            reporter=self.reporters[reporter] if isinstance(reporter, str) else reporter,
        )
        try:
            return PlanRun(self.task_list, self.sel_tasks, self.dep_manager, options, outfile or sys.stdout).run()
        except BatonError as error:
            raise InvalidCommand(str(error)) from error


class List(cmd_list.List):  # type: ignore[misc] # doit is untyped
    """``doit list``: ours in plan order."""

    task_list: list[Any]
    dep_manager: Any

    def _execute(
        self,
        subtasks: bool = False,
        quiet: bool = True,
        status: bool = False,
        private: bool = False,
        list_deps: bool = False,
        template: str | None = None,
        sort: str = "name",
        pos_args: Any = None,
    ) -> int:
        """Print the tasks."""
        _refuse_same_names(self.task_list)
        if _has_nodes(self.task_list):
            self.dep_manager = PlanDependency(self.dep_manager)
            if sort == "name":
                sort = "definition"
                users = sorted(task for task in self.task_list if not isinstance(task, Node))
                self.task_list = [*users, *(task for task in self.task_list if isinstance(task, Node))]
        code: int = super()._execute(subtasks, quiet, status, private, list_deps, template, sort, pos_args)
        return code


class Info(cmd_info.Info):  # type: ignore[misc] # doit is untyped
    """``doit info``: for ours the state and its reason."""

    def _execute(self, pos_args: Sequence[str], hide_status: bool = False) -> int:
        """Print what there is to know of one task."""
        _refuse_same_names(self.task_list)
        node = next((task for task in self.task_list if isinstance(task, Node) and [task.name] == list(pos_args)), None)
        if node is None:
            code: int = super()._execute(pos_args, hide_status)
            return code
        super()._execute(pos_args, True)
        if hide_status:
            return 0
        tasks = {task.name: task for task in self.task_list}
        done = PlanDependency(self.dep_manager).get_status(node, tasks).status == "up-to-date"
        self.outstream.write(f"\nstatus     : {'up-to-date' if done else 'run'}\n")
        if node.item is not None:
            assessment = node.item.assessment
            self.outstream.write(f" * {assessment.state.value}: {assessment.reason}\n")
        return 0 if done else 1


class Forget(cmd_forget.Forget):  # type: ignore[misc] # doit is untyped
    """``doit forget``: of ours it drops the proof, when they are named."""

    task_list: list[Any]
    sel_tasks: list[str] | None

    def _execute(self, forget_sub: bool, forget_disable_default: bool, forget_all: bool) -> None:
        """Forget what was done."""
        _refuse_same_names(self.task_list)
        if forget_all or not _has_nodes(self.task_list):
            super()._execute(forget_sub, forget_disable_default, forget_all)
            return
        if self.sel_default_tasks:
            self.sel_tasks = [
                name for name in self.sel_tasks or _users(self.task_list) if name in _users(self.task_list)
            ]
        tasks = {task.name: task for task in self.task_list}
        check_tasks_exist(tasks, self.sel_tasks)
        named = [tasks[name] for name in self.sel_tasks or ()]
        if forget_sub:
            named = with_dependencies(self.task_list, named)
        else:
            named = [each for task in named for each in (task, *subtasks_iter(tasks, task))]
        self.sel_tasks = [task.name for task in named if not isinstance(task, Node)]
        super()._execute(False, forget_disable_default, False)
        _forget(named, self.outstream, "forgetting {}")


class Clean(cmd_clean.Clean):  # type: ignore[misc] # doit is untyped
    """``doit clean``: of ours, when they are named, it drops the proof, as removing the targets of a task would."""

    task_list: list[Any]
    sel_tasks: list[str] | None

    def _execute(
        self,
        dryrun: bool,
        cleandep: bool,
        cleanall: bool,
        cleanforget: bool,
        pos_args: Sequence[str] | None = None,
    ) -> None:
        """Clean what is named."""
        _refuse_same_names(self.task_list)
        if not _has_nodes(self.task_list):
            super()._execute(dryrun, cleandep, cleanall, cleanforget, pos_args)
            return
        tasks = {task.name: task for task in self.task_list}
        named = picked(self.task_list, pos_args or ()) if not cleanall else []
        ours = [each for task in named for each in (task, *subtasks_iter(tasks, task)) if isinstance(each, Node)]
        rest = [name for name in pos_args or () if name not in {node.name for node in ours}]
        if pos_args and not rest and not cleanall:
            self.dep_manager.close()
        else:
            self.task_list = _without_ours(self.task_list)
            self.sel_tasks = (
                [name for name in self.sel_tasks if name in _users(self.task_list)] if self.sel_tasks else None
            )
            super()._execute(dryrun, cleandep, cleanall, cleanforget, rest)
        if dryrun:
            for node in ours:
                if node.item is not None and node.is_done():
                    self.outstream.write(f"{node.name} - would drop its proof\n")
        else:
            _forget(ours, self.outstream, "{} - proof dropped")


class Ignore(cmd_ignore.Ignore):  # type: ignore[misc] # doit is untyped
    """``doit ignore``: ours are held in the plan, where everybody sees it."""

    task_list: list[Any]

    def _execute(self, pos_args: Sequence[str]) -> None:
        """Ignore the user's tasks."""
        ours = [task.name for task in picked(self.task_list, pos_args) if isinstance(task, Node)]
        if ours:
            raise InvalidCommand(f"{ours[0]}: is a task of a plan; hold it there by writing [~] for its box")
        super()._execute(pos_args)


class ResetDep(cmd_resetdep.ResetDep):  # type: ignore[misc] # doit is untyped
    """``doit reset-dep``: about the user's tasks; only a receipt makes one of ours up to date."""

    task_list: list[Any]

    def _execute(self, pos_args: Sequence[str] | None = None) -> None:
        """Take the user's files as they are."""
        ours = [task.name for task in picked(self.task_list, pos_args or ()) if isinstance(task, Node)]
        if ours:
            raise InvalidCommand(f"{ours[0]}: is a task of a plan; accept it as it is with `baton tick {ours[0]}`")
        self.task_list = [task for task in self.task_list if not isinstance(task, Node)]
        super()._execute(pos_args)


def _forget(tasks: Sequence[Any], out: Any, told: str) -> None:
    """Drop the proofs of our nodes among these tasks, and tell of each, in the words of the command."""
    from baton_runner.controller.decisions import forget

    for node in {task.name: task for task in tasks}.values():
        if not isinstance(node, Node) or node.item is None:
            continue
        try:
            forget(node.item.controller, node.item.task)
        except NothingCollected:
            continue
        except BatonError as error:
            raise InvalidCommand(str(error)) from error
        out.write(told.format(node.name) + "\n")


def _refuse_same_names(tasks: Sequence[Any]) -> None:
    """Refuse a task of the user's that is called like one of ours: doit has one name for one task."""
    users = set(_users(tasks))
    for node in tasks:
        if isinstance(node, Node) and node.name in users:
            function = f"task_{node.name}" if node.name.isidentifier() else f"the task {node.name}"
            plan = next((each.item.controller.plan.path for each in tasks if _is_task_of(each, node)), node.doc)
            what = f"the dodo file has a task {node.name}, and so has the plan {plan}"
            raise InvalidDodoFile(f"{what}; rename {function} in the dodo file, or the folder of the plan")


def _is_task_of(task: Any, group: Node) -> bool:
    return isinstance(task, Node) and task.item is not None and group.name in {task.name, task.subtask_of}


def _has_nodes(tasks: Sequence[Any]) -> bool:
    return any(isinstance(task, Node) for task in tasks)


def _users(tasks: Sequence[Any]) -> list[str]:
    return [task.name for task in tasks if not isinstance(task, Node)]


def _without_ours(tasks: Sequence[Any]) -> list[Any]:
    """The user's tasks, without their dependencies on ours, which ``clean`` does not follow."""
    users = _users(tasks)
    kept = [task for task in tasks if not isinstance(task, Node)]
    for task in kept:
        task.task_dep = [name for name in task.task_dep if name in users]
    return kept
