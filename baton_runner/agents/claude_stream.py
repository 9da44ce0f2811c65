"""What Claude Code prints in print mode (``--output-format stream-json``), read line by line.

Observed with 2.1.197. ``result.subtype`` is ``success`` with ``is_error: true`` for refused requests, so only
``is_error`` decides (K-34). Usage is per invocation; that of assistant messages repeats with the message id and is used
until a result says it all (K-18). Zero-turn results precede the real one after a resume (K-37). A rate limit event may
stand in the middle of another line (K-36).
"""

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from baton_runner.agents.events import EventName
from baton_runner.agents.usage import NO_USAGE, Meter, Usage, read_usage

__all__ = ["LOST_SESSION", "ClaudeStream", "Note"]

_REFUSING_STATUS = (429, 503, 529)
_LIMIT_TEXT = re.compile(r"(usage|rate) limit|hit your .*limit|limit reached|overloaded", re.IGNORECASE)
_LIMIT_EPOCH = re.compile(r"\|(\d{10,13})\b")
_OBJECT_START = re.compile(r'\{"type":\s?"')
_RESET_NAMES = ("resetsAt", "resets_at", "resetAt", "reset_at", "reset")
_QUESTION_TOOL = "AskUserQuestion"
LOST_SESSION = "No conversation found"
_MILLISECONDS = 1e11
_PREVIEW = 300


@dataclass(frozen=True)
class Note:
    """One thing a line says, ready to be sent as an event."""

    event: EventName
    payload: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    rate_limits: Mapping[str, Any] | None = None


