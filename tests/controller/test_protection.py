"""Which changes touch what judges them."""

import pytest

from baton_runner.controller.protection import violations
from baton_runner.repo.objects import Change


def _change(path: str, old: str = "100644", new: str = "100644") -> Change:
    return Change(path, old, "a" * 40, new, "b" * 40)


@pytest.mark.parametrize(
    ("glob", "path", "protected"),
    [
        ("Jenkinsfile", "Jenkinsfile", True),
        ("Jenkinsfile", "sub/Jenkinsfile", False),
        (".github/workflows/**", ".github/workflows/deep/ci.yml", True),
        (".github/workflows/**", ".github/dependabot.yml", False),
        ("tests/*.py", "tests/test_a.py", True),
        ("tests/*.py", "tests/deep/test_a.py", False),
        ("**/test_*.py", "src/deep/test_a.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("tests/", "tests/deep/a", True),
        ("tests", "tests/deep/a", True),
        ("tests", "tests2/a", False),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
    ],
)
def test_globs_are_those_of_a_repository(glob: str, path: str, protected: bool) -> None:
    assert violations([_change(path)], [glob]) == ((path,) if protected else ())


def test_adding_is_fine_changing_and_deleting_are_not() -> None:
    """Also a change of the mode alone."""
    changes = [_change("t/new", old="000000"), _change("t/gone", new="000000"), _change("t/exec", new="100755")]
    assert violations(changes, ["t/*"]) == ("t/gone", "t/exec")
