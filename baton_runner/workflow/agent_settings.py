"""The sections that say who works: agent, and one for each adapter (command, claude_code, copilot, terminal)."""

# ruff: noqa: RUF009 - setting() declares a field, as dataclasses.field() does

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from baton_runner.workflow.declaration import setting
from baton_runner.workflow.kinds import (
    Choice,
    Duration,
    EnvironmentNames,
    Flag,
    Integer,
    Script,
    SecretText,
    Text,
    TextList,
)
from baton_runner.workflow.secret import Secret
from baton_runner.workflow.shapes import Answer, Answers, PatternList, StateLimits

__all__ = [
    "AGENT_KINDS",
    "AgentSettings",
    "ClaudeCodeSettings",
    "CommandSettings",
    "CommitRule",
    "CopilotSettings",
    "RunnerSettings",
    "TerminalSettings",
    "Use",
]

AGENT_KINDS = ("claude_code", "command", "copilot", "session", "terminal")
"""What ``agent.kind`` may name: an adapter with a section of its own, or a chat session that does the work itself."""


class Use(StrEnum):
    """What a policy is read for: the two differ in what they need and in one default."""

    BUILD = "build"
    SERVICE = "service"


class CommitRule(StrEnum):
    """Who commits what an agent left uncommitted."""

    AUTO = "auto"
    AGENT = "agent"


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """Which agent works, how often, and what it is given."""

    kind: str | None = setting(Text(), None, "The adapter: claude_code, command, copilot, session or terminal.")
    commit: CommitRule = setting(
        Choice(CommitRule), CommitRule.AUTO, "Whether uncommitted work is committed for the agent or refused."
    )
    max_attempts: int = setting(Integer(minimum=1), 2, "Attempts a run grants one task.")
    max_turns: int | None = setting(
        Integer(minimum=1), None, "Turns of one attempt; without it 4 in a build and 20 in the service."
    )
    allow_empty: bool = setting(Flag(), False, "Whether a first attempt may change nothing.")
    env: tuple[str, ...] = setting(EnvironmentNames(), (), "Names of environment variables passed on to the agent.")
    token: Secret | None = setting(SecretText(), None, "A token of the agent's own, as GITHUB_TOKEN and GH_TOKEN.")
    handoff_grace_ms: int = setting(
        Integer(minimum=0), 60_000, "Milliseconds a turn may go on after its run moved the card on; 0 stops it at once."
    )
    max_concurrent_agents: int = setting(Integer(minimum=1), 10, "Agents the service runs at a time.")
    max_concurrent_agents_by_state: Mapping[str, int] = setting(
        StateLimits(), MappingProxyType({}), "The same by board state; useless entries are ignored."
    )
    max_retry_backoff_ms: int = setting(Integer(minimum=1), 300_000, "Longest wait of the service before a retry.")

    def turns(self, use: Use) -> int:
        """How many turns an attempt has: the policy's number, or the default of the use."""
        return self.max_turns or {Use.BUILD: 4, Use.SERVICE: 20}[use]


@dataclass(frozen=True, kw_only=True)
class RunnerSettings:
    """What every adapter has: the limits of a turn."""

    turn_timeout_ms: int = setting(Integer(minimum=1), 3_600_000, "Milliseconds one turn may take in all.")
    stall_timeout_ms: int = setting(Integer(), 300_000, "Milliseconds without output; 0 or less never stalls.")


@dataclass(frozen=True, kw_only=True)
class CommandSettings(RunnerSettings):
    """Any command line as an agent: the prompt comes by file and on its standard input."""

    run: str | None = setting(Script(), None, "The command line, given to a shell as it is.")


@dataclass(frozen=True, kw_only=True)
class ClaudeCodeSettings(RunnerSettings):
    """Claude Code in print mode; what belongs to the program is passed through unchecked."""

    command: str = setting(Script(), "claude", "The program, with arguments if need be.")
    model: str | None = setting(Text(), None, "Model to ask for.")
    permission_mode: str = setting(Text(), "acceptEdits", "Permission mode to start in.")
    allowed_tools: tuple[str, ...] = setting(TextList(), (), "Permission rules that allow, such as Bash(git:*).")
    disallowed_tools: tuple[str, ...] = setting(TextList(), (), "Permission rules that deny.")
    append_system_prompt: str | None = setting(Text(), None, "Text added to the system prompt.")
    extra_args: tuple[str, ...] = setting(TextList(), (), "More arguments, passed verbatim.")


@dataclass(frozen=True, kw_only=True)
class CopilotSettings(RunnerSettings):
    """GitHub Copilot CLI; what belongs to the program is passed through unchecked."""

    command: str = setting(Script(), "copilot", "The program, with arguments if need be.")
    model: str | None = setting(Text(), None, "Model to ask for.")
    allow_all_tools: bool = setting(Flag(), False, "Whether every tool may run unasked.")
    allow_tools: tuple[str, ...] = setting(TextList(), (), "Tools that may run unasked.")
    deny_tools: tuple[str, ...] = setting(TextList(), (), "Tools that may not run.")
    extra_args: tuple[str, ...] = setting(TextList(), (), "More arguments, passed verbatim.")


@dataclass(frozen=True, kw_only=True)
class TerminalSettings(RunnerSettings):
    """A program that only talks to a terminal, driven through a pseudo-terminal."""

    command: str | None = setting(Script(), None, "The command line to start.")
    answers: tuple[Answer, ...] = setting(Answers(), (), "What to type when its output shows a pattern.")
    end_patterns: tuple[str, ...] = setting(PatternList(), (), "Patterns that end a turn.")
    idle_timeout: float = setting(Duration(), 30.0, "Seconds without output after which a turn has ended.")
