"""The prompt of an attempt: the body of WORKFLOW.md (or the default beside this module), rendered strictly.

Promises: a variable, field or filter that does not exist is an error with its line and what was probably meant, never
an empty text; text of plans and trackers is data and never evaluated; the engine is imported by the first rendering.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from baton_runner.workflow.continuation import continuation

if TYPE_CHECKING:
    from baton_runner.workflow.prompt_values import PromptFailure, PromptIssue, PromptTask

__all__ = ["Prompt", "continuation", "default_prompt"]

_DEFAULT = Path(__file__).with_name("default_prompt.liquid")


@dataclass(frozen=True)
class Prompt:
    """A prompt template, the file it stands in and the line it starts on there."""

    source: str
    where: str
    first_line: int = 1

    def render(
        self,
        *,
        task: "PromptTask | None",
        attempt: int | None,
        failure: "PromptFailure | None" = None,
        issue: "PromptIssue | None" = None,
    ) -> str:
        """The prompt of one attempt, without surrounding blanks.

        ``attempt`` is None on the first try and counts from 1 after it; without ``issue`` it is filled from the task.
        Raises PolicyError ``template_parse_error`` or ``template_render_error`` (R-009).
        """
        from baton_runner.workflow import template, template_errors
        from baton_runner.workflow.prompt_values import template_values

        values = template_values(task=task, attempt=attempt, failure=failure, issue=issue)
        try:
            return template.render(self.source, values).strip()
        except Exception as error:  # whatever a template does, it fails its attempt and not the program
            raise template_errors.explain(error, self, values) from error


def default_prompt() -> Prompt:
    """The prompt of a policy that states none (R-010)."""
    return Prompt(_DEFAULT.read_text(encoding="utf-8").strip(), _DEFAULT.name)
