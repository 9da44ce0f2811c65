"""The documentation is true: its commands do what it shows, its links lead somewhere, its commands and options exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from baton_runner.cli.commands import baton
from baton_runner.plan.tasks_md import read_plan
from baton_runner.workflow.policy import read_policy
from tests.docs.pages import ROOT, Page, pages
from tests.docs.scenes import Scene, World, commands, pattern, scenes

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.label)
def test_a_scene_happens_as_the_page_shows_it(scene: Scene, tmp_path: Path) -> None:
    """Whoever types what a page says sees what the page says."""
    world = World(tmp_path)
    for block in scene.blocks:
        if "file" in block.settings:
            world.write(block.settings["file"], block.text)
        else:
            world.play(block, scene.page)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_console_block_is_run_or_says_why_not(page: Page) -> None:
    """No command is shown that nobody tried, unless the page's source says what it would need."""
    for block in page.blocks:
        if block.language == "console":
            reason = block.settings.get("not run", "")
            assert block.settings.get("scene") or reason, f"{page.name}:{block.line}: neither a scene nor a reason"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_policy_and_plan_that_is_shown_can_be_read(page: Page, tmp_path: Path) -> None:
    """Settings exist and have values that fit; plans have no problem and nothing odd."""
    for block in page.blocks:
        where = f"{page.name}:{block.line}"
        if block.language == "yaml":
            policy = tmp_path / "WORKFLOW.md"
            policy.write_text(block.text if block.text.startswith("---") else f"---\n{block.text}---\n")
            assert not read_policy(policy, environ={}, folder=tmp_path).findings, where
        elif block.language == "markdown":
            plan = read_plan(block.text.encode(), change="example", path=where)
            assert not plan.problems, where
            assert not plan.warnings, where


@pytest.mark.parametrize("page", [*pages(), Page(ROOT / "docs" / "design.md")], ids=lambda page: page.name)
def test_every_link_inside_the_project_leads_somewhere(page: Page) -> None:
    """Files exist, and so do the headings that anchors name."""
    for link in page.links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.path.parent / path).resolve() if path else page.path
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in Page(target).anchors, f"{page.name}: {link}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_command_and_option_that_is_named_exists(page: Page) -> None:
    """``baton xyz --option``, wherever it stands in code, is in the command line's own tree."""
    for text in _calls(page):
        _check_call(text, page.name)


def test_a_call_that_does_not_exist_is_noticed() -> None:
    """The test above can fail."""
    for text in ("baton fly", "baton run --wings", "baton plan wings", "baton -Z list"):
        with pytest.raises(AssertionError):
            _check_call(text, "a page")


def test_wildcards_stand_for_what_they_say_and_nothing_else() -> None:
    """The test of the scenes can fail."""
    assert pattern("a ... c").fullmatch("a b c\n")
    assert not pattern("a ... c").fullmatch("a b\nc\n")
    assert pattern("a\n...\nd").fullmatch("a\nb\nc\nd\n")
    assert pattern("a\n...\nd").fullmatch("a\nd\n")
    assert not pattern("a\n...\nd").fullmatch("a\nb\n")
    assert pattern("==== a ====").fullmatch("====== a =====\n")
    assert not pattern("==== a ====").fullmatch("====== b =====\n")
    assert not pattern("").fullmatch("said something\n")


def _calls(page: Page) -> Iterator[str]:
    """What a page says to type, from ``baton`` to the end of that command."""
    texts = list(page.spans)
    for block in page.blocks:
        if block.language == "console":
            texts += [command.text for command in commands(block)]
        elif block.language in {"bash", "sh", "yaml", "make"}:
            texts += block.text.splitlines()
    for text in texts:
        yield from (found[0] for found in re.finditer(r"(?<![\w./-])(?<!-s )baton [^|;&`#)]*", text))


def _check_call(text: str, where: str) -> None:
    words = shlex.split(text, posix=True)[1:]
    context = click.Context(baton, info_name="baton")
    command: click.Command = baton
    while words:
        word = words.pop(0)
        if isinstance(command, click.Group) and not word.startswith("-"):
            if word.isupper():  # a placeholder such as COMMAND
                return
            found = command.get_command(context, word)
            assert found is not None, f"{where}: `{text}`: there is no command {word}"
            command = found
        elif _OPTION.fullmatch(word.partition("=")[0]):
            word = word.partition("=")[0]
            option = next((each for each in command.params if word in each.opts), None)
            known = word in {"-h", "--help"} or option is not None
            assert known, f"{where}: `{text}`: {command.name} has no option {word}"
            if isinstance(option, click.Option) and not (option.is_flag or option.count) and words:
                words.pop(0)
