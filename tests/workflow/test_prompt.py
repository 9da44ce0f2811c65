"""Rendering prompts (R-008..R-010, T029..T035, decision 4): strict, single-pass, with values that print well."""

import datetime as dt
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.prompt import default_prompt
from baton_runner.workflow.prompt_values import PromptFailure, PromptIssue, PromptTask, issue_from_task
from tests.workflow.policies import ISSUE, TASK, render

BARE = PromptIssue(id="I", identifier="acme__shop-8", title="Bare", state="Todo", description="  \n ")
FAILURE = PromptFailure(kind="verification", command="make test", output="E   assert 1 == 2\n```\n", note="See line 3.")


def test_loops_over_labels_and_blockers() -> None:
    """T029, R-009a: nested lists and maps are iterable, forloop works."""
    body = "{% for l in issue.labels %}{{ l }}{% unless forloop.last %}/{% endunless %}{% endfor %} {% for b in issue.blocked_by %}{{ b.identifier }}={{ b.state }}{% endfor %}"
    assert render(body) == "bug/ai acme__shop-6=In Progress"


def test_attempt_is_defined_as_null() -> None:
    """T030, R-008: the first try takes the else-branch, a later one prints its number."""
    body = "{% if attempt %}{{ attempt }}{% else %}first{% endif %}"
    assert render(body) == "first"
    assert render(body, attempt=3) == "3"


def test_one_counter_for_retries_and_continuations() -> None:
    """R-012: the template sees one number, whatever made the attempt; a second name for its kind does not exist."""
    assert render("{{ attempt }}", attempt=1) == render("{{ attempt }}", attempt=1, failure=FAILURE) == "1"
    with pytest.raises(PolicyError):
        render("{{ retry_kind }}", attempt=1)


@pytest.mark.parametrize(
    "body",
    [
        "{{ nope }}",
        "{{ issue.titel }}",
        "{% if nope %}x{% endif %}",
        "{% if issue.titel %}x{% endif %}",
        "{% for x in nope %}x{% endfor %}",
        "{{ nope | default: 'd' }}",
        "{{ issue.nope | default: 'd' }}",
        "{{ nope | json }}",
        "{{ nope | join: ',' }}",
        "{{ issue.number.x }}",
        "{% assign x = issue.nope %}{{ x }}",
        "{% unless nope %}x{% endunless %}",
    ],
)
def test_undefined_names_fail(body: str) -> None:
    """T031, R-009: in output, conditions, loops and before a default alike."""
    with pytest.raises(PolicyError) as caught:
        render(body)
    assert caught.value.code == "template_render_error"


def test_unknown_filters_fail() -> None:
    """T032, R-009: a filter that does not exist is an error."""
    with pytest.raises(PolicyError, match="there is no filter slugify"):
        render("{{ issue.title | slugify }}")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{% if issue.number %}a{% elsif issue.title %}b{% else %}c{% endif %}", "b"),
        ("{% assign t = issue.title | upcase %}{{ t }}", "PRICES ARE WRONG"),
        ("{% comment %}x{% endcomment %}a {%- if true -%} b {%- endif %}", "ab"),
        (
            "{{ issue.labels.size }} {{ issue.labels | size }} {{ issue.labels.first }} {{ issue.labels | last }}",
            "2 2 bug ai",
        ),
        ("{{ issue.number | default: 'none' }}", "none"),
        ("{{ ' a ' | strip }}{{ 'B' | downcase }}", "ab"),
        ("{{ issue.labels | join: '; ' }}", "bug; ai"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{% case issue.state %}{% when 'Todo' %}t{% endcase %}", "t"),
    ],
)
def test_supported_constructs(body: str, expected: str) -> None:
    """R-009a: what real prompts use."""
    assert render(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{{ issue.labels }}", "bug, ai"),
        ("{% echo issue.labels %}", "bug, ai"),
        ("{{ issue.labels | upcase }}", "BUG, AI"),
        ("{% if issue.labels contains 'bug' %}y{% endif %}", "y"),
        ("{{ issue.labels | json }}", '["bug", "ai"]'),
        ("{{ issue.blocked_by }}", '[{"id": "I_0", "identifier": "acme__shop-6", "state": "In Progress"}]'),
        ("{{ issue.blocked_by | json }}", '[{"id": "I_0", "identifier": "acme__shop-6", "state": "In Progress"}]'),
        ("{{ issue.blocked_by[0] }}", '{"id": "I_0", "identifier": "acme__shop-6", "state": "In Progress"}'),
    ],
)
def test_collections_print_well(body: str, expected: str) -> None:
    """Decision 4: labels print with commas, maps as JSON; `json` exists."""
    assert render(body) == expected


