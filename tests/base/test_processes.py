"""Programs of others: every wait ends, the whole tree ends, output is kept within limits."""

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from baton_runner.base import marked, processes
from baton_runner.base.cancel import Cancel
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import Ended, Line, Process, Reason, run_command
from baton_runner.base.transcript import Transcript


@pytest.fixture
def marker() -> Iterator[str]:
    name = f"test-{uuid.uuid4().hex}"
    yield name
    processes.end_marked(name)


Run = Callable[..., Ended]
Start = Callable[..., Process]


@pytest.fixture
def run(tmp_path: Path, marker: str) -> Run:
    def call(command: str, *, timeout: float = 60, cancel: Cancel | None = None, limit: int = 1 << 20) -> Ended:
        return run_command(
            command,
            cwd=tmp_path,
            environ={"PATH": os.environ["PATH"]},
            log=tmp_path / "logs" / "out.log",
            timeout=timeout,
            marker=marker,
            cancel=cancel,
            limit=limit,
        )

    return call


@pytest.fixture
def start(tmp_path: Path, marker: str) -> Iterator[Start]:
    started: list[tuple[Process, Transcript]] = []

    def call(argv: Sequence[str], stdin: bytes = b"") -> Process:
        errors = Transcript(tmp_path / "errors.log")
        process = processes.start(
            argv, cwd=tmp_path, environ={"PATH": os.environ["PATH"]}, marker=marker, errors=errors, stdin=stdin
        )
        started.append((process, errors))
        return process

    yield call
    for process, errors in started:
        process.end(0)
        errors.close()


def cancel_once_there(path: Path) -> Cancel:
    """A request to stop that another thread makes as soon as the program has made this file."""
    cancel = Cancel()

    def watch() -> None:
        while not path.exists():
            threading.Event().wait(0.005)
        cancel.set()

    threading.Thread(target=watch, daemon=True).start()
    return cancel


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def python(script: str) -> list[str]:
    return [sys.executable, "-S", "-c", script]


