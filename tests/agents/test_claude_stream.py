"""What Claude Code prints: recordings of the real program, and what trackers report of it."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.agents.claude_stream import ClaudeStream, Note
from baton_runner.agents.events import EventName
from baton_runner.agents.usage import NO_USAGE, Usage


def feed(stream: ClaudeStream, *lines: Any) -> list[Note]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return [note for text in texts for note in stream.feed(text.encode())]


def replay(file: Path) -> tuple[ClaudeStream, list[Note]]:
    stream = ClaudeStream()
    return stream, feed(stream, *file.read_text().splitlines())


def names(notes: list[Note]) -> list[str]:
    return [note.event.value for note in notes]


def settled_by(stream: ClaudeStream, *lines: Any) -> bool:
    feed(stream, *lines)
    return stream.settled


RESULT = {"type": "result", "is_error": False, "num_turns": 2, "result": "done", "session_id": "s"}
TEXT = {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "hello"}]}}
LIMIT = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1_800_000_000}}


class TestRecordings:
    def test_success(self, recordings: Path) -> None:
        """T126: the session, what it says, its tools, and its usage, counted once though it repeats."""
        stream, notes = replay(recordings / "success.jsonl")
        assert names(notes)[:3] == ["session_started", "notification", "tool_use"]
        assert stream.agent_session_id == "3a947bdb-27fd-4561-a718-7bef977fbaac"
        assert notes[0].payload == {"model": "claude-opus-4-8[1m]", "version": "2.1.197"}
        assert stream.settled
        assert stream.message == "All done."
        assert stream.usage == Usage(360, 51, 411, stream.usage.cost_usd)
        assert stream.usage.cost_usd == pytest.approx(0.0037125)
        assert sum((note.usage for note in notes if note.usage), NO_USAGE) == stream.usage
        assert "malformed" not in names(notes)

    def test_resume_keeps_the_session(self, recordings: Path) -> None:
        stream, _ = replay(recordings / "resume.jsonl")
        assert stream.agent_session_id == "3a947bdb-27fd-4561-a718-7bef977fbaac"
        assert stream.usage.input_tokens == 600

    def test_partial_messages_add_nothing(self, recordings: Path) -> None:
        stream, notes = replay(recordings / "partial.jsonl")
        assert stream.settled
        assert stream.usage == sum((note.usage for note in notes if note.usage), NO_USAGE)
        assert "malformed" not in names(notes)

    def test_a_refused_key_is_an_error_though_the_subtype_says_success(self, recordings: Path) -> None:
        """K-34."""
        stream, _ = replay(recordings / "auth401.jsonl")
        assert stream.result is not None
        assert (stream.result["subtype"], stream.result["is_error"]) == ("success", True)
        assert not stream.rate_limited
        assert stream.message == "Invalid API key · Fix external API key"

    @pytest.mark.parametrize("name", ["rate429", "overload529"])
    def test_a_refusing_provider(self, recordings: Path, name: str) -> None:
        stream, _ = replay(recordings / f"{name}.jsonl")
        assert stream.rate_limited
        assert stream.reset_at is None

    def test_the_turn_limit_of_the_program(self, recordings: Path) -> None:
        stream, _ = replay(recordings / "max_turns.jsonl")
        assert stream.result is not None
        assert stream.result["is_error"]
        assert not stream.rate_limited
        assert "maximum number of turns" in stream.message or stream.message == "error_max_turns"

    def test_a_denied_tool_is_named(self, recordings: Path) -> None:
        """T134, field report 23."""
        stream, notes = replay(recordings / "permission_denied.jsonl")
        assert stream.denials == ("Bash: curl http://127.0.0.1:9/x",)
        denied = [note for note in notes if note.event is EventName.PERMISSION_DENIED]
        assert [note.payload["tool"] for note in denied] == ["Bash"]
        assert stream.settled

    def test_a_question_to_nobody_is_kept(self, recordings: Path) -> None:
        """K-12: it is never answered, and never lost."""
        stream, _ = replay(recordings / "ask_user.jsonl")
        assert stream.questions == ("Which one?",)
        assert stream.settled

    def test_a_lost_session(self, recordings: Path) -> None:
        stream, _ = replay(recordings / "resume_missing.jsonl")
        assert stream.session_lost
        assert stream.message.startswith("No conversation found")

    def test_every_line_of_every_recording_is_understood(self, recordings: Path) -> None:
        files = sorted(recordings.glob("*.jsonl"))
        assert len(files) == 11
        for file in files:
            _, notes = replay(file)
            assert "malformed" not in names(notes), file.name


class TestBadLines:
    @pytest.mark.parametrize("line", ["null", "[]", "42", '"text"', "Error: no", "{", '{"type":', "�"])
    def test_a_bad_line_is_reported_and_ends_nothing(self, line: str) -> None:
        """T135, R-115."""
        stream = ClaudeStream()
        notes = feed(stream, line, RESULT)
        assert names(notes)[0] == "malformed"
        assert stream.settled

    def test_empty_lines_say_nothing(self) -> None:
        assert feed(ClaudeStream(), "", "   ", "\r") == []

    def test_two_objects_in_a_line(self) -> None:
        stream = ClaudeStream()
        notes = feed(stream, json.dumps(TEXT) + json.dumps(RESULT))
        assert stream.settled
        assert "malformed" not in names(notes)

    def test_a_line_that_was_cut_for_its_length(self) -> None:
        stream = ClaudeStream()
        assert names(list(stream.feed(b"x" * 100, cut=True))) == ["malformed"]

    def test_a_limit_event_in_the_middle_of_a_line_loses_neither(self) -> None:
        """K-36: the outer line is put together again."""
        stream = ClaudeStream()
        whole = json.dumps(RESULT)
        notes = feed(stream, whole[:40] + json.dumps(LIMIT), whole[40:])
        assert stream.settled
        assert stream.rate_limits == LIMIT["rate_limit_info"]
        assert "malformed" not in names(notes)

    @given(st.integers(1, len(json.dumps(RESULT)) - 1))
    def test_wherever_the_limit_event_cuts(self, at: int) -> None:
        stream = ClaudeStream()
        whole = json.dumps(RESULT)
        feed(stream, whole[:at] + json.dumps(LIMIT), whole[at:])
        assert stream.settled
        assert stream.message == "done"
        assert stream.rate_limits == LIMIT["rate_limit_info"]

    @given(st.lists(st.binary(max_size=200), max_size=10))
    def test_no_bytes_whatever_raise(self, lines: list[bytes]) -> None:
        stream = ClaudeStream()
        for line in lines:
            list(stream.feed(line))
        assert stream.result is None or isinstance(stream.result, dict)

    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "message", "content", "id", "usage", "is_error", "errors", "session_id", "text"]
                ),
                inner
                | st.sampled_from(["assistant", "result", "system", "init", "tool_use", "text", "rate_limit_event"]),
                max_size=5,
            )
        ),
        max_leaves=12,
    )

    @given(st.lists(json_values, max_size=6))
    def test_no_shape_whatever_raises(self, values: list[Any]) -> None:
        """A new version may say anything."""
        stream = ClaudeStream()
        feed(stream, *values)
        assert isinstance(stream.message, str)
        assert isinstance(stream.rate_limited, bool)
        assert stream.reset_at is None or stream.reset_at.tzinfo


class TestResults:
    def test_a_zero_turn_result_is_not_the_end(self) -> None:
        """K-37: after a resume, old background tasks print results of no turns before the work begins."""
        stream = ClaudeStream()
        assert settled_by(stream, {**RESULT, "num_turns": 0, "result": ""}) is False
        assert settled_by(stream, RESULT) is True
        assert stream.message == "done"

    def test_a_zero_turn_result_after_the_real_one_takes_nothing_away(self) -> None:
        stream = ClaudeStream()
        feed(stream, RESULT, {**RESULT, "num_turns": 0, "result": ""})
        assert stream.settled
        assert stream.message == "done"

    def test_work_that_begins_after_a_result_unsettles_it(self) -> None:
        stream = ClaudeStream()
        assert settled_by(stream, RESULT, TEXT) is False
        assert settled_by(stream, {**RESULT, "result": "really done"}) is True
        assert stream.message == "really done"

    def test_usage_is_known_without_a_result(self) -> None:
        """K-18: a message's usage repeats with its id and grows; it is counted once, at its highest."""
        stream = ClaudeStream()
        for output in (1, 5):
            feed(
                stream,
                {"type": "assistant", "message": {"id": "a", "usage": {"input_tokens": 10, "output_tokens": output}}},
            )
        feed(stream, {"type": "assistant", "message": {"id": "b", "usage": {"input_tokens": 20, "output_tokens": 1}}})
        assert stream.usage == Usage(30, 6, 36)

    def test_the_results_usage_is_not_added_to_the_live_figures(self) -> None:
        """R-142."""
        stream = ClaudeStream()
        feed(stream, {"type": "assistant", "message": {"id": "a", "usage": {"input_tokens": 10, "output_tokens": 1}}})
        feed(stream, {**RESULT, "usage": {"input_tokens": 10, "output_tokens": 9}, "total_cost_usd": 0.5})
        assert stream.usage == Usage(10, 9, 19, 0.5)

    def test_another_id_later_changes_nothing(self) -> None:
        stream = ClaudeStream()
        notes = feed(
            stream,
            {"type": "system", "subtype": "init", "session_id": "first"},
            {"type": "system", "subtype": "init", "session_id": "second"},
        )
        assert stream.agent_session_id == "first"
        assert names(notes) == ["session_started"]


