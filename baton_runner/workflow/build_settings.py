"""The sections that say how a change is built: plan, verify, workspace, integration, rerun, budget, hooks."""

# ruff: noqa: RUF009 - setting() declares a field, as dataclasses.field() does

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from baton_runner.workflow.declaration import setting
from baton_runner.workflow.kinds import (
    Amount,
    Choice,
    Choices,
    Duration,
    Flag,
    Integer,
    PathText,
    Script,
    ScriptList,
    Text,
    TextList,
)
from baton_runner.workflow.shapes import CommandMap, EnvironmentMap, SetupStep, SetupSteps

__all__ = [
    "CI_CONFIGURATION",
    "BaseCheck",
    "BudgetSettings",
    "ConflictAnswer",
    "HookSettings",
    "IntegrationSettings",
    "PlanSettings",
    "RerunCause",
    "RerunSettings",
    "SectionOrder",
    "Unmetered",
    "Untick",
    "Update",
    "VerifySettings",
    "WorkspaceSettings",
]

CI_CONFIGURATION = (
    ".azure-pipelines/**",
    ".buildkite/**",
    ".circleci/**",
    ".drone.yml",
    ".forgejo/workflows/**",
    ".gitea/workflows/**",
    ".github/actions/**",
    ".github/workflows/**",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".woodpecker.yml",
    ".woodpecker/**",
    "Jenkinsfile",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
)
"""Files by which a repository is checked elsewhere: an agent that changes one could make any check pass."""


class SectionOrder(StrEnum):
    """Whether the tasks of one section may run side by side."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"


class Untick(StrEnum):
    """What a blank box beside a valid receipt means."""

    RETICK = "retick"
    REDO = "redo"


class BaseCheck(StrEnum):
    """What happens when a policy-wide command is red before any work."""

    REQUIRE = "require"
    WARN = "warn"
    SKIP = "skip"


class Update(StrEnum):
    """Whether new commits of the base are merged into the integration branch."""

    MERGE = "merge"
    OFF = "off"


class ConflictAnswer(StrEnum):
    """Who gets a merge conflict."""

    AGENT = "agent"
    KEEP = "keep"


class RerunCause(StrEnum):
    """What, when edited, makes a finished task stale."""

    TASK = "task"
    PROMPT = "prompt"
    AGENT = "agent"


class Unmetered(StrEnum):
    """Whether an agent that reports no cost may run under a money ceiling."""

    REFUSE = "refuse"
    ALLOW = "allow"


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """How the plan is read and kept."""

    sections: SectionOrder = setting(
        Choice(SectionOrder), SectionOrder.PARALLEL, "Whether the tasks of a section run in parallel or one by one."
    )
    untick: Untick = setting(Choice(Untick), Untick.RETICK, "What a box unticked by hand means: tick again, or redo.")


@dataclass(frozen=True, kw_only=True)
class VerifySettings:
    """The commands that must exit 0, and the conditions under which they run."""

    commands: tuple[str, ...] = setting(ScriptList(), (), "Commands that prove every task.")
    tasks: Mapping[str, tuple[str, ...]] = setting(
        CommandMap(), MappingProxyType({}), "More commands, by glob of task ids."
    )
    sections: Mapping[str, tuple[str, ...]] = setting(
        CommandMap(), MappingProxyType({}), "More commands, by section number or glob of section titles."
    )
    required: bool = setting(Flag(), True, "Whether a task without any command is an error.")
    timeout: float = setting(Duration(), 1200.0, "Seconds one command may take (90, 90s, 20m, 1h).")
    protect: tuple[str, ...] = setting(
        TextList(), CI_CONFIGURATION, "Globs of files that a task must not change or delete."
    )
    base: BaseCheck = setting(
        Choice(BaseCheck), BaseCheck.REQUIRE, "What to do when commands for every task are red before any work."
    )
    pristine: bool = setting(Flag(), False, "Whether ignored files are removed before each check too.")
    env: Mapping[str, str] = setting(EnvironmentMap(), MappingProxyType({}), "Variables that the commands get.")
    resources: tuple[str, ...] = setting(TextList(), (), "Named resources that every verification holds.")


@dataclass(frozen=True, kw_only=True)
class WorkspaceSettings:
    """Where worktrees lie and how they are prepared."""

    root: Path | None = setting(PathText(), None, "Folder of the worktrees; without it the user's state folder.")
    copy: tuple[str, ...] = setting(TextList(), (), "Globs of ignored files to copy into each worktree, such as .env.")
    link: tuple[str, ...] = setting(TextList(), (), "Paths to link into each worktree instead of copying.")
    setup: tuple[SetupStep, ...] = setting(
        SetupSteps(), (), "Commands that prepare a worktree, again when one of their files changed."
    )
    sparse: tuple[str, ...] = setting(TextList(), (), "Folders to check out; without it everything.")
    gc_hours: int = setting(Integer(minimum=0), 72, "Hours for which failed worktrees are kept.")


@dataclass(frozen=True, kw_only=True)
class IntegrationSettings:
    """The branch where verified work is merged."""

    branch: str | None = setting(Text(), None, "Name of the branch; without it baton/<change>.")
    update: Update = setting(Choice(Update), Update.MERGE, "Whether new commits of the base branch are merged in.")
    on_conflict: ConflictAnswer = setting(
        Choice(ConflictAnswer), ConflictAnswer.AGENT, "Whether a conflict goes back to the agent or is kept."
    )
    sign: bool = setting(Flag(), False, "Whether our commits are signed as git is configured.")


@dataclass(frozen=True, kw_only=True)
class RerunSettings:
    """What makes finished work stale."""

    on: tuple[RerunCause, ...] = setting(Choices(RerunCause), (RerunCause.TASK,), "Edits after which a task is redone.")


@dataclass(frozen=True, kw_only=True)
class BudgetSettings:
    """Ceilings on what agents may spend; absent is no ceiling, 0 is 0."""

    run_usd: float | None = setting(Amount(), None, "US dollars a run may cost.")
    task_usd: float | None = setting(Amount(), None, "US dollars one task may cost.")
    run_tokens: int | None = setting(Integer(minimum=0), None, "Tokens a run may use.")
    unmetered: Unmetered = setting(
        Choice(Unmetered), Unmetered.REFUSE, "Whether an agent that reports no cost may run under a ceiling in dollars."
    )


@dataclass(frozen=True, kw_only=True)
class HookSettings:
    """Shell scripts of the service, run in the workspace by bash; never rendered as templates, never expanded."""

    after_create: str | None = setting(Script(), None, "After a workspace was made; failure undoes it.")
    before_run: str | None = setting(Script(), None, "Before every attempt; failure ends the attempt.")
    after_run: str | None = setting(Script(), None, "After every attempt; failure is ignored.")
    before_remove: str | None = setting(Script(), None, "Before a workspace is removed; failure is ignored.")
    timeout_ms: int = setting(Integer(minimum=1), 60_000, "Milliseconds one hook may take.")
