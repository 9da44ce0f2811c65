"""Trivial tasks with worktrees, checks, receipts and merges at -n 4: seconds, memory, descriptors, threads.

Bars (2 cores): 100 tasks under 8 s and 150 MB; memory, descriptors and threads do not grow from task 100 to 1,000.
"""

import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.world import environ, trivial


@dataclass
class Peak:
    """The largest figures seen."""

    memory: int = 0
    descriptors: int = 0
    threads: int = 0

    def watch(self, pid: int, over: threading.Event) -> None:
        """Sample a process until it is over."""
        process = psutil.Process(pid)
        while not over.wait(0.05):
            try:
                self.memory = max(self.memory, process.memory_info().rss)
                self.descriptors = max(self.descriptors, process.num_fds())
                self.threads = max(self.threads, process.num_threads())
            except psutil.Error:
                return


def measure(tasks: int) -> tuple[float, Peak]:
    """One whole run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repo = trivial(root, tasks)
        peak, over, began = Peak(), threading.Event(), time.perf_counter()
        call = [sys.executable, "-m", "baton_runner", "run", "-q", "-n", "4"]
        with subprocess.Popen(call, cwd=repo, env=environ(root)) as process:
            watcher = threading.Thread(target=peak.watch, args=(process.pid, over))
            watcher.start()
            code = process.wait()
            over.set()
            watcher.join()
        assert code == 0
        return time.perf_counter() - began, peak


def main() -> None:
    """Print a line for each size."""
    for tasks in (100, 1_000):
        seconds, peak = measure(tasks)
        print(
            f"{tasks} tasks: {seconds:.1f} s, {seconds / tasks * 1000:.0f} ms a task, {peak.memory / 2**20:.0f} MB,"
            f" {peak.descriptors} descriptors, {peak.threads} threads"
        )


if __name__ == "__main__":
    main()
