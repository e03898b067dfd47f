"""A followed run as lines of JSON, which go through a pipe: `ssh host bpe-explorer follow run.bpex`.

{"run": {"recipe": ..., "alphabet": ...}}           what the steps belong to; again when it changes
{"step": 1, "left": 116, "right": 104, ...}         a step, as in a table in JSON
{"state": "training", "steps": 1, "age": 0.4, ...}  the state; it follows the steps of each look
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

from bpe_core.errors import FormatError
from bpe_core.following.followed_run import FollowedRun
from bpe_core.formats import TABLES
from bpe_core.formats.text_tables import CLOSING, OPENING
from bpe_core.history.history import History

NO_STEPS = b"]\n}\n"
BETWEEN = b",\n"


class StepLines:
    """A writer of the lines. It remembers which lines it has written already."""

    def __init__(self) -> None:
        self._about = b""
        self._steps = 0
        self._place = 0

    def new_lines(self, run: FollowedRun) -> Iterator[bytes]:
        """Yield the lines about what is new in a run, and a line about its state."""
        if run.place != self._place:
            self._place, self._about, self._steps = run.place, b"", 0
        if run.history is not None and (len(run.history) > self._steps or not self._about or run.state == "ended"):
            about, steps = _parts_of(run.history)
            if about != self._about:
                self._about = about
                yield b'{"run": ' + json.dumps(json.loads(about), ensure_ascii=False).encode() + b"}\n"
            for step in steps[self._steps :]:
                yield step.strip() + b"\n"
            self._steps = len(steps)
        state: dict[str, object] = {
            "state": run.state,
            "steps": run.learned,
            "age": round(run.age, 3),
            "name": run.name,
            "texts": run.texts,
            "why": run.why,
            "is_written": run.is_written,
        }
        yield json.dumps(state, ensure_ascii=False).encode() + b"\n"


def _parts_of(history: History) -> tuple[bytes, list[bytes]]:
    """Return a history as the table in JSON without its steps, and its steps."""
    table = TABLES["json"]
    if reasons := table.impossible(history):
        raise FormatError(reasons[0])
    file = io.BytesIO()
    table.write(history, file)
    about, _, steps = file.getvalue().partition(OPENING)
    lines = steps.removesuffix(CLOSING).strip(b"\n").split(BETWEEN) if len(history) else []
    return about.removesuffix(b",") + b"}", lines


def history_of(about: dict[str, object], steps: list[bytes], name: str) -> History:
    """Return the history that the lines describe. Raise FormatError if they do not fit together."""
    head = json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}").encode()
    body = b"".join((BETWEEN[1:], b"  ", (BETWEEN + b"  ").join(steps), CLOSING)) if steps else NO_STEPS
    return TABLES["json"].read(head + b"," + OPENING + body, name)
