"""A server on this computer for a growing run. It sends the steps as lines of JSON to every program that connects to
its port.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from bpe_core.errors import OutputError
from bpe_core.following.followed_run import OVER, FollowedRun, FollowState
from bpe_core.following.step_lines import StepLines
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.methods.kit.leading import LeadingPairs

HOST = "127.0.0.1"  # no other computer can connect
SECONDS_BETWEEN_LINES = 0.2
TIMES_THE_LINES = 49  # pause after lines that took long to make, so that they take at most 2 % of the time
SECONDS_FOR_THE_END = 5.0  # how long the end of the program waits for a slow reader


class StepServer:
    """A server for one reader at a time. Each reader gets all steps, beginning with the first.

    The server runs in a separate thread. This is safe, because the thread only reads histories, which never change.
    """

    def __init__(self, port: int, name: str, texts: tuple[str, ...] = ()) -> None:
        self._name = name
        self._texts = texts
        self._newest = FollowedRun(name, "waiting", texts=texts, is_written=True)
        self._led = 0.0  # by the monotonic clock
        self._is_closed = threading.Event()
        try:
            self._socket = socket.create_server((HOST, port))
        except OSError as error:
            raise OutputError(f"Port {port} of this computer cannot be used: {error}. Choose another port.") from error
        self._thread = threading.Thread(target=self._serve, name="serves steps", daemon=True)
        self._thread.start()

    @property
    def wants_leading(self) -> bool:
        """Return whether `show` should get new leading pairs, because the previous ones are out of date."""
        return time.monotonic() - self._led >= SECONDS_BETWEEN_LINES

    def show(self, history: History, leading: LeadingPairs | None = None) -> None:
        """Store the history whose steps are sent to readers from now on.

        `leading` holds the most frequent pairs after the last step. If it is None, the previous pairs are kept.
        """
        if leading is not None:
            self._led = time.monotonic()
        state: FollowState = "ended" if history.end_reason else "training"
        sentence = END_SENTENCES[history.end_reason]
        self._newest = FollowedRun(
            self._name,
            state,
            history,
            why=sentence,
            texts=self._texts,
            is_written=True,
            leading=leading or self._newest.leading,
        )

    def close(self) -> None:
        """Send the last steps to the current reader, and stop the server."""
        self._is_closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for a reader
        self._socket.close()
        self._thread.join(SECONDS_FOR_THE_END)

    def _serve(self) -> None:
        while not self._is_closed.is_set():
            with contextlib.suppress(OSError):  # the reader has gone, or the server is being closed
                reader, _ = self._socket.accept()
                with reader:
                    reader.settimeout(SECONDS_FOR_THE_END)
                    self._send_all(reader)

    def _send_all(self, reader: socket.socket) -> None:
        lines = StepLines()
        while True:
            is_last = self._is_closed.is_set()  # asked first: the newest steps are sent after that
            newest = self._newest
            began = time.thread_time()
            for line in lines.new_lines(newest):
                reader.sendall(line)
            if is_last or newest.state in OVER:
                return
            self._is_closed.wait(max(SECONDS_BETWEEN_LINES, TIMES_THE_LINES * (time.thread_time() - began)))
