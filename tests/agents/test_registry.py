"""From the policy to an agent."""

import pytest

from baton_runner.agents.claude_code import ClaudeCode
from baton_runner.agents.command import CommandAgent
from baton_runner.agents.protocol import Agent
from baton_runner.agents.recipe import RecipeAgent
from baton_runner.agents.registry import KINDS, RECIPE, Limits, agent_for, limits_for
from baton_runner.agents.terminal import TerminalAgent
from baton_runner.base.errors import PolicyError
from baton_runner.workflow.agent_settings import ClaudeCodeSettings, CommandSettings, TerminalSettings
from baton_runner.workflow.settings import Settings
from baton_runner.workflow.shapes import Answer


def every_agent(settings: Settings) -> dict[str, Agent]:
    return {kind: agent_for(kind, settings) for kind in (*KINDS, RECIPE)}


def test_every_kind_is_configured_by_its_section() -> None:
    settings = Settings(
        command=CommandSettings(run="./agent.sh"),
        claude_code=ClaudeCodeSettings(command="npx claude", model="m", allowed_tools=("Edit",), extra_args=("--x",)),
        terminal=TerminalSettings(
            command="chat", answers=(Answer("Sure", "y"),), end_patterns=("bye",), idle_timeout=5.0
        ),
    )
    agents = every_agent(settings)
    assert agents == {
        "command": CommandAgent("./agent.sh"),
        "claude_code": ClaudeCode("npx claude", "m", allowed_tools=("Edit",), extra_args=("--x",)),
        "terminal": TerminalAgent("chat", (("Sure", "y"),), ("bye",), 5.0),
        "recipe": RecipeAgent(),
    }
    assert [agent.kind for agent in agents.values()] == list(agents)


def test_the_policys_defaults_are_the_adapters() -> None:
    assert agent_for("claude_code", Settings()) == ClaudeCode()


@pytest.mark.parametrize("kind", ["session", "codex", "", "Command"])
def test_an_unknown_kind_is_named(kind: str) -> None:
    with pytest.raises(PolicyError, match="is no kind of agent that can be started; use one of") as caught:
        agent_for(kind, Settings())
    assert caught.value.code == "unsupported_agent_kind"


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("command", Settings()),
        ("terminal", Settings()),
        ("command", Settings(command=CommandSettings(run="  \n"))),
        ("claude_code", Settings(claude_code=ClaudeCodeSettings(command=" "))),
    ],
)
def test_a_blank_command_is_missing(kind: str, settings: Settings) -> None:
    """R-034."""
    with pytest.raises(PolicyError, match=rf"WORKFLOW.md: {kind}\.(run|command): is missing") as caught:
        agent_for(kind, settings)
    assert caught.value.code == "missing_agent_command"


def test_limits_are_seconds_and_may_be_off() -> None:
    """T113: a stall limit of 0 or less never binds."""
    settings = Settings(
        command=CommandSettings(turn_timeout_ms=1500, stall_timeout_ms=250),
        terminal=TerminalSettings(stall_timeout_ms=-1),
    )
    assert limits_for("command", settings) == Limits(1.5, 0.25)
    assert limits_for("terminal", settings) == Limits(3600.0, None)
    assert limits_for("claude_code", settings) == Limits(3600.0, 300.0)
    assert limits_for(RECIPE, settings) == Limits(3600.0, None)
