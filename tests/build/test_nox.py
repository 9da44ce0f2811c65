"""One line in a noxfile.py gives a session that works on the plans."""

import subprocess
import sys

from tests.build.recording import BuildSpace, user_environ

NOXFILE = "from baton_runner.nox import session_baton\n"


def _nox(space: BuildSpace, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nox", *args], cwd=space.repo, env=user_environ(space), capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_the_session_passes_its_words_on_and_makes_no_environment(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 Login\n- [ ] 1.2 Logout\n").write("noxfile.py", NOXFILE)
    space.commit("noxfile")
    done = _nox(space, "-s", "baton", "--", "-k", "login", "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert space.agent_turns() == {"demo:1.1": 1}
    assert not list((space.repo / ".nox").glob("baton*/bin"))


def test_a_failure_fails_the_session(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 Login\n  Verify: `false`\n").write("noxfile.py", NOXFILE)
    space.commit("noxfile")
    assert _nox(space, "-s", "baton").returncode == 1
