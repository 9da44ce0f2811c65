"""Start-up is a feature: an up-to-date run imports nothing that it does not need."""

import subprocess
import sys
from pathlib import Path

from tests.build.recording import BuildSpace

HEAVY = {"asyncio", "doit", "jsonschema", "liquid", "nox", "pexpect", "psutil", "rich", "xml"}

RUN = """\
import sys
from pathlib import Path
from baton_runner.build.report.output import Output
from baton_runner.build.run import run
from baton_runner.build.scope import Request
from baton_runner.controller.project import Project
code = run(Project.open(Path.cwd()), Request(), Output())
print(code, *sorted(sys.modules))
"""


def test_an_up_to_date_run_needs_neither_doit_nor_rich(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n")
    space.build()
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=space.repo, env=space.environ, capture_output=True, text=True, check=True
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0"
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()


def test_nothing_of_ours_needs_nox_but_the_line_for_noxfiles() -> None:
    source = Path(__file__).parents[2] / "baton_runner"
    users = {path.name for path in source.rglob("*.py") if "import nox" in path.read_text()}
    assert users == {"nox.py"}
