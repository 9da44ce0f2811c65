"""Lines, boxes, fences and comments: every box that OpenSpec counts, at its byte offset, and nothing hidden by mistake."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from baton_runner.base.errors import PlanError
from baton_runner.plan.lines import Kind, read_lines
from baton_runner.plan.model import Mark
from tests.plan.openspec_counter import count
from tests.plan.plan_strategies import messy_plans

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.md"))
READABLE = [path for path in FIXTURES if path.stem != "not_utf8"]


def _counted(data: bytes) -> tuple[int, int]:
    boxes = [line.box for line in read_lines(data, "tasks.md") if line.box]
    return len(boxes), sum(box.mark is Mark.RESOLVED for box in boxes)


@pytest.mark.parametrize("path", READABLE, ids=lambda path: path.stem)
def test_every_fixture_is_counted_as_openspec_counts_it(path: Path) -> None:
    assert _counted(path.read_bytes()) == count(path.read_bytes())


@given(messy_plans())
def test_any_mixture_of_lines_is_counted_as_openspec_counts_it(data: bytes) -> None:
    assert _counted(data) == count(data)


@given(st.text(alphabet="-*+ 1.)[]xX~(\t\u00a0\u2003\ufeff\x1c\x85🚧é", max_size=12))
def test_any_line_of_box_characters_is_counted_as_openspec_counts_it(line: str) -> None:
    assert _counted(line.encode()) == count(line.encode())


@pytest.mark.skipif(shutil.which("openspec") is None, reason="needs the openspec program")
def test_the_real_openspec_agrees(tmp_path: Path) -> None:
    """The oracle is checked against the program itself where it is installed."""
    for path in READABLE:
        folder = tmp_path / "openspec" / "changes" / path.stem.replace("_", "-")
        folder.mkdir(parents=True)
        (folder / "tasks.md").write_bytes(path.read_bytes())
    environment = {**os.environ, "OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1"}
    answer = subprocess.run(
        ["openspec", "list", "--json"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    said = {
        change["name"]: (change["totalTasks"], change["completedTasks"])
        for change in json.loads(answer.stdout)["changes"]
    }
    assert said == {path.stem.replace("_", "-"): count(path.read_bytes()) for path in READABLE}


@given(messy_plans())
def test_offsets_are_those_of_the_brackets_in_the_bytes(data: bytes) -> None:
    for line in read_lines(data, "tasks.md"):
        if line.box is not None:
            brackets = data[line.box.start : line.box.end]
            assert brackets.startswith(b"[")
            assert brackets.endswith(b"]")
            assert data.count(b"\n", 0, line.box.start) + 1 == line.box.line == line.number


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(PlanError, match=r"^tasks\.md:3: is not UTF-8") as caught:
        read_lines(b"\xef\xbb\xbfa\nb\nc\xff\n", "tasks.md")
    assert caught.value.code == "not_utf8"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("```\n- [ ] a\n```\n- [ ] b", [2]),
        ("```\n- [ ] a\n- [ ] b", []),
        ("````\n- [ ] a\n```\n- [ ] b\n````", [2, 4]),
        ("~~~\n- [ ] a\n```\n- [ ] b\n~~~", [2, 4]),
        ("``` a`b\n- [ ] a\n```", []),
        ("- [ ] a\n  ```md\n  - [ ] b\n  ```\n- [ ] c", [3]),
        ("- [ ] a\n  ```sh\n- [ ] b\n  ```\n- [ ] c", []),
        ("- ```md\n  - [ ] a\n  ```\n- [ ] b", [2]),
        ("- [ ] a\n  ```sh\n# a remark\n  - [ ] b\n  ```", [4]),
        ("<!--\n- [ ] a\n-->\n- [ ] b", [2]),
        ("<!--\n- [ ] a\n- [ ] b", []),
        ("<!-- a --> <!--\n- [ ] a\n--> end", []),
        ("words <!--\n- [ ] a\n-->", []),
        ("words `<!--` more\n- [ ] a\n-->", []),
        ("```\n<!--\n```\n- [ ] a\n```\n-->\n```", []),
        ("<!--\n```\n-->\n- [ ] a\n```", []),
    ],
)
def test_what_is_hidden_in_fences_and_comments(text: str, hidden: list[int]) -> None:
    lines = read_lines(text.encode(), "tasks.md")
    assert [line.number for line in lines if line.box and line.kind is not Kind.BOX] == hidden


@given(
    st.lists(st.sampled_from(["- [ ] a", "words", "", "## heading", "`not` code", "    - [ ] deep"]), max_size=8),
    st.integers(3, 5),
)
def test_a_closed_fence_hides_what_markdown_says_it_hides(inside: list[str], length: int) -> None:
    """A second oracle: a CommonMark parser finds the same code block."""
    text = "\n".join(["- [ ] before", "", "`" * length, *inside, "`" * length, "", "- [ ] after"])
    fences = [token.map for token in MarkdownIt().parse(text) if token.type == "fence"]
    expected = {number for span in fences if span for number in range(span[0] + 1, span[1] + 1)}
    assert {line.number for line in read_lines(text.encode(), "") if line.kind is Kind.FENCED} == expected


@pytest.mark.parametrize(
    "unit",
    [
        b"- [ ] 1.1 a\n",
        b"  ```bash\n",
        b"<!-- \n",
        b"- [" + b" " * 50,
        b"x <!-- `\n- [ ] a\n",
        b"```a\n- [ ] b\n    ```\n",
        b" ```c\n    - [ ] d\n",
        b"`",
        b"- [ ] a <!-- ",
    ],
    ids=["boxes", "fences", "comments", "blanks", "open comments", "broken fences", "deep", "backticks", "one line"],
)
def test_time_is_linear_in_the_size_whatever_the_file(unit: bytes) -> None:
    """Four times the file takes about four times as long, not sixteen."""
    small, large = (min(_seconds(unit * (size // len(unit))) for _ in range(2)) for size in (150_000, 600_000))
    assert large < 10 * small + 0.05


def _seconds(data: bytes) -> float:
    start = time.process_time()
    read_lines(data, "tasks.md")
    return time.process_time() - start
