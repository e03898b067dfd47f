"""The lines of JSON that describe a followed run. They can be sent through a pipe.

For example, the command `ssh host bpe-explorer follow run.bpex` prints these lines:

{"run": {"recipe": ..., "alphabet": ...}}           the run; a line before its first step, and again when it ends
{"step": 1, "left": 116, "right": 104, ...}         a step, in the same form as in an exported JSON table
{"leading": {"at": 1, "pairs": [[104, 101, 7, {}]]}} the leading pairs: left, right, count, other values
{"state": "training", "steps": 1, "age": 0.4, ...}  the state of the run, always after all new steps
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
from bpe_core.methods.kit.leading import LeadingPairs

NO_STEPS = b"]\n}\n"
BETWEEN = b",\n"


class StepLines:
    """A writer of the lines about a followed run. It remembers what it has written already."""

    def __init__(self) -> None:
        self._about = b""
        self._steps = 0
        self._place = 0
        self._leading: LeadingPairs | None = None

    def new_lines(self, run: FollowedRun) -> Iterator[bytes]:
        """Yield the lines that are new since the last call, and a line about the present state of the run."""
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
        if run.leading is not None and run.leading is not self._leading:
            self._leading = run.leading
            yield json.dumps({"leading": run.leading.as_values()}).encode() + b"\n"
        state: dict[str, object] = {
            "state": run.state,
            "steps": run.learned,
            "age": round(run.age, 3),
            "name": run.name,
            "texts": run.texts,
            "why": run.why,
            "is_written": run.is_written,
        }
        # A name of a file need not be UTF-8. The escapes of its other bytes are also escapes of JSON.
        yield json.dumps(state, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"


def _parts_of(history: History) -> tuple[bytes, list[bytes]]:
    """Return a history's JSON table in two parts: the table without its steps, and a list of the steps."""
    table = TABLES["json"]
    if reasons := table.impossible(history):
        raise FormatError(reasons[0])
    file = io.BytesIO()
    table.write(history, file)
    about, _, steps = file.getvalue().partition(OPENING)
    lines = steps.removesuffix(CLOSING).strip(b"\n").split(BETWEEN) if len(history) else []
    return about.removesuffix(b",") + b"}", lines


def history_of(about: dict[str, object], steps: list[bytes], name: str) -> History:
    """Build the history of a followed run from its lines. Raise FormatError if the lines contradict each other.

    `about` is the value of `run` in the run's first line, and `steps` are the lines of the steps. `name` is the name of
    the run in messages.
    """
    # The table gets the form in which this program writes it, because such a table is read in a moment.
    symbols = about.get("alphabet")
    others = {name: value for name, value in about.items() if name != "alphabet" or not isinstance(symbols, list)}
    head = json.dumps(others, ensure_ascii=False, indent=1).removesuffix("\n}").encode()
    if isinstance(symbols, list):
        lines = ",".join(f"\n  {json.dumps(symbol, ensure_ascii=False)}" for symbol in symbols)
        head += b',\n "alphabet": [' + lines.encode() + b"\n ]" if symbols else b',\n "alphabet": []'
    body = b"".join((BETWEEN[1:], b"  ", (BETWEEN + b"  ").join(steps), CLOSING)) if steps else NO_STEPS
    return TABLES["json"].read(head + b"," + OPENING + body, name)
