"""Did you mean."""

from baton_runner.workflow.nearest import nearest


def test_nearest() -> None:
    """The most alike name, whatever its case and dashes; nothing when nothing is alike."""
    known = ("max_turns", "max_attempts", "kind")
    assert nearest("maxTurns", known) == "max_turns"
    assert nearest("max-atempts", known) == "max_attempts"
    assert nearest("kin", known) == "kind"
    assert nearest("zzz", known) is None
    assert nearest("x", ()) is None
