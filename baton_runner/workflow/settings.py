"""All settings of a policy, and how they are read from the front matter.

Unknown keys never stop anything (R-007); each is a warning that says what was probably meant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from baton_runner.workflow.agent_settings import (
    AgentSettings,
    ClaudeCodeSettings,
    CommandSettings,
    CopilotSettings,
    RunnerSettings,
    TerminalSettings,
)
from baton_runner.workflow.build_settings import (
    BudgetSettings,
    HookSettings,
    IntegrationSettings,
    PlanSettings,
    RerunSettings,
    VerifySettings,
    WorkspaceSettings,
)
from baton_runner.workflow.declaration import key_names, read_section
from baton_runner.workflow.reading import Reading
from baton_runner.workflow.service_settings import PollingSettings, ServerSettings, TrackerSettings, WorkerSettings
from baton_runner.workflow.unknown import warn_unknown

__all__ = ["Settings", "read_settings", "section_types"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The typed front matter; ``Settings()`` is what holds without a file."""

    plan: PlanSettings = field(default_factory=PlanSettings)
    verify: VerifySettings = field(default_factory=VerifySettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    command: CommandSettings = field(default_factory=CommandSettings)
    claude_code: ClaudeCodeSettings = field(default_factory=ClaudeCodeSettings)
    copilot: CopilotSettings = field(default_factory=CopilotSettings)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)
    workspace: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    integration: IntegrationSettings = field(default_factory=IntegrationSettings)
    rerun: RerunSettings = field(default_factory=RerunSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    tracker: TrackerSettings = field(default_factory=TrackerSettings)
    polling: PollingSettings = field(default_factory=PollingSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)

    def runner(self, kind: str | None = None) -> RunnerSettings | None:
        """The section of an agent kind (by default the policy's); None for a kind that has none."""
        section = getattr(self, kind or self.agent.kind or "", None)
        return section if isinstance(section, RunnerSettings) else None


def section_types() -> dict[str, type[Any]]:
    """Every section's name and dataclass."""
    return {section.name: _type_of(section) for section in fields(Settings)}


def read_settings(values: Mapping[str, Any], reading: Reading) -> Settings:
    """The settings of a front matter; what is wrong or unknown is noted in the reading."""
    sections = section_types()
    warn_unknown(values, {name: key_names(section) for name, section in sections.items()}, reading)
    return Settings(
        **{name: read_section(section, values.get(name), (name,), reading) for name, section in sections.items()}
    )


def _type_of(section: Any) -> type[Any]:
    made: type[Any] = section.default_factory
    return made
