"""Template errors help (R-009, the prompt failures L1..L8 of real files): line, name, nearest field, foreign syntaxes."""

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.prompt_names import name_meant
from tests.workflow.policies import TASK, render


def failing(body: str, *, attempt: int | None = None) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        render(body, attempt=attempt)
    return caught.value


@pytest.mark.parametrize(
    ("body", "what", "todo"),
    [
        ("{{ task.title }}", "task.title is not defined: task is null here", "use issue.title"),
        ("{{ task.name }}", "task.name is not defined: task is null here", "use issue.title"),
        ("{{ issue.summary }}", "issue.summary is not defined", "did you mean issue.title?"),
        ("{{ issue.titel }}", "issue.titel is not defined", "did you mean issue.title?"),
        ("{{ issue.blockedBy }}", "issue.blockedBy is not defined", "did you mean issue.blocked_by?"),
        ("{{ issue.project_item_id }}", "issue.project_item_id is not defined", "did you mean issue.item_id?"),
        ("{{ identifier }}", "identifier is not defined", "did you mean issue.identifier?"),
        ("{{ zzzz }}", "zzzz is not defined", "known are attempt, issue.id"),
        ("{{ failure.output }}", "failure.output is not defined: failure is null here", "{% if failure %}"),
        ("{% for b in issue.blocked_by %}{{ b.title }}{% endfor %}", "b.title is not defined", "id, identifier, state"),
        ("{{ loop.index }}", "loop is not defined: this is Jinja", "use forloop"),
        ("${{ secrets.X }}", "this is a GitHub expression", "{% raw %}"),
        ("{{ issue.blocked_by[9] }}", "index out of range", "size"),
    ],
)
def test_undefined_names(body: str, what: str, todo: str) -> None:
    """L1, L2, L4: the name as it was written, and what was probably meant."""
    error = failing(body)
    assert error.code == "template_render_error"
    assert what in error.what
    assert todo in error.todo
    assert error.where == "WORKFLOW.md:10"


def test_a_name_that_only_a_retry_reaches() -> None:
    """L3: it passes at null and fails at 3."""
    body = "{% if attempt %}{{ retry_error }}{% endif %}"
    assert render(body) == ""
    assert "did you mean failure.output?" in failing(body, attempt=3).todo


@pytest.mark.parametrize(
    ("body", "what", "todo"),
    [
        ("{{ .issue.title }}", "looks like Go template syntax", "without the leading dot"),
        ("docker ps --format '{{.Names}}'", "looks like Go template syntax", "{% raw %}"),
        ('{{ issue.description or "" }}', "looks like Jinja syntax", "default"),
        ("{{ issue.title if issue else '' }}", "looks like Jinja syntax", "default"),
        ("{% set x = 1 %}", "looks like Jinja syntax", "assign"),
        ("{% macro x() %}", "looks like Jinja syntax", "assign"),
        ("{% extends 'x' %}", "looks like Jinja syntax", "assign"),
        ("{{ issue.required }}", "the word is reserved", '["required"]'),
        ("{% if false %}{{ issue.for }}{% endif %}", "the word is reserved", '["for"]'),
        ("{% render 'p/x.liquid' %}", "other files cannot be included", "into the prompt"),
        ("{% include 'x' %}", "other files cannot be included", "into the prompt"),
        ("{% if issue.title %}", "a block if is never closed", "{% endif %}"),
        ("{% if a && b %}{% endif %}", "the syntax is wrong", "write and, or"),
        ("{{ issue.title", "the syntax is wrong", "raw"),
        ("{{}}", "the syntax is wrong", "raw"),
        ("{% endfor %}", "the syntax is wrong", "raw"),
    ],
)
def test_syntax_errors(body: str, what: str, todo: str) -> None:
    """L5..L8: a parse error that names the habit it comes from."""
    error = failing(body)
    assert error.code == "template_parse_error"
    assert what in error.what
    assert todo in error.todo
    assert error.where == "WORKFLOW.md:10"


@pytest.mark.parametrize(
    "body",
    [
        "one\ntwo\n{{ issue.titel }}\nfour",
        "one\n\n{{ .x }}",
        "one\n{% if true %}\n{% for x in issue.labels %}\n{% endif %}",
        "{% if true %}{% endif %}\n\n{% if issue.title %}\n{% if true %}{% endif %}\ntext",
        "one\ntwo\n{{ }}",
        "one\ntwo\n{{ issue.title | nope }}",
    ],
)
def test_errors_name_the_line_in_the_file(body: str) -> None:
    """The prompt starts on line 10; its third line is line 12 (an unclosed block is named where it opens)."""
    assert failing(body).where in {"WORKFLOW.md:12", "WORKFLOW.md:13"}


def test_filters_get_a_suggestion() -> None:
    """The nearest filter that exists."""
    assert failing("{{ issue.title | upcas }}").todo == "did you mean upcase?"
    assert failing("{{ issue.title | to_json }}").todo == "did you mean json?"


def test_wrong_arguments_are_render_errors() -> None:
    """Whatever else goes wrong while rendering has the same code."""
    assert failing("{{ issue.title | divided_by: 0 }}").code == "template_render_error"
    assert failing("{{ issue.title | slice }}").code == "template_render_error"


def test_no_field_of_ours_is_reserved() -> None:
    """L7: every field can be written with a dot."""
    for root, value in (("task", TASK), ("issue", None)):
        assert value is None or render(
            "".join(f"{{{{ {root}.{name} }}}}" for name in value.__dataclass_fields__), task=value
        )


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("issue.name", "issue.title"),
        ("issue.content", "issue.description"),
        ("task.titel", "task.title"),
        ("title", "issue.title"),
        ("steps", "task.steps"),
        ("attempts", "attempt"),
        ("issue.qqqq", None),
    ],
)
def test_names_meant(path: str, meant: str | None) -> None:
    """Synonyms first, then fields of the same root, then the nearest spelling."""
    assert name_meant(path) == meant
