"""A request to stop: made once, heard by all, safe from a signal handler."""

import signal
import threading

from baton_runner.base.cancel import Cancel


def test_every_subscriber_hears_it_once_and_latecomers_at_once() -> None:
    cancel, heard = Cancel(), list[str]()
    cancel.subscribe(lambda: heard.append("early"))
    leave = cancel.subscribe(lambda: heard.append("left"))
    leave()
    cancel.set()
    cancel.set()
    cancel.subscribe(lambda: heard.append("late"))
    assert (cancel.is_set, heard) == (True, ["early", "late"])


def test_waiting_ends_with_the_request_or_the_time() -> None:
    cancel = Cancel()
    assert cancel.wait(0.01) is False
    thread = threading.Thread(target=cancel.set)
    thread.start()
    assert cancel.wait(60) is True
    thread.join()


def test_a_signal_handler_may_ask_while_its_thread_waits() -> None:
    """An orderly stop on SIGTERM: the handler runs on top of the very wait that it ends."""
    cancel = Cancel()
    before = signal.signal(signal.SIGUSR1, lambda *_: cancel.set())
    timer = threading.Timer(0.05, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1))
    try:
        timer.start()
        assert cancel.wait(60) is True
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
