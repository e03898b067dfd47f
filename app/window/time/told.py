"""What a moment is told as: the step that leads to it, token by token."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.run import Run
from bpe_core import History
from bpe_core.token_texts import TokenTexts

NO_RUN = "Your text, which is not part of the corpus"
AT_FIRST = "Nothing is {done} yet: these are the tokens at first"
LONGEST_COLOURED = 1_000  # bytes; the colour of a longer one is that of its beginning
LONGEST = 24  # characters of a token; the others are left out in the middle


@dataclass(frozen=True)
class Chip:
    """A token as it is shown, and the bytes it covers of a text, which give it its colour."""

    text: str
    id: int
    data: bytes

    @classmethod
    def of(cls, history: History, names: TokenTexts, id: int) -> Chip:
        text = names.text[id]
        shown = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 + 1 :]}"
        if names.lengths[id] > LONGEST_COLOURED:
            return cls(shown, id, names.raw[id])
        symbols = history.alphabet.symbols
        return cls(shown, id, b"".join(symbols[symbol].decoded for symbol in history.symbols_of(id)))


@dataclass(frozen=True)
class Told:
    """What is said of a moment: words before and after, and in between the tokens that became others."""

    before: str
    parts: tuple[Chip, ...] = ()
    becomes: Chip | None = None
    after: str = ""

    @property
    def sentence(self) -> str:
        """The same in words alone."""
        arrow = f" → {self.becomes.text}" if self.becomes else ""
        return " ".join(filter(None, (self.before, " + ".join(part.text for part in self.parts) + arrow, self.after)))


def told_of(run: Run | None, position: int) -> Told:
    """What the step did that leads to this moment."""
    if run is None or run.history is None or run.names is None:
        return Told(NO_RUN)
    if position == 0 or position > min(len(run.history), len(run.names.text)):
        return Told(AT_FIRST.format(done=run.wording.done))
    history, names = run.history, run.names
    step = history[position - 1]
    joins = step.right >= 0
    parts = tuple(Chip.of(history, names, id) for id in (step.left, step.right) if id >= 0)
    count = f"{step.count:,}×" if step.count >= 0 else ""
    before = f"{run.wording.step} {position:,}" if joins else f"{run.wording.step} {position:,}:  −"
    return Told(before.capitalize(), parts, Chip.of(history, names, step.id) if joins else None, count)
