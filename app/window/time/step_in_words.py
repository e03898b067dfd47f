"""Functions that describe a step in words and tokens, for the caption above the text."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.run import Run
from app.window.parts.wording import STEP_SIGNS
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.facts import Wording

NO_RUN = "Your text, which is not part of the corpus"
AT_FIRST = "Nothing is {done} yet. These are the first tokens"
NO_STEPS = "This tokenizer has no {steps}. These are its tokens"
SKIPPED = "{steps} {first:,} to {last:,} do not change this text, and are skipped"
LONGEST_COLOURED = 1_000  # bytes; a longer token has the colour of its beginning
LONGEST = 24  # characters of a token; longer ones lose their middle


@dataclass(frozen=True)
class ShownToken:
    """A token as the caption shows it: its text, and the bytes that decide its colour."""

    text: str
    id: int
    data: bytes

    @classmethod
    def of(cls, history: History, names: TokenTexts, id: int) -> ShownToken:
        text = names.text[id]
        shown = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 + 1 :]}"
        if names.lengths[id] > LONGEST_COLOURED:
            return cls(shown, id, names.raw[id])
        symbols = history.alphabet.symbols
        return cls(shown, id, b"".join(symbols[symbol].decoded for symbol in history.symbols_of(id)))


@dataclass(frozen=True)
class StepLine:
    """A line about a step: words, then the tokens that the step joined or dropped, then more words."""

    before: str
    parts: tuple[ShownToken, ...] = ()
    becomes: ShownToken | None = None
    after: str = ""

    @property
    def sentence(self) -> str:
        arrow = f" → {self.becomes.text}" if self.becomes else ""
        return " ".join(filter(None, (self.before, " + ".join(part.text for part in self.parts) + arrow, self.after)))


def words_of_skip(first: int, last: int, wording: Wording) -> StepLine:
    return StepLine(SKIPPED.format(steps=wording.steps.capitalize(), first=first, last=last))


def words_of_step(run: Run | None, position: int) -> StepLine:
    if run is None or run.history is None or run.names is None:
        return StepLine(NO_RUN)
    if position == 0 or position > min(len(run.history), len(run.names.text)):
        has_steps = len(run.history) or run.is_busy or run.sources
        return StepLine((AT_FIRST if has_steps else NO_STEPS).format(done=run.wording.done, steps=run.wording.steps))
    history = run.history
    names = run.names
    step = history[position - 1]
    joins = step.right >= 0
    parts = tuple(ShownToken.of(history, names, id) for id in (step.left, step.right) if id >= 0)
    count = f"{step.count:,}×" if step.count >= 0 else ""
    before = f"{run.wording.step} {position:,}"
    if not joins:
        before += f":  {STEP_SIGNS[step.right].rstrip()}"
    return StepLine(before.capitalize(), parts, ShownToken.of(history, names, step.index) if joins else None, count)
