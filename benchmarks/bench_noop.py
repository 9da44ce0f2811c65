"""An up-to-date run: the fast answer and the slow one, beside ninja and plain doit where they can be run.

Bars (2 cores): 0.25 s at 1,000 tasks, 0.5 s at 10,000; `list` and `status` likewise.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.world import best_of, environ, proven

DODO = """\
def task_copy():
    for n in range({n}):
        yield {{"name": str(n), "file_dep": [f"i/{{n}}"], "targets": [f"o/{{n}}"], "actions": [f"cp i/{{n}} o/{{n}}"]}}
"""


def peers(root: Path, tasks: int) -> dict[str, float]:
    """The same number of copied files under plain doit and, where it is installed, ninja."""
    place = root / "peers"
    for name in ("i", "o"):
        (place / name).mkdir(parents=True)
    for number in range(tasks):
        (place / "i" / str(number)).write_text("x")
    (place / "dodo.py").write_text(DODO.format(n=tasks))
    doit = [sys.executable, "-m", "doit", "-v0"]
    where = {"cwd": place, "env": environ(root)}
    best_of(1, doit, **where)
    found = {"doit": best_of(3, doit, **where)}
    ninja = shutil.which("ninja")
    if ninja:
        rules = "rule cp\n  command = cp $in $out\n" + "".join(f"build o/{n}: cp i/{n}\n" for n in range(tasks))
        (place / "build.ninja").write_text(rules)
        best_of(1, [ninja], **where)
        found["ninja"] = best_of(3, [ninja], **where)
    return found


def main() -> None:
    """Print a table."""
    baton = [sys.executable, "-m", "baton_runner"]
    for tasks in (1_000, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            repo = proven(root, tasks)
            where = {"cwd": repo, "env": environ(root)}
            found = {
                "run, fast": best_of(3, [*baton, "run"], **where),
                "run, slow": best_of(3, [*baton, "run", "-v"], **where),
                "list": best_of(3, [*baton, "list"], **where),
                "status": best_of(3, [*baton, "status"], **where),
                "python -c pass": best_of(3, [sys.executable, "-c", "pass"], **where),
                **peers(root, tasks),
            }
        print(f"{tasks} tasks, nothing to do:", ", ".join(f"{name} {seconds:.3f} s" for name, seconds in found.items()))


if __name__ == "__main__":
    main()