class TestRunCommand:
    def test_reports_exit_code_and_keeps_both_streams(self, run: Run, tmp_path: Path) -> None:
        ended = run("echo out; echo err >&2; exit 3")
        assert (ended.code, ended.reason, ended.tail) == (3, Reason.EXITED, "out\nerr\n")
        log = tmp_path / "logs" / "out.log"
        assert log.read_text() == "out\nerr\n"
        assert log.stat().st_mode & 0o777 == 0o600

    def test_a_signal_is_a_negative_code(self, run: Run) -> None:
        assert run("kill -9 $$").code == -9

    def test_has_no_input_to_wait_for(self, run: Run) -> None:
        assert run("cat; echo done", timeout=30).tail == "done\n"

    def test_sees_only_the_environment_it_was_given(
        self, run: Run, marker: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_OF_OURS", "1")
        monkeypatch.delenv(processes.MARKER, raising=False)
        assert run("env | sort").tail.count("SECRET_OF_OURS") == 0
        assert f"{processes.MARKER}={marker}\n" in run("env").tail

    def test_does_not_wait_for_a_grandchild_that_holds_the_output(self, run: Run, marker: str) -> None:
        """K-14: a background child of another session keeps the pipe open; it is ended, nobody waits for it."""
        ended = run("setsid sleep 1000 & echo started")
        assert ended.tail == "started\n"
        assert ended.seconds < 20
        assert ended.survivors
        assert processes.processes_marked(marker) == ()

    def test_ends_although_a_grandchild_writes_for_ever(self, run: Run, marker: str) -> None:
        ended = run("yes & sleep 0.05; exit 4", timeout=60)
        assert (ended.code, ended.reason) == (4, Reason.EXITED)
        assert processes.processes_marked(marker) == ()

    def test_timeout_ends_the_whole_tree(self, run: Run, marker: str) -> None:
        ended = run("setsid sleep 1000 & sleep 1000", timeout=0.2)
        assert ended.reason is Reason.TIMED_OUT
        assert ended.code != 0
        assert processes.processes_marked(marker) == ()

    def test_what_is_printed_on_sigterm_is_kept(self, run: Run, tmp_path: Path) -> None:
        script = "trap 'echo summary; exit 0' TERM; echo ready; touch running; while :; do read -t 1 </dev/zero; done"
        ended = run(script, cancel=cancel_once_there(tmp_path / "running"))
        assert ended.reason is Reason.CANCELLED
        assert ended.tail == "ready\nsummary\n"

    def test_a_program_deaf_to_sigterm_is_killed(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(processes, "GRACE", 0.2)
        ended = run("trap '' TERM; while :; do sleep 0.01; done", timeout=0.2)
        assert (ended.code, ended.reason) == (-9, Reason.TIMED_OUT)

    def test_cancel_from_another_thread_wakes_the_wait(self, run: Run, tmp_path: Path) -> None:
        ended = run("touch running; sleep 1000", cancel=cancel_once_there(tmp_path / "running"))
        assert ended.reason is Reason.CANCELLED
        assert ended.seconds < 30

    def test_cancelled_before_the_start_ends_at_once(self, run: Run) -> None:
        cancel = Cancel()
        cancel.set()
        assert run("sleep 1000", cancel=cancel).reason is Reason.CANCELLED

    def test_endless_output_keeps_head_and_tail(self, run: Run, tmp_path: Path) -> None:
        ended = run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", limit=100_000)
        text = (tmp_path / "logs" / "out.log").read_text()
        assert ended.truncated
        assert text.startswith("first\nx")
        assert text.endswith("x\nlast\n")
        assert "bytes left out" in text
        assert len(text) < 101_000
        assert ended.tail.endswith("last\n")
        assert len(ended.tail) <= 16 * 1024

    def test_parallel_commands_do_not_end_each_other(self, tmp_path: Path) -> None:
        """Marks tell runs apart: a command ended early leaves its neighbour alone."""
        codes: dict[int, int | None] = {}

        def one(number: int) -> None:
            codes[number] = run_command(
                f"for i in 1 2 3 4 5; do true; done; exit {number}",
                cwd=tmp_path,
                environ={"PATH": os.environ["PATH"]},
                log=tmp_path / f"{number}.log",
                timeout=60,
                marker=f"parallel-{os.getpid()}-{number}",
            ).code

        threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == {number: number for number in range(12)}

    def test_a_missing_folder_is_named(self, tmp_path: Path, marker: str) -> None:
        with pytest.raises(BatonError, match="no folder to work in") as caught:
            run_command("true", cwd=tmp_path / "gone", environ={}, log=tmp_path / "log", timeout=5, marker=marker)
        assert caught.value.code == "no_folder"

    def test_an_exit_that_somebody_else_took_is_not_a_success(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """No false green: an unknown exit code never reads as 0."""

        def stolen(*_: object) -> None:
            raise ChildProcessError

        monkeypatch.setattr(os, "waitid", stolen, raising=False)
        monkeypatch.setattr(os, "waitpid", stolen)
        assert run("true").code is None

    @pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", -9), ("setsid sleep 1000 & true", 0)])
    def test_systems_that_cannot_peek_at_an_exit(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, marker: str, command: str, code: int
    ) -> None:
        """macOS has no waitid before Python 3.13: the exit is taken at once."""
        monkeypatch.delattr(os, "waitid", raising=False)
        assert run(command).code == code
        assert processes.processes_marked(marker) == ()

    def test_leaves_no_descriptors_and_threads(self, run: Run) -> None:
        run("true")
        before = open_files(), threading.active_count()
        for _ in range(5):
            run("echo x")
        assert (open_files(), threading.active_count()) == before


class TestLines:
    def read(self, process: Process, *, timeout: float = 60, stall: float | None = None) -> list[Line]:
        return list(process.lines(timeout=timeout, stall=stall))

    def test_standard_input_is_a_file_of_any_size(self, start: Start) -> None:
        """Prompts of a megabyte arrive whole, and the input ends."""
        process = start(python("import sys; print(len(sys.stdin.buffer.read()))"), b"x" * 1_000_000)
        assert self.read(process) == [Line(b"1000000")]

    def test_characters_written_byte_by_byte_arrive_whole(self, start: Start) -> None:
        script = "import os\nfor b in '→ ü\\n€'.encode(): os.write(1, bytes([b]))"
        assert [line.data.decode() for line in self.read(start(python(script)))] == ["→ ü", "€"]

    def test_a_line_beyond_the_limit_is_cut_and_the_next_one_is_whole(self, start: Start) -> None:
        script = "import sys\nfor _ in range(50): sys.stdout.write('x' * 1000000)\nprint(); print('next')"
        first, second = self.read(start(python(script)))
        assert (len(first.data), first.cut) == (processes.LINE_LIMIT, True)
        assert second == Line(b"next")

    def test_a_line_of_ten_million_bytes_is_whole(self, start: Start) -> None:
        (line,) = self.read(start(python("print('x' * 10_000_000)")))
        assert (len(line.data), line.cut) == (10_000_000, False)

    def test_standard_error_is_kept_apart(self, start: Start, tmp_path: Path) -> None:
        process = start(python("import sys; print('noise', file=sys.stderr); print('line')"))
        assert self.read(process) == [Line(b"line")]
        assert process.end().code == 0
        assert (tmp_path / "errors.log").read_text() == "noise\n"

    def test_silence_is_a_stall(self, start: Start) -> None:
        process = start(["sleep", "1000"])
        assert self.read(process, stall=0.2) == []
        assert process.end().reason is Reason.STALLED

    def test_output_on_either_stream_is_no_stall(self, start: Start) -> None:
        script = (
            "import sys, time\nfor _ in range(8): print('.', file=sys.stderr, flush=True); time.sleep(.1)\nprint('end')"
        )
        process = start(python(script))
        assert self.read(process, stall=0.6) == [Line(b"end")]
        assert process.end().reason is Reason.EXITED

    def test_the_end_can_be_brought_nearer_while_reading(self, start: Start) -> None:
        """K-35: a program that hangs after its last word gets a short grace, not the whole turn."""
        process = start(python("import time; print('result', flush=True); time.sleep(1000)"))
        for line in process.lines(timeout=1000):
            assert line.data == b"result"
            process.finish_within(0.1)
        assert process.end().reason is Reason.TIMED_OUT

    def test_ending_reaches_what_left_the_session(self, start: Start, marker: str) -> None:
        process = start(["bash", "-c", "setsid bash -c 'setsid sleep 1000 & sleep 1000' & echo up; sleep 1000"])
        assert next(process.lines(timeout=60)).data == b"up"
        process.end(0.2)
        assert processes.processes_marked(marker) == ()
        assert process.end(0.2).code == -15

    def test_a_missing_program_is_named(self, start: Start) -> None:
        with pytest.raises(BatonError, match="no-such-program-here: is not an installed program") as caught:
            start(["no-such-program-here"])
        assert caught.value.code == "program_not_found"

    def test_too_long_an_argument_is_an_error_of_ours(self, start: Start) -> None:
        with pytest.raises(BatonError, match="larger than the system allows"):
            start(["true", "x" * 10_000_000])


class TestMarks:
    def test_nested_runs_are_found_by_the_outer_mark(
        self, run: Run, marker: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(processes.MARKER, "outer-assignment")
        assert f"{processes.MARKER}=outer-assignment {marker}\n" in run("env").tail

    def test_a_mark_is_a_whole_word(self, marker: str) -> None:
        child = subprocess.Popen(["sleep", "1000"], env={"PATH": os.environ["PATH"], processes.MARKER: f"{marker}0"})
        try:
            assert processes.end_marked(marker) == ()
            assert child.poll() is None
        finally:
            child.kill()
            child.wait()

    def test_systems_without_proc_ask_psutil(self, start: Start, marker: str) -> None:
        process = start(["sleep", "1000"])
        assert process.pid in marked._from_psutil(marker)
        process.end(0)
        assert marked._from_psutil(marker) == ()

    @pytest.mark.parametrize("bad", ["", "two words", "nul\0"])
    def test_a_mark_that_could_not_be_found_again_is_refused(self, bad: str, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="one word"):
            run_command("true", cwd=tmp_path, environ={}, log=tmp_path / "log", timeout=5, marker=bad)


@pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
class TestSubreaper:
    SCRIPT = """
import os, subprocess, sys, time
from pathlib import Path
from baton_runner.base import marked, processes
assert processes.become_subreaper()
mine = subprocess.Popen(["true"])
def run(command):
    return processes.run_command(command, cwd=Path.cwd(), environ=dict(os.environ), log=Path("log"), timeout=60,
                                 marker=f"reaper-{os.getpid()}")
run("setsid sleep 1000 & sleep 1000 & true")
run("(sleep 0.01 &) ; (true &) ; sleep 0.1")
deadline = time.monotonic() + 30
while True:
    processes.reap_adopted()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    if children == [str(mine.pid)] or time.monotonic() > deadline:
        break
    time.sleep(0.01)
print(children == [str(mine.pid)], mine.wait())
"""

    def test_adopted_orphans_are_reaped_and_children_of_others_are_not(self, tmp_path: Path) -> None:
        """A service runs for days: no zombie stays, and nobody's exit status is stolen."""
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            pytest.skip("this kernel does not list children")
        root = str(Path(__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-c", self.SCRIPT],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("True 0\n", "")


def test_a_finished_command_costs_little(run: Run, marker: str) -> None:
    """Looking for leftovers costs a few milliseconds; ten runs of nothing stay far below a second."""
    run("true")
    began = time.perf_counter()
    for _ in range(10):
        run("true")
    assert time.perf_counter() - began < 5
