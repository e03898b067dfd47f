"""A driver of headless Chromium. It sends messages of the DevTools protocol over two pipes.

A zero byte ends each message.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 30_000  # milliseconds for a page to be ready
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), None)
needs_browser = pytest.mark.skipif(PROGRAM is None or os.name == "nt", reason="there is no Chromium here")


class Browser:
    """A page in a browser, with a list of the page's errors."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._waiting = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for name in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{name}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            received = os.read(self._from, 1 << 16)
            assert received, "the browser has ended"
            self._waiting += received
        message, _, self._waiting = self._waiting.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        return event

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(str(parameters["args"]))
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path: Path) -> None:
        self.call("Page.navigate", url=path.as_uri())
        ready = "document.documentElement?.dataset.ready === 'yes'"
        begun = "const begun = performance.now()"
        again = f"performance.now() > begun + {PATIENCE} ? done(false) : setTimeout(look, 5)"
        look = f"new Promise(done => {{ {begun}, look = () => {ready} ? done(true) : {again}; look(); }})"
        assert self.value(look), self.errors

    def value(self, expression: str) -> Any:
        """Return the value of a script in the page, converted through JSON.

        If the value is a promise, wait for its result.
        """
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            code = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "Tab": 9, "Enter": 13, " ": 32}[key]
            typed = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)

    def click(self, selector: str) -> None:
        self.value(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        box = f"document.querySelector({selector!r}).getBoundingClientRect()"
        x, y = self.value(f"(() => {{ const b = {box}; return [b.x + b.width / 2, b.y + b.height / 2] }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


@contextmanager
def browser(home: Path) -> Iterator[Browser]:
    """Start a browser that writes only into the folder `home`, and yield it.

    Close the browser at the end of the context.
    """
    assert PROGRAM is not None
    read_by_it, written = os.pipe()
    read, written_by_it = os.pipe()
    # The browser reads from 3 and writes to 4.
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    command = (
        f'exec 3<&{read_by_it} 4>&{written_by_it}; exec "$0" {options} --remote-debugging-pipe --user-data-dir="$1"'
    )
    process = subprocess.Popen(
        ["/bin/bash", "-c", command, PROGRAM, str(home)],
        pass_fds=(read_by_it, written_by_it),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_by_it)
    os.close(written_by_it)
    try:
        yield Browser(written, read)
    finally:
        os.close(written)
        os.close(read)
        process.terminate()
        process.wait(10)
