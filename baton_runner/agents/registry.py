"""From the policy's words to an agent: which kinds there are, and what each is configured by."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baton_runner.agents.protocol import Agent
from baton_runner.base.errors import PolicyError

if TYPE_CHECKING:
    from baton_runner.workflow.settings import Settings

__all__ = ["KINDS", "RECIPE", "Limits", "agent_for", "limits_for"]

RECIPE = "recipe"
"""Not a kind that a policy names: a task with ``run:`` comments is done by it, whatever the policy's agent."""

KINDS = ("claude_code", "command", "terminal")
"""The kinds of ``agent.kind`` that have an adapter."""

_HOUR = 3600.0


@dataclass(frozen=True)
class Limits:
    """How long a turn may take and how long it may be silent, in seconds; a ``stall`` of None never binds."""

    turn: float
    stall: float | None


def agent_for(kind: str, settings: "Settings") -> Agent:
    """The agent of a kind as the policy configures it.

    Raises PolicyError, code ``unsupported_agent_kind`` or ``missing_agent_command``.
    """
    if kind == RECIPE:
        from baton_runner.agents.recipe import RecipeAgent

        return RecipeAgent()
    if kind == "claude_code":
        return _claude_code(settings)
    if kind == "command":
        from baton_runner.agents.command import CommandAgent

        return CommandAgent(_given(settings.command.run, "command.run"))
    if kind == "terminal":
        return _terminal(settings)
    raise PolicyError(
        f"{kind!r} is no kind of agent that can be started",
        where="WORKFLOW.md: agent.kind",
        todo=f"use one of {', '.join(KINDS)}",
        code="unsupported_agent_kind",
    )


def limits_for(kind: str, settings: "Settings") -> Limits:
    """The limits of a turn for a kind of agent; a recipe has an hour and may be silent."""
    section = settings.runner(kind)
    if section is None:
        return Limits(_HOUR, None)
    stall = section.stall_timeout_ms
    return Limits(section.turn_timeout_ms / 1000, stall / 1000 if stall > 0 else None)


def _claude_code(settings: "Settings") -> Agent:
    from baton_runner.agents.claude_code import ClaudeCode

    section = settings.claude_code
    return ClaudeCode(
        command=_given(section.command, "claude_code.command"),
        model=section.model,
        permission_mode=section.permission_mode,
        allowed_tools=section.allowed_tools,
        disallowed_tools=section.disallowed_tools,
        append_system_prompt=section.append_system_prompt,
        extra_args=section.extra_args,
    )


def _terminal(settings: "Settings") -> Agent:
    from baton_runner.agents.terminal import TerminalAgent

    section = settings.terminal
    return TerminalAgent(
        command=_given(section.command, "terminal.command"),
        answers=tuple((answer.pattern, answer.reply) for answer in section.answers),
        end_patterns=section.end_patterns,
        idle_timeout=section.idle_timeout,
    )


def _given(command: str | None, key: str) -> str:
    if command and command.strip():
        return command
    raise PolicyError(
        "is missing", where=f"WORKFLOW.md: {key}", todo="say which program to start", code="missing_agent_command"
    )
