"""A task that brings its own recipe: ``<!-- run: ... -->`` commands in place of an agent, no model, no cost.

The commands run in the worktree in their order; each must exit 0, the first that does not ends the turn, and so does
the first failing line of one that has several. A further turn after red checks would do the same again, so the recipe
of a task is as good as its commands.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace

from baton_runner.agents.command import Heartbeat
from baton_runner.agents.events import EventName
from baton_runner.agents.protocol import Failure, Outcome, Session, SessionRequest, TurnResult
from baton_runner.agents.results import Report, failed, judged, not_started, refusal
from baton_runner.agents.turns import Turns, log_text
from baton_runner.agents.usage import Usage
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import Line, Process, shell_argv
from baton_runner.base.transcript import Transcript
from baton_runner.plan.scripts import as_script

__all__ = ["RecipeAgent"]

_FREE = Usage(cost_usd=0.0)


@dataclass(frozen=True)
class RecipeAgent:
    """Runs the commands of the request's ``recipe``; it costs nothing and says so."""

    kind: str = "recipe"
    metered: bool = True
    environment_names: tuple[str, ...] = ()

    def available(self, _environ: Mapping[str, str]) -> str | None:
        """A recipe needs nothing but a shell."""
        return None

    def start_session(self, request: SessionRequest) -> Session:
        """A session whose every turn runs the recipe once."""
        return RecipeSession(request)


class RecipeSession:
    """One run of the whole recipe per turn. The turn's time limit is for all commands together."""

    def __init__(self, request: SessionRequest) -> None:
        self._turns = Turns(request)

    def run_turn(self, prompt: str, turn: int) -> TurnResult:
        """Run the commands until one fails."""
        report = Report(self._turns.request, turn, uuid.uuid4().hex)
        refused = refusal(report, self._turns.cancel)
        if refused:
            return refused
        recipe = self._turns.request.recipe
        if not recipe:
            message = "the task has no run: commands; write one or let an agent do it"
            return failed(report, Outcome.STARTUP_FAILED, Failure.STARTUP_FAILED, message)
        report.send(EventName.SESSION_STARTED)
        return self._run(recipe, prompt, report)

    def stop(self) -> None:
        """End the command that runs; none follows it."""
        self._turns.stop()

    def _run(self, recipe: tuple[str, ...], prompt: str, report: Report) -> TurnResult:
        heartbeat = Heartbeat(report)
        left, seconds = report.request.turn_timeout, 0.0
        survivors: tuple[int, ...] = ()

        def on_line(line: Line, _process: Process, log: Transcript) -> None:
            log_text(log, line, report.turn)
            heartbeat.beat(line)

        for command in recipe:
            report.send(EventName.TOOL_USE, tool="run", message=command)
            try:
                ended, errors = self._turns.run(shell_argv(as_script(command)), prompt, report, on_line, timeout=left)
            except BatonError as error:
                return not_started(report, error)
            left, seconds, survivors = left - ended.seconds, seconds + ended.seconds, (*survivors, *ended.survivors)
            if ended.code != 0:
                break
        whole = replace(ended, seconds=seconds, survivors=survivors)
        return replace(judged(report, whole, heartbeat.last, errors), usage=_FREE)
