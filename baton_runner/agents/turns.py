"""The process side of a session: one program per turn, its limits, its logs, its events, and the way to stop it.

An adapter says what to start and what a line means; this says everything that is the same for all of them. Lines are
redacted before anybody looks at them, so neither logs nor events nor results can hold a secret.
"""

import json
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from baton_runner.agents.protocol import SessionRequest
from baton_runner.agents.results import Report
from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import rfc3339
from baton_runner.base.files import replace_file
from baton_runner.base.processes import Ended, Line, Process, Reason, end_marked, shell_argv, start
from baton_runner.base.transcript import Redact, Transcript

__all__ = ["ERROR_LOG", "OUTPUT_LOG", "Turns", "log_text", "missing_program"]

OUTPUT_LOG = "agent.jsonl"
ERROR_LOG = "agent.stderr"
_LOG_LIMIT = 50 * 1024 * 1024
_LAST_WORDS = 2000
_PLAIN_WORD = re.compile(r"[\w./~+@-]+")
_ASSIGNMENT = re.compile(r"\w+=")
_CHECK_SECONDS = 10


class Turns:
    """What a session of any adapter holds: its request, its stop button, and the log files."""

    def __init__(self, request: SessionRequest) -> None:
        self.request = request
        self.cancel = Cancel()
        self._leave = request.cancel.subscribe(self.cancel.set)
        self._working = threading.RLock()  # an event's receiver may stop the session
        self._first_prompt = ""

    def run(
        self,
        argv: Sequence[str],
        prompt: str,
        report: Report,
        on_line: Callable[[Line, Process, Transcript], None],
        timeout: float | None = None,
    ) -> tuple[Ended, str]:
        """Run one program to its end, giving every line of its output to ``on_line``, with the log it belongs into.

        The prompt is its standard input, and a file named by BATON_PROMPT_FILE. Returns how it ended and the end of
        its standard error. ``timeout`` is the request's if not given. Raises BatonError when it cannot be started.
        """
        request = self.request
        limit = request.turn_timeout if timeout is None else timeout
        with self.opened(report) as log, self._log(ERROR_LOG, request.redact) as errors:
            if self.cancel.is_set:
                return Ended(None, Reason.CANCELLED, 0.0, "", truncated=False, survivors=()), ""
            process = start(
                argv,
                cwd=request.worktree,
                environ=self.environ(prompt, report.turn),
                marker=request.marker,
                errors=errors,
                stdin=_bytes(prompt),
            )
            report.pid = process.pid
            try:
                for line in process.lines(timeout=limit, stall=request.stall_timeout, cancel=self.cancel):
                    on_line(Line(request.redact(line.data), line.cut), process, log)
            finally:
                ended = process.end()
        return self._as_asked(ended), errors.last(_LAST_WORDS).strip()

    @contextmanager
    def opened(self, report: Report) -> Iterator[Transcript]:
        """Hold :meth:`stop` off while a program runs, with the log of its output open: for redacted lines only."""
        with self._working, self._log(OUTPUT_LOG) as log:
            log.write(_record(type="baton", event="turn", turn=report.turn, time=rfc3339(self.request.clock.now())))
            yield log

    def environ(self, prompt: str, turn: int) -> dict[str, str]:
        """The agent's environment with the variables that tell it its assignment; writes the prompt's file."""
        request = self.request
        file = request.log_folder / f"prompt-{turn}.md"
        replace_file(file, _bytes(prompt), mode=0o600)
        return {
            **request.environ,
            "BATON_PROMPT_FILE": str(file),
            "BATON_CHANGE": request.change,
            "BATON_TASK_ID": request.task_name,
            "BATON_ATTEMPT": str(request.attempt),
            "BATON_TURN": str(turn),
            "BATON_WORKTREE": str(request.worktree),
            **({"BATON_PACKET": str(request.packet)} if request.packet else {}),
        }

    def stop(self) -> None:
        """Cancel the turn that is on, wait for its end, and end whatever of this session is left."""
        self.cancel.set()
        self._leave()
        with self._working:
            end_marked(self.request.marker)

    def whole_prompt(self, prompt: str) -> str:
        """The prompt of a turn for an agent that remembers nothing: the task, then what is new (R-119)."""
        if not self._first_prompt:
            self._first_prompt = self.request.task_prompt or prompt
        return prompt if prompt == self._first_prompt else f"{self._first_prompt}\n\n{prompt}"

    def _as_asked(self, ended: Ended) -> Ended:
        """However it ended: who asked it to stop does not want its success."""
        return replace(ended, reason=Reason.CANCELLED) if self.cancel.is_set else ended

    @contextmanager
    def _log(self, name: str, redact: Redact | None = None) -> Iterator[Transcript]:
        transcript = Transcript(self.request.log_folder / name, limit=_LOG_LIMIT, redact=redact, append=True)
        try:
            yield transcript
        finally:
            transcript.close()


def log_text(log: Transcript, line: Line, turn: int) -> None:
    """Keep a line of an agent that prints plain text, as a JSON record."""
    log.write(_record(type="output", turn=turn, text=line.data.decode("utf-8", "replace")))


def missing_program(command: str, environ: Mapping[str, str]) -> str | None:
    """Why the first program of a command line cannot be run, None when it can or when only a shell could tell."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"{command}: cannot be read as a command line ({error})"
    program = next((word for word in words if not _ASSIGNMENT.match(word)), None)
    if program is None:
        return "there is no command to run; set it in WORKFLOW.md"
    if not _PLAIN_WORD.fullmatch(program):
        return None
    path = str(Path(environ.get("HOME", "~")) / program[2:]) if program.startswith("~/") else program
    found = subprocess.run(
        shell_argv('command -v -- "$1" >/dev/null', path),
        env=dict(environ),
        check=False,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_CHECK_SECONDS,
    )
    return f"{program}: is not an installed program; install it or correct the command" if found.returncode else None


def _bytes(prompt: str) -> bytes:
    return prompt.encode("utf-8", "replace")


def _record(**fields: Any) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