class TestLimits:
    @pytest.mark.parametrize(
        ("info", "text", "expected"),
        [
            ({"status": "rejected", "resetsAt": 1_800_000_000}, "no more", 1_800_000_000),
            ({"status": "rejected", "resets_at": "2027-01-15T08:00:00+00:00"}, "no more", 1_800_000_000),
            ({"status": "rejected", "reset_at": 1_800_000_000_000}, "no more", 1_800_000_000),
            (None, "Claude AI usage limit reached|1800000000", 1_800_000_000),
            (None, "You've hit your weekly limit", None),
        ],
    )
    def test_when_the_provider_serves_again(self, info: Any, text: str, expected: int | None) -> None:
        """Field report 30."""
        stream = ClaudeStream()
        if info:
            feed(stream, {"type": "rate_limit_event", "rate_limit_info": info})
        feed(stream, {**RESULT, "is_error": True, "result": text})
        assert stream.rate_limited
        assert stream.reset_at == (dt.datetime.fromtimestamp(expected, dt.UTC) if expected else None)

    def test_a_limit_that_is_only_announced_refuses_nothing(self) -> None:
        """T133: the stream goes on, and the payload is passed on."""
        stream = ClaudeStream()
        notes = feed(stream, LIMIT, RESULT)
        assert notes[0].rate_limits == LIMIT["rate_limit_info"]
        assert not stream.rate_limited
        assert stream.settled

    def test_an_error_that_talks_about_limits_with_another_status_is_no_limit(self) -> None:
        stream = ClaudeStream()
        feed(stream, {**RESULT, "is_error": True, "api_error_status": 400, "result": "context limit reached"})
        assert not stream.rate_limited
