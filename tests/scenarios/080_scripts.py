"""Commands of several lines: one script, which is red as soon as one of its lines is."""

import pytest

from tests.scenarios.space import POLICY, Space

_BLOCK = """\
    - |
      test -e {first}
      true
"""


@pytest.mark.parametrize(("first", "code"), [("1.1.txt", 0), ("missing", 1)])
def test_a_failing_line_of_a_comment_is_red(space: Space, first: str, code: int) -> None:
    """``<!-- verify: -->`` over several lines: that the last line is green proves nothing."""
    space.start(f"- [ ] 1.1 Write one\n  <!-- verify:\n  test -e {first}\n  true\n  -->\n")
    space.run(code=code)
    assert space.merged_tasks().total() == 1 - code
    assert ("[x] 1.1" in space.plan()) is (code == 0)


@pytest.mark.parametrize(("first", "code"), [("1.1.txt", 0), ("missing", 1)])
def test_a_failing_line_of_a_block_in_the_policy_is_red(space: Space, first: str, code: int) -> None:
    policy = POLICY.replace('  commands: ["true"]\n', "  base: skip\n  commands:\n" + _BLOCK.format(first=first))
    space.start("- [ ] 1.1 Write one\n", policy=policy)
    space.run(code=code)
    assert ("[x] 1.1" in space.plan()) is (code == 0)


def test_a_failing_line_of_a_recipe_ends_it(space: Space) -> None:
    space.start("- [ ] 1.1 Write one\n  <!-- run:\n  echo one > one\n  false\n  echo two > two\n  -->\n")
    space.run(code=1)
    assert not space.git("branch", "--list", "baton/demo").strip() or not space.merged_tasks()
    assert "[x]" not in space.plan()
