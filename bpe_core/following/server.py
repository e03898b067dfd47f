"""A server of a growing run on this computer: whoever connects to its port gets the steps as lines of JSON."""

from __future__ import annotations

import contextlib
import socket
import threading

from bpe_core.errors import OutputError
from bpe_core.following.followed_run import OVER, FollowedRun, FollowState
from bpe_core.following.step_lines import StepLines
from bpe_core.history.history import END_SENTENCES, History

HOST = "127.0.0.1"  # no other computer can connect
SECONDS_BETWEEN_LINES = 0.5
SECONDS_FOR_THE_END = 5.0  # how long the end of the program waits for a slow reader


class StepServer:
    """A server for one reader at a time. Each reader gets all steps from the first one on.

    Its thread only reads the newest history, which never changes.
    """

    def __init__(self, port: int, name: str, texts: tuple[str, ...] = ()) -> None:
        self._name = name
        self._texts = texts
        self._newest = FollowedRun(name, "waiting", texts=texts, is_written=True)
        self._is_closed = threading.Event()
        try:
            self._socket = socket.create_server((HOST, port))
        except OSError as error:
            raise OutputError(f"Port {port} of this computer cannot be used: {error}. Choose another port.") from error
        self._thread = threading.Thread(target=self._serve, name="serves steps", daemon=True)
        self._thread.start()

    def show(self, history: History) -> None:
        """Let the reader see these steps from now on."""
        state: FollowState = "ended" if history.end_reason else "training"
        sentence = END_SENTENCES[history.end_reason]
        self._newest = FollowedRun(self._name, state, history, why=sentence, texts=self._texts, is_written=True)

    def close(self) -> None:
        """Send the last steps to the present reader, and end the server."""
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
            for line in lines.new_lines(newest):
                reader.sendall(line)
            if is_last or newest.state in OVER:
                return
            self._is_closed.wait(SECONDS_BETWEEN_LINES)
