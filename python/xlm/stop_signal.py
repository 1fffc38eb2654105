"""SIGTERM as a request to stop, which a training loop asks for between two steps."""
from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any, Optional


class StopSignal:
    """Remembers SIGTERM from the first question on. Before that the signal ends the program, as it always does.

    So a program that never asks is ended at once. A handler that was installed earlier is called too. Processes that are
    forked later (those of a data loader) end by SIGTERM as if there were no handler.
    """

    def __init__(self) -> None:
        self._received = False
        self._watching = 0  # the process that watches
        self._earlier: Any = None

    def received(self) -> bool:
        """Whether SIGTERM came. Only the main thread can begin to watch for it; until it has asked, others hear no."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        if self._watching != os.getpid() and in_main_thread:
            self._watch()
        return self._received

    def _watch(self) -> None:
        earlier = signal.getsignal(signal.SIGTERM)
        if getattr(earlier, "__self__", None) is not self:
            self._earlier = earlier
        self._watching = os.getpid()
        signal.signal(signal.SIGTERM, self._receive)

    def _receive(self, number: int, frame: Optional[FrameType]) -> None:
        if self._watching != os.getpid():  # a forked process, which did not begin to watch
            signal.signal(signal.SIGTERM, self._earlier if self._earlier is not None else signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self._received = True
        if callable(self._earlier):
            self._earlier(number, frame)


STOP = StopSignal()
