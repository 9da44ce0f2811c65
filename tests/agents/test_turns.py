"""Stopping a session: from any thread, any number of times, and nothing is left when it returns."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.agents.command import CommandAgent
from baton_runner.agents.events import AgentEvent, EventName
from baton_runner.agents.protocol import Outcome, Session, SessionRequest, TurnResult
from baton_runner.base.processes import Cancel, processes_marked

Make = Callable[..., SessionRequest]


def turn_in_thread(session: Session) -> tuple[threading.Thread, list[TurnResult]]:
    results: list[TurnResult] = []
    thread = threading.Thread(target=lambda: results.append(session.run_turn("go", 1)))
    thread.start()
    return thread, results


def test_stop_returns_when_the_turn_is_over_and_its_processes_are_gone(assignment: Make) -> None:
    """K-16, T144: what comes after a stop must not race the dying agent."""
    begun = threading.Event()
    request = assignment(on_event=lambda event: begun.set() if event.event is EventName.OTHER_MESSAGE else None)
    session = CommandAgent("setsid sleep 1000 & echo up; sleep 1000").start_session(request)
    thread, results = turn_in_thread(session)
    assert begun.wait(60)
    session.stop()
    assert processes_marked(request.marker) == ()
    thread.join()
    assert [result.outcome for result in results] == [Outcome.CANCELLED]
    session.stop()


def test_a_stopped_session_starts_nothing(assignment: Make, worktree: Path) -> None:
    session = CommandAgent("touch ran").start_session(assignment())
    session.stop()
    session.stop()
    assert session.run_turn("go", 1).outcome is Outcome.CANCELLED
    assert not (worktree / "ran").exists()


def test_a_cancelled_request_starts_nothing(assignment: Make, worktree: Path) -> None:
    cancel = Cancel()
    cancel.set()
    session = CommandAgent("touch ran").start_session(assignment(cancel=cancel))
    assert session.run_turn("go", 1).outcome is Outcome.CANCELLED
    assert not (worktree / "ran").exists()


def test_stopping_one_session_leaves_the_requests_cancel_alone(assignment: Make) -> None:
    """The cancel belongs to who made it, and may serve several sessions."""
    request = assignment()
    CommandAgent("true").start_session(request).stop()
    assert not request.cancel.is_set


def test_whoever_receives_events_may_stop_the_session(assignment: Make) -> None:
    sessions: list[Session] = []

    def stop(event: AgentEvent) -> None:
        if event.event is EventName.OTHER_MESSAGE:
            sessions[0].stop()

    session = CommandAgent("echo up; sleep 1000").start_session(assignment(on_event=stop))
    sessions.append(session)
    assert session.run_turn("go", 1).outcome is Outcome.CANCELLED


def test_a_broken_receiver_of_events_leaves_no_process(assignment: Make) -> None:
    def broken(event: AgentEvent) -> None:
        if event.event is EventName.OTHER_MESSAGE:
            raise RuntimeError("sink")

    request = assignment(on_event=broken)
    session = CommandAgent("setsid sleep 1000 & echo up; sleep 1000").start_session(request)
    with pytest.raises(RuntimeError, match="sink"):
        session.run_turn("go", 1)
    assert processes_marked(request.marker) == ()
