"""Ending: how a program is ended that has something to take down.

What: a signal that asks the program to end raises Ended in it, so that every `with` and `finally` on the way out runs.
      Once one has come, and while things are taken down, the others are ignored, here and in the commands that run
      for it: a second Ctrl-C, or the hang-up after it, must not leave half of a lab behind.
Why:  a closed terminal, a CI that runs out of time and Ctrl-C all mean the same.
Not:  kill -9; what that leaves, the next run sweeps.
"""
import contextlib
import signal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Ended(KeyboardInterrupt):
    """As Ctrl-C is: what catches Exception lets it pass, and pytest takes its fixtures down. `code` is to exit with."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


def as_from_a_terminal():
    """For a child before it starts: signals end it, also where this run was started with some of them ignored (nohup, or
    in the background)."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


_postponed = None  # signals that came while they wait; None: they do not wait


def _ignore_all():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _came(number, _frame):
    if _postponed is not None:
        _postponed.append(number)
        return
    _ignore_all()
    raise Ended(number)


def install():
    """Before the first thing is made. Signals that were ignored (nohup) stay so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _came)


@contextlib.contextmanager
def postponed():
    """A step that leaves nothing half done: a thing is made, and noted down."""
    global _postponed
    if _postponed is not None:
        yield
        return
    _postponed = []
    try:
        yield
    finally:
        came, _postponed = _postponed, None
    if came:
        _came(came[0], None)


@contextlib.contextmanager
def ignored():
    """For taking down."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    _ignore_all()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
