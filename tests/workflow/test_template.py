"""The engine's bounds (threat: templates that never end or never stop growing)."""

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow import template
from baton_runner.workflow.prompt_values import PromptIssue
from tests.workflow.policies import render

WIDE = "".join(["{% for i in (1..90000) %}{% assign a = issue.title | size %}{% endfor %}"] * 40)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("{% for i in (1..100000000) %}{% endfor %}", "loop iteration limit"),
        ("{% for i in (1..1000) %}{% for j in (1..1000) %}x{% endfor %}{% endfor %}", "loop iteration limit"),
        (
            "{% assign a = 'xx' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}",
            "local namespace limit",
        ),
        ("{% for i in (1..99999) %}{{ issue.description }}{% endfor %}", "output stream limit"),
        ("{{ issue.description | replace: 'x', issue.description }}", "too large"),
        ("{% if true %}" * 40 + "{% endif %}" * 40, "out of bounds"),
    ],
)
def test_bounds(body: str, what: str) -> None:
    """Loops, nested loops, doubling texts, output and nesting each have an end."""
    issue = PromptIssue(id="1", identifier="i", title="t", state="T", description="x" * 10_000)
    with pytest.raises(PolicyError, match="out of bounds") as caught:
        render(body, issue=issue)
    assert what in caught.value.what


def test_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays below every other limit still ends by the clock."""
    monkeypatch.setattr(template, "MAX_SECONDS", -1.0)
    with pytest.raises(PolicyError, match="takes longer than"):
        render(WIDE)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("body", ["a\n{{" + " " * 100_000, "a\n" + "{{" * 50_000, "}} a\n{{ issue.title"])
def test_an_opening_that_is_never_closed(body: str) -> None:
    """It is refused at once, with its line, where the engine would search for minutes."""
    with pytest.raises(PolicyError, match=r"^WORKFLOW\.md:11: .*never closed"):
        render(body)


def test_literal_blocks_may_hold_openings() -> None:
    """What stands in raw and comment blocks is not judged."""
    assert render("{% raw %}{{ x{% endraw %}") == "{{ x"
    assert render("a{% comment %}{{{% endcomment %}") == "a"


def test_static_scan() -> None:
    """Filters and outside names are found in branches that are never taken, with their lines."""
    source = "{{ issue.a }}\n{% if false %}{{ issue.b | nope }}{% assign x = task.c %}{{ x }}{% endif %}"
    assert template.used_filters(source) == {"nope": 2}
    assert template.used_names(source) == {"issue.a": 1, "issue.b": 2, "task.c": 2}
