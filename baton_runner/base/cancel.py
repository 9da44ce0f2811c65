"""A request to stop that any thread, or a signal handler, may make and that wakes whoever waits for it.

Once set it stays set. Setting takes no lock that a waiter could hold, so a signal handler cannot deadlock on it.
"""

import itertools
import queue
import threading
from collections.abc import Callable

__all__ = ["Cancel"]


class Cancel:
    """Asked or not asked to stop; one object for one piece of work."""

    def __init__(self) -> None:
        self._asked = False
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._subscribers: dict[int, Callable[[], None]] = {}

    @property
    def is_set(self) -> bool:
        """Whether somebody asked to stop."""
        return self._asked

    def set(self) -> None:
        """Ask to stop: every subscriber is called, once."""
        with self._lock:
            self._asked = True
            subscribers, self._subscribers = list(self._subscribers.values()), {}
        for call in subscribers:
            call()

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have ``call`` called when somebody asks to stop, at once if that happened already; returns the way out.

        The call comes from the asking thread and must neither block nor raise.
        """
        with self._lock:
            number = next(self._numbers)
            if not self._asked:
                self._subscribers[number] = call
                return lambda: self._forget(number)
        call()
        return lambda: None

    def wait(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for the request; say whether it was made."""
        calls: queue.SimpleQueue[None] = (
            queue.SimpleQueue()
        )  # its put is safe inside a signal handler, an Event's is not
        leave = self.subscribe(lambda: calls.put(None))
        try:
            calls.get(timeout=max(timeout, 0))
        except queue.Empty:
            pass
        finally:
            leave()
        return self._asked

    def _forget(self, number: int) -> None:
        with self._lock:
            self._subscribers.pop(number, None)
