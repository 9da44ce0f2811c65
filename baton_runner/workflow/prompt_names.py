"""The names a template may use, and which of them was probably meant by one that does not exist."""

from baton_runner.workflow.nearest import nearest
from baton_runner.workflow.prompt_values import known_paths

__all__ = ["is_known", "name_meant", "synonym_of"]

_SYNONYMS = {
    "body": "description",
    "content": "description",
    "key": "identifier",
    "name": "title",
    "project_item_id": "item_id",
    "repo": "repository",
    "status": "state",
    "summary": "title",
    "retry_error": "failure.output",
    "error": "failure.output",
    "attempts": "attempt",
}
"""What people write for a field of ours."""
_ROOTS = frozenset({"task", "issue", "failure"})


def is_known(path: str) -> bool:
    """Whether a template may print a dotted path; below a field everything is left to the rendering."""
    return path in _ROOTS or ".".join(path.split(".")[:2]) in known_paths() or path.partition(".")[0] == "attempt"


def synonym_of(leaf: str) -> str:
    """Our name of a field that people know by another; the name itself where it is ours."""
    return _SYNONYMS.get(leaf, leaf)


def name_meant(path: str) -> str | None:
    """The known name nearest to one that does not exist."""
    root, _, rest = path.partition(".")
    known = known_paths()
    leaf = rest.rpartition(".")[2] or root
    synonym = synonym_of(leaf)
    candidates = (synonym, f"{root}.{synonym}", f"issue.{synonym}", f"issue.{leaf}", f"task.{leaf}")
    exact = next((candidate for candidate in candidates if candidate in known), None)
    if exact is not None:
        return exact
    siblings = [name for name in known if name.startswith(f"{root}.")] if rest else []
    fields = {name.rpartition(".")[2]: name for name in reversed(siblings or known)}
    near = nearest(leaf, fields)
    return fields[near] if near else None
