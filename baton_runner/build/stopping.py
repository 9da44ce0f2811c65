"""SIGINT and SIGTERM as an orderly stop: nothing new starts, what runs is ended and kept, and the run says so."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from baton_runner.base.cancel import Cancel

__all__ = ["stop_on_signals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def stop_on_signals(cancel: Cancel) -> Iterator[None]:
    """While this lasts, a signal to end asks ``cancel`` instead. Outside the main thread nothing can be changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        cancel.set()

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup: the user asked that a hang-up be ignored
            signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
