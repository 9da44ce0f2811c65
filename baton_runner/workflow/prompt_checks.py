"""What the validator finds in a prompt: it renders it before anything starts, and scans what a rendering may not reach.

A template that fails on the first retry, at night, fails here instead: attempt null and 3, samples with every field
and with none (a condition hides a wrong name until a label or a blocker exists).
"""

import re
from collections.abc import Iterator

from baton_runner.base.errors import PolicyError
from baton_runner.workflow import samples
from baton_runner.workflow.agent_settings import Use
from baton_runner.workflow.findings import Finding, Severity
from baton_runner.workflow.nearest import nearest
from baton_runner.workflow.prompt import Prompt
from baton_runner.workflow.prompt_names import is_known, name_meant
from baton_runner.workflow.prompt_values import PromptIssue, PromptTask, known_paths

__all__ = ["prompt_findings"]

_ATTEMPTS = (None, 3)
_HOOK_VARIABLE = re.compile(r"\$\{?BATON_\w*")


def prompt_findings(prompt: Prompt, use: Use) -> tuple[Finding, ...]:
    """Errors of trial renderings, unknown filters and names anywhere, variables that only hooks have."""
    errors = tuple(dict.fromkeys(_rendering_errors(prompt, use)))
    if any(error.code == "template_parse_error" for error in errors):
        return (*errors, *_hook_variables(prompt))
    reported = {error.where for error in errors}
    scanned = (found for found in (*_filters(prompt), *_names(prompt)) if found.where not in reported)
    return (*errors, *scanned, *_hook_variables(prompt))


def _subjects(use: Use) -> tuple[tuple[PromptTask | None, PromptIssue | None], ...]:
    if use is Use.SERVICE:
        return ((None, samples.FULL_ISSUE), (None, samples.EMPTY_ISSUE))
    return (
        (samples.FULL_TASK, None),
        (samples.EMPTY_TASK, None),
        (samples.FULL_TASK, samples.FULL_ISSUE),
    )


def _rendering_errors(prompt: Prompt, use: Use) -> Iterator[Finding]:
    for task, issue in _subjects(use):
        for attempt in _ATTEMPTS:
            failure = samples.FAILURE if attempt else None
            try:
                prompt.render(task=task, attempt=attempt, failure=failure, issue=issue)
            except PolicyError as error:
                yield Finding(
                    severity=Severity.ERROR, where=error.where, what=error.what, todo=error.todo, code=error.code
                )


def _filters(prompt: Prompt) -> Iterator[Finding]:
    """Filters that do not exist, in branches that no trial took too."""
    from baton_runner.workflow import template

    known = template.filter_names()
    for name, line in template.used_filters(prompt.source).items():
        if name not in known:
            near = nearest(name, known)
            yield Finding(
                severity=Severity.ERROR,
                where=_at(prompt, line),
                what=f"there is no filter {name}",
                todo=f"did you mean {near}?" if near else "remove it",
                code="template_parse_error",
            )


def _names(prompt: Prompt) -> Iterator[Finding]:
    """Variables and fields that do not exist, in branches that no trial took too."""
    from baton_runner.workflow import template

    for path, line in template.used_names(prompt.source).items():
        if not is_known(path):
            meant = name_meant(path)
            yield Finding(
                severity=Severity.WARNING,
                where=_at(prompt, line),
                what=f"{path} is not defined",
                todo=f"did you mean {meant}?" if meant else f"known are {', '.join(known_paths())}",
                code="unknown_name",
            )


def _hook_variables(prompt: Prompt) -> Iterator[Finding]:
    found = _HOOK_VARIABLE.search(prompt.source)
    if found is not None:
        yield Finding(
            severity=Severity.WARNING,
            where=_at(prompt, prompt.source.count("\n", 0, found.start()) + 1),
            what=f"the prompt names {found[0]}, which only hooks have",
            todo="use template variables such as {{ issue.identifier }}",
            code="hook_variable_in_prompt",
        )


def _at(prompt: Prompt, line: int) -> str:
    """The place in the file of a line of the template, from 1."""
    return f"{prompt.where}:{prompt.first_line + line - 1}"