def test_an_issue_prints_as_json() -> None:
    """Decision 4: never as a Python value."""
    printed = json.loads(render("{{ issue }}"))
    assert printed["labels"] == ["bug", "ai"]
    assert printed["number"] is None
    assert printed["closed"] is False


def test_letters_of_every_script_stay_readable() -> None:
    """JSON in a prompt is for readers."""
    assert (
        render("{{ issue.title | json }}", issue=PromptIssue(id="1", identifier="i", title="Größe 日本", state="T"))
        == '"Größe 日本"'
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{% if issue.description %}x{% else %}No description provided.{% endif %}", "No description provided."),
        ("[{{ issue.description }}]", "[]"),
        ("[{{ issue.description | join: ',' }}]", "[]"),
        ("[{{ issue.created_at | date: '%Y' }}]", "[]"),
        ("[{{ issue.description | upcase }}]", "[]"),
        ("{{ issue.labels | default: 'none' }}", "none"),
        ("{% for l in issue.labels %}x{% else %}none{% endfor %}", "none"),
        ("{% if issue.blocked_by == empty %}free{% endif %}", "free"),
    ],
)
def test_blank_and_null_values(body: str, expected: str) -> None:
    """T035, decision 4: a blank body is null; join and date of null are empty."""
    assert render(body, issue=BARE) == expected


def test_times_are_iso_text() -> None:
    """T034, R-008: datetimes render as RFC 3339; text stays as it came; `date` can format them."""
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    issue = PromptIssue(
        id="1", identifier="i", title="t", state="T", created_at=moment, updated_at="2026-01-03T00:00:00Z"
    )
    body = "{{ issue.created_at }} {{ issue.updated_at }} {{ issue.created_at | date: '%Y/%m' }}"
    assert render(body, issue=issue) == "2026-01-02T03:04:05.000Z 2026-01-03T00:00:00Z 2026/01"


def test_text_that_is_not_unicode_is_mended() -> None:
    """Half a surrogate pair, which a board's JSON can hold, neither fails the rendering nor the writing of a prompt."""
    issue = PromptIssue(id="1", identifier="i", title="a\ud83d", state="T", labels=("\udc00",))
    assert render("{{ issue.title }} {{ issue.labels }}", issue=issue) == "a? ?"


def test_tasks_in_templates() -> None:
    """A build's template sees the task; lists print one a line."""
    body = "{{ task.id }} {{ task.key }} {{ task.title }} {{ task.section }} {{ task.change }}\n{{ task.steps }}\n{{ task.verification }}\n{{ task.body }}"
    assert render(body, task=TASK, issue=None) == (
        "1.2 add-login:1.2 Write the form Pages add-login\ndraw\nwire\nmake test\nmake lint\nUse the house style."
    )
    assert json.loads(render("{{ task }}", task=TASK))["steps"] == ["draw", "wire"]


def test_one_template_serves_both() -> None:
    """In a build, `issue` is filled from the task; in the service, `task` is null and can be asked for."""
    assert render("{{ issue.identifier }}: {{ issue.title }}\n{{ issue.description }}", task=TASK, issue=None) == (
        "add-login:1.2: Write the form\nUse the house style.\n\n- draw\n- wire"
    )
    assert render("{% if task %}task{% else %}issue{% endif %}") == "issue"
    assert issue_from_task(TASK).labels == ()


