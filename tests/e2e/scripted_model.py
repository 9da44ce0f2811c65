"""A scripted model on the loopback interface: it speaks as much of the Messages API as the program asks for."""

import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """The model answers with text."""

    text: str


@dataclass(frozen=True)
class Use:
    """The model asks for a tool."""

    tool: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Refuse:
    """The provider answers with an error, now and ever after."""

    status: int


Answer = Say | Use | Refuse


@dataclass
class Model:
    """A scripted model: its answers, and the conversations it was sent."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: dict[str, Any]) -> Answer:
        """The next answer of the script; requests without tools are side questions (titles) and get any text."""
        if not request.get("tools"):
            return Say("a title")
        with self.lock:
            self.asked.append(request)
            if not self.answers:
                return Say("I have nothing more to say.")
            return self.answers[0] if isinstance(self.answers[0], Refuse) else self.answers.pop(0)


class Handler(BaseHTTPRequestHandler):
    """The Messages API, as far as the program uses it."""

    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class says so
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(404, b"{}", "application/json")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.path.startswith("/v1/messages"):
            self._send(404, b"{}", "application/json")
        elif "count_tokens" in self.path:
            self._send(200, b'{"input_tokens": 1}', "application/json")
        else:
            self._answer(self.model.answer(request))

    def _answer(self, answer: Answer) -> None:
        if isinstance(answer, Refuse):
            kind = {401: "authentication_error", 429: "rate_limit_error"}.get(answer.status, "api_error")
            error = {"type": "error", "error": {"type": kind, "message": "refused by the script"}}
            self._send(answer.status, json.dumps(error).encode(), "application/json")
            return
        self._send(200, b"".join(_events(answer)), "text/event-stream")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _events(answer: Say | Use) -> Iterator[bytes]:
    message: dict[str, Any] = {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 1},
    }
    block: dict[str, Any]
    delta: dict[str, Any]
    if isinstance(answer, Say):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": answer.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.given)}
    reason = "end_turn" if isinstance(answer, Say) else "tool_use"
    yield _event({"type": "message_start", "message": message})
    yield _event({"type": "content_block_start", "index": 0, "content_block": block})
    yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _event({"type": "content_block_stop", "index": 0})
    stop = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 17},
    }
    yield _event(stop)
    yield _event({"type": "message_stop"})


def _event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


@contextmanager
def serving() -> Iterator[Model]:
    """A model that answers under its ``url``."""
    script = Model()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (Handler,), {"model": script}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
