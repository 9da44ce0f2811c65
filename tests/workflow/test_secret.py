"""Secrets (R-162): held, compared, revealed on purpose, never shown."""

from baton_runner.workflow.secret import Secret


def test_a_secret_shows_only_that_it_is_one() -> None:
    """Printing, formatting and representing it, alone or inside others, hides the value."""
    secret = Secret("hunter2")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {secret!s:>20}"
    assert secret.reveal() == "hunter2"


def test_secrets_compare_by_value() -> None:
    """A reload sees whether a token changed."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