def test_failures_in_templates() -> None:
    """What was red is there on a retry and null before."""
    body = "{% if failure %}{{ failure.kind }} {{ failure.command }} {{ failure.note }}{% else %}fresh{% endif %}"
    assert render(body) == "fresh"
    assert render(body, failure=FAILURE) == "verification make test See line 3."


def test_foreign_text_cannot_close_its_fence() -> None:
    """Threat: output that holds a fence stays inside the longer one around it."""
    lines = render("{{ failure.output | fence }}", failure=FAILURE).splitlines()
    assert (lines[0], lines[-1]) == ("````", "````")
    assert "```" in lines[1:-1]


@given(st.text(), st.text())
def test_text_is_never_evaluated(title: str, description: str) -> None:
    """R-009b: whatever a tracker or a plan holds, it is printed as it is, once."""
    issue = PromptIssue(id="1", identifier="i", title=title, state="T", description=description, labels=(title,))
    shown = description if description.strip() else ""
    expected = f"<{title if title.strip() else ''}|{shown}|{title}>"
    assert render("<{{ issue.title }}|{{ issue.description }}|{{ issue.labels }}>", issue=issue) == expected


@given(
    st.sampled_from(["{{ issue.id }}", "{% if true %}x{% endif %}", "{% raw %}", "{{", "%}", "{% endif %}", "{# x #}"]),
    st.text(max_size=5),
)
def test_template_syntax_in_text_is_data(syntax: str, around: str) -> None:
    """R-009b: the same for text that looks like a template, in tasks too."""
    text = f"a{around}{syntax}{around}z"
    task = PromptTask(
        id="1", key="c:1", title=text, text=text, body=text, steps=(text,), section=text, change="c", verification=(text,)
    )  # fmt: skip
    assert render("{{ task.title }}{{ task.body }}{{ task.steps }}", task=task) == text * 3
    assert text in default_prompt().render(task=task, attempt=None)


@given(st.text(alphabet="{}%|.'\" abif-\n", max_size=60))
def test_any_template_renders_or_gives_a_policy_error(body: str) -> None:
    """R-011: a template fails its attempt, not the program."""
    error: PolicyError | None = None
    try:
        render(body)
    except PolicyError as caught:
        error = caught
    if error is not None:
        assert error.code in {"template_parse_error", "template_render_error"}
        assert error.where.startswith("WORKFLOW.md:1")


def test_default_prompt_for_a_task() -> None:
    """The task, its body, its steps, where to read, what will be run."""
    text = default_prompt().render(task=TASK, attempt=None)
    for part in (
        "Task 1.2: Write the form",
        "Use the house style.",
        "- draw\n- wire",
        "context files",
        "- `make test`\n- `make lint`",
    ):
        assert part in text
    assert "attempt" not in text
    assert "\n\n\n" not in text


def test_default_prompt_on_a_retry() -> None:
    """What was red, with its command and output."""
    text = default_prompt().render(task=TASK, attempt=2, failure=FAILURE)
    for part in (
        "This is attempt 2",
        "ended red: verification",
        "Command: `make test`",
        "E   assert 1 == 2",
        "See line 3.",
    ):
        assert part in text


def test_default_prompt_for_an_issue() -> None:
    """T035, R-010: identifier, title and body; a missing body is said."""
    assert default_prompt().render(task=None, attempt=None, issue=ISSUE) == (
        "# acme__shop-7: Prices are wrong\n\nThey are rounded down.\n\nLabels: bug, ai"
    )
    assert "No description provided." in default_prompt().render(task=None, attempt=1, issue=BARE)


def test_default_prompt_is_part_of_the_package() -> None:
    """It lies beside its module, so that a wheel holds it."""
    import baton_runner.workflow.prompt as module

    assert (Path(module.__file__).parent / "default_prompt.liquid").is_file()