class ClaudeStream:
    """The state of one invocation, made of the lines seen so far."""

    def __init__(self) -> None:
        self.agent_session_id = ""
        self.result: Mapping[str, Any] | None = None
        self.spoke = False
        self.last_text = ""
        self.denials: tuple[str, ...] = ()
        self.questions: tuple[str, ...] = ()
        self.rate_limits: Mapping[str, Any] | None = None
        self._meter = Meter()
        self._messages: dict[str, Usage] = {}
        self._fragment = ""
        self._settled = False

    @property
    def usage(self) -> Usage:
        """What this invocation spent, as far as it said."""
        return self._meter.spent

    @property
    def settled(self) -> bool:
        """Whether a result of real work is the last word: nothing was begun after it."""
        return self._settled

    @property
    def session_lost(self) -> bool:
        """Whether the session that should be resumed does not exist."""
        return any(LOST_SESSION in error for error in self._errors())

    @property
    def rate_limited(self) -> bool:
        """Whether the provider refused: too many requests, a used-up plan, or overload."""
        result = self.result
        if result is None or not result.get("is_error"):
            return False
        if result.get("api_error_status") in _REFUSING_STATUS:
            return True
        rejected = (self.rate_limits or {}).get("status") == "rejected"
        return rejected or (result.get("api_error_status") is None and bool(_LIMIT_TEXT.search(self.message)))

    @property
    def reset_at(self) -> dt.datetime | None:
        """When the provider will serve again, where it said so."""
        for name in _RESET_NAMES:
            moment = _moment((self.rate_limits or {}).get(name))
            if moment:
                return moment
        found = _LIMIT_EPOCH.search(self.message)
        return _moment(int(found.group(1))) if found else None

    @property
    def message(self) -> str:
        """The agent's last word: the result's text, its errors, or the last text it wrote."""
        result = self.result or {}
        text = result.get("result")
        if isinstance(text, str) and text.strip():
            return text
        subtype = result.get("subtype")
        reasons = list(self._errors()) or ([str(subtype)] if result.get("is_error") and subtype else [])
        return "; ".join(reasons) or self.last_text

    def feed(self, data: bytes, *, cut: bool = False) -> Iterator[Note]:
        """Read a line; a bad one is a note of its own and never the end of anything (R-115)."""
        text = data.decode("utf-8", "replace").strip()
        if not text:
            return
        if cut:
            yield Note(EventName.MALFORMED, {"message": f"a line of more than {len(data)} bytes"})
            return
        objects, rest = self._objects(text)
        for value in objects:
            self.spoke = True
            yield from self._read(value)
        if rest:
            yield Note(EventName.MALFORMED, {"message": rest[:_PREVIEW]})

    def _objects(self, text: str) -> tuple[list[dict[str, Any]], str]:
        """The objects of a line, usually one, and what cannot be read.

        A fragment is remembered: its other half may follow behind what was written into the middle of it.
        """
        fragment, self._fragment = self._fragment, ""
        found, rest = _decode(text)
        if rest and fragment:
            joined, left = _decode(fragment + text)
            if not left:
                return joined, ""
        if rest and not found:
            start = next((match.start() for match in _OBJECT_START.finditer(text) if match.start() > 0), None)
            inner, left = _decode(text[start:]) if start else ([], text)
            if start and inner and not left:
                self._fragment = text[:start]
                return inner, ""
            self._fragment = text
        return found, rest

    def _read(self, value: Mapping[str, Any]) -> Iterator[Note]:
        match value.get("type"):
            case "system":
                yield from self._system(value)
            case "assistant":
                self._settled = False
                yield from self._assistant(value)
            case "result":
                yield from self._result(value)
            case "rate_limit_event":
                info = value.get("rate_limit_info")
                self.rate_limits = info if isinstance(info, Mapping) else value
                yield Note(EventName.OTHER_MESSAGE, {"type": "rate_limit_event"}, rate_limits=self.rate_limits)
            case other:
                if other == "user":
                    self._settled = False
                yield Note(EventName.OTHER_MESSAGE, {"type": str(other)})

    def _system(self, value: Mapping[str, Any]) -> Iterator[Note]:
        subtype = str(value.get("subtype"))
        if subtype != "init":
            error = value.get("error")
            yield Note(EventName.OTHER_MESSAGE, {"type": subtype, **({"error": str(error)} if error else {})})
            return
        self._settled = False
        if not self.agent_session_id:  # a later init may bear another id: the first one is kept
            self.agent_session_id = str(value.get("session_id") or "")
            model, version = value.get("model"), value.get("claude_code_version")
            yield Note(EventName.SESSION_STARTED, {"model": model, "version": version})

    def _assistant(self, value: Mapping[str, Any]) -> Iterator[Note]:
        message = value.get("message")
        if not isinstance(message, Mapping):
            yield Note(EventName.MALFORMED, {"message": "an assistant line without a message"})
            return
        identity = str(message.get("id"))
        self._messages[identity] = self._messages.get(identity, NO_USAGE).highest(read_usage(message.get("usage")))
        grown: Usage | None = self._meter.see_total(sum(self._messages.values(), NO_USAGE))
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, Mapping):
                continue
            for note in self._block(block):
                yield Note(note.event, note.payload, usage=grown if grown != NO_USAGE else None)
                grown = None

    def _block(self, block: Mapping[str, Any]) -> Iterator[Note]:
        if block.get("type") == "text":
            self.last_text = str(block.get("text") or "")
            yield Note(EventName.NOTIFICATION, {"message": self.last_text[:_PREVIEW]})
        elif block.get("type") == "tool_use":
            given = block.get("input")
            if block.get("name") == _QUESTION_TOOL:
                self.questions += tuple(_questions(given))
            yield Note(EventName.TOOL_USE, {"tool": str(block.get("name")), "message": _summary(given)})

    def _result(self, value: Mapping[str, Any]) -> Iterator[Note]:
        if self.result is None or _is_real(value) or not _is_real(self.result):
            self.result = value
        self._settled = self._settled or _is_real(value)
        if not self.agent_session_id and not value.get("is_error"):
            self.agent_session_id = str(value.get("session_id") or "")
        grown = self._meter.see_total(read_usage(value.get("usage"), value.get("total_cost_usd")))
        if grown != NO_USAGE:
            yield Note(EventName.OTHER_MESSAGE, {"type": "result"}, usage=grown)
        denials = value.get("permission_denials")
        for denial in denials if isinstance(denials, list) else []:
            if isinstance(denial, Mapping):
                tool, wanted = str(denial.get("tool_name")), _summary(denial.get("tool_input"))
                self.denials += (f"{tool}: {wanted}" if wanted else tool,)
                yield Note(EventName.PERMISSION_DENIED, {"tool": tool, "message": wanted})

    def _errors(self) -> tuple[str, ...]:
        errors = (self.result or {}).get("errors")
        return tuple(str(error) for error in errors) if isinstance(errors, list) else ()


def _decode(text: str) -> tuple[list[dict[str, Any]], str]:
    """The JSON objects at the beginning of a text, and the rest from the first thing that is none."""
    decoder, found = json.JSONDecoder(), list[dict[str, Any]]()
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            break
        found.append(value)
        text = text[end:].lstrip()
    return found, text


def _is_real(result: Mapping[str, Any]) -> bool:
    """Whether a result speaks of work: it had turns, or it failed."""
    return bool(result.get("is_error")) or result.get("num_turns") != 0


def _summary(given: Any) -> str:
    """What a tool was asked to do, in a line."""
    if not isinstance(given, Mapping):
        return ""
    for name in ("command", "file_path", "path", "pattern", "url", "description"):
        if isinstance(given.get(name), str):
            return str(given[name])[:_PREVIEW]
    return json.dumps(given, ensure_ascii=False)[:_PREVIEW] if given else ""


def _questions(given: Any) -> Iterator[str]:
    asked = given.get("questions") if isinstance(given, Mapping) else None
    for question in asked if isinstance(asked, list) else []:
        if isinstance(question, Mapping) and isinstance(question.get("question"), str):
            yield question["question"]


def _moment(value: Any) -> dt.datetime | None:
    """A time from seconds or milliseconds since 1970, or from ISO 8601."""
    try:
        if isinstance(value, str) and not value.isdigit():
            moment = dt.datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
        if isinstance(value, bool) or value is None:
            return None
        seconds = float(value)
        return dt.datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, dt.UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
