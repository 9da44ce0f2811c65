"""The one validator: everything that is wrong or doubtful in a WORKFLOW.md, at once, before anything starts.

``baton lint`` and the service's ``--validate`` are both this function. Errors stop the work, warnings are said.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from baton_runner.base.errors import PolicyError
from baton_runner.workflow import preflight
from baton_runner.workflow.agent_settings import Use
from baton_runner.workflow.build_settings import HookSettings
from baton_runner.workflow.credentials import has_gh_login, with_tracker_token
from baton_runner.workflow.declaration import key_names
from baton_runner.workflow.findings import Finding, Severity
from baton_runner.workflow.policy import Loaded, read_policy
from baton_runner.workflow.prompt_checks import prompt_findings
from baton_runner.workflow.secret import Secret

__all__ = ["Use", "lint"]

_TOKENS = {"GITHUB_TOKEN", "GH_TOKEN"}
_BASH_RULE = re.compile(r"Bash(?:\(\s*(?P<program>[^\s:)*]*).*\))?\s*")


def lint(
    path: Path,
    *,
    environ: Mapping[str, str],
    folder: Path,
    use: Use,
    ask_token: Callable[[], Secret | None] = lambda: None,
    is_ignored: Callable[[Path], bool] = lambda _path: False,
) -> tuple[Finding, ...]:
    """All findings of a file, errors and warnings, each with its line; nothing is written or started.

    ``ask_token`` is asked where the board's token is in no variable (R-021: ``gh auth token``); ``is_ignored`` says
    whether git ignores a path of the repository.
    """
    try:
        loaded = read_policy(path, environ=environ, folder=folder)
    except PolicyError as error:
        found = Finding(severity=Severity.ERROR, where=error.where, what=error.what, todo=error.todo, code=error.code)
        return (found,)
    reading = loaded.reading
    if use is Use.SERVICE:
        preflight.check(with_tracker_token(loaded.policy.settings, ask_token), use, reading)
    else:
        preflight.check(loaded.policy.settings, use, reading)
    _warn_hooks(loaded)
    _warn_permissions(loaded, use)
    _warn_credentials(loaded, environ)
    _warn_labels(loaded)
    _warn_root(loaded, folder, is_ignored)
    return tuple(dict.fromkeys((*reading.findings, *prompt_findings(loaded.policy.prompt, use))))


def _warn_hooks(loaded: Loaded) -> None:
    """Hooks are shell, never templates: ``{{`` in one fails or makes an odd name."""
    for name in key_names(HookSettings):
        script = getattr(loaded.policy.settings.hooks, name)
        if isinstance(script, str) and "{{" in script:
            loaded.reading.warn(
                ("hooks", name),
                f"hooks.{name} contains {{{{, but hooks are not rendered",
                todo="use variables such as $BATON_ISSUE_IDENTIFIER",
                code="template_in_hook",
            )


def _warn_permissions(loaded: Loaded, use: Use) -> None:
    """``acceptEdits`` approves edits only: without a rule, git and gh are refused without a word."""
    settings = loaded.policy.settings
    runner = settings.claude_code
    if settings.agent.kind != "claude_code" or runner.permission_mode != "acceptEdits":
        return
    ruled = ("git", "gh") if use is Use.SERVICE else ("gh",)  # a build's adapter allows git by itself
    for program in ruled:
        if _uses(loaded, program) and not any(_allows(rule, program) for rule in runner.allowed_tools):
            loaded.reading.warn(
                ("claude_code", "allowed_tools"),
                f"the prompt uses {program}, but permission_mode acceptEdits refuses it",
                todo=f"add Bash({program}:*) to claude_code.allowed_tools",
                code="unallowed_program",
            )


def _warn_credentials(loaded: Loaded, environ: Mapping[str, str]) -> None:
    """A prompt that uses gh needs a login that reaches the agent (R-025c)."""
    agent = loaded.policy.settings.agent
    if not _uses(loaded, "gh") or agent.token is not None or has_gh_login(environ):
        return
    if any(name in _TOKENS and environ.get(name) for name in agent.env):
        return
    loaded.reading.warn(
        ("agent", "token"),
        "the prompt uses gh, but no credential would reach the agent",
        todo="set agent.token: $NAME, pass GH_TOKEN by agent.env, or run gh auth login",
        code="no_gh_credential",
    )


def _warn_labels(loaded: Loaded) -> None:
    """A blank required label is kept, and then no issue has it (R-054)."""
    if any(not label.strip() for label in loaded.policy.settings.tracker.required_labels):
        loaded.reading.warn(
            ("tracker", "required_labels"),
            "tracker.required_labels holds a blank label, so that no issue is ever eligible",
            todo="remove it",
            code="blank_label",
        )


def _warn_root(loaded: Loaded, folder: Path, is_ignored: Callable[[Path], bool]) -> None:
    """A workspace root inside the repository shows up as untracked files unless git ignores it."""
    root = loaded.policy.settings.workspace.root
    if root is None or not root.is_relative_to(folder.absolute()) or is_ignored(root):
        return
    loaded.reading.warn(
        ("workspace", "root"),
        "workspace.root lies in the repository and git does not ignore it",
        todo=f"add it to .gitignore, or choose a folder outside {folder.name}",
        code="root_not_ignored",
    )


def _uses(loaded: Loaded, program: str) -> bool:
    """Whether the prompt tells the agent to run a program: its name before a word, as in ``gh pr create``."""
    return any(_commands(loaded.policy.prompt.source, program))


def _commands(prompt: str, program: str) -> Iterator[str]:
    for found in re.finditer(rf"(?:^|[\s`(;&|$]){program} +([a-z][a-z-]+)", prompt, re.MULTILINE):
        if found[1] in _SUBCOMMANDS[program]:
            yield found[0]


def _allows(rule: str, program: str) -> bool:
    found = _BASH_RULE.fullmatch(rule.strip())
    return found is not None and found["program"] in {None, "", program}


_SUBCOMMANDS = {
    "git": frozenset({
        "add", "apply", "branch", "checkout", "cherry-pick", "clone", "commit", "diff", "fetch", "log", "merge", "mv",
        "pull", "push", "rebase", "remote", "reset", "restore", "rev-parse", "rm", "show", "stash", "status", "switch",
        "tag", "worktree",
    }),
    "gh": frozenset({
        "api", "auth", "issue", "label", "pr", "project", "release", "repo", "run", "search", "workflow",
    }),
}  # fmt: skip
