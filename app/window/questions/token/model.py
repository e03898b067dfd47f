"""The model of the facts about a token.

A user can choose the token. Without a choice, the model takes the token that was added at the step shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.parts.timing import Throttle
from app.window.parts.wording import count_text
from bpe_core.history.history import TIED, Step
from bpe_core.methods.kit.reasons import reasons_in_words

MOST_BYTES = 48
ROWS = ("Id", "Bytes", "Learned", "Dropped", "Count", "Chosen by", "Decided")
NOT_LEARNED = {
    "base symbol": "a base symbol, in the vocabulary from the start",
    "seed": "a piece of words, in the vocabulary from the start",
    "waiting": "not yet: a piece of words that waits to be added",
    "special token": "a special token, given by the recipe: never split, never merged",
}


@dataclass(frozen=True)
class TokenFacts:
    """The facts about a token that come from the history of its run."""

    id: int
    text: str
    rows: dict[str, str]  # facts by their titles, which are some of `ROWS`
    step: int = 0  # the step that joined or dropped it
    parts: tuple[int, ...] = ()
    part_texts: tuple[str, ...] = ()
    can_be_forbidden: bool = False
    step_name: str = "merge"


class TokenModel(QObject):
    """A model of a token. It follows the time slider until a user chooses a token."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: TokenFacts | None = None
        self._pinned: int | None = None  # the token that the user chose, until the moment changes
        self._runs = session.runs
        self._cursor = session.cursor
        session.cursor.moved.connect(lambda _: self.pin(None))  # at once: all panels show the same moment
        session.runs.changed.connect(self._unpin)
        session.runs.changed.connect(Throttle(100, self._follow, self).call)

    def look_at(self, token: int) -> None:
        run = self._runs.shown
        facts = facts_of(run, token) if run is not None and token >= 0 else None
        if facts != self.facts:
            self.facts = facts
            self.changed.emit()

    def show_briefly(self, token: int | None) -> None:
        """Show a token for a short time.

        If `token` is None, show the chosen token again, or else the token of the step shown.
        """
        if token is None:
            self._follow()
        else:
            self.look_at(token)

    def pin(self, token: int | None) -> None:
        """Show this token until the step shown changes. If `token` is None, show the token of the step shown again."""
        self._pinned = token
        self._follow()

    def _unpin(self) -> None:
        self._pinned = None

    def travel_to(self, token: int) -> None:
        """Move the time slider to the step at which the token was learned, and show the token."""
        run = self._runs.shown
        row = run.history.row_of(token) if run is not None and run.history is not None else None
        if row is not None:
            self._cursor.go_to(row + 1)
        self.look_at(token)

    def _follow(self) -> None:
        if self._pinned is not None:
            self.look_at(self._pinned)
            return
        run = self._runs.shown
        position = self._cursor.position
        learned = run is not None and run.history is not None and 0 < position <= run.learned
        self.look_at(int(run.history.indices[position - 1]) if run and run.history and learned else -1)


def facts_of(run: Run, token: int) -> TokenFacts | None:
    """Return the facts about a token from the history of a run, or None if the run has no such token."""
    names = run.names
    history = run.history
    if names is None or history is None or token >= history.index_count:
        return None
    special = token - history.first_special
    text = names.text[token] if special < 0 else history.recipe.special_tokens[special]
    raw = names.raw[token] if special < 0 else text.encode()
    joined = history.row_of(token)
    dropped = history.row_of_drop(token)
    row = joined if dropped is None else dropped
    number = int(history.numbers_of(token))
    is_new = row is not None and 0 < run.recipe.grown_from < row + 1
    in_file = "" if number == token or is_new else " in its file"
    written = " ".join(f"{byte:02X}" for byte in raw[:MOST_BYTES]) + (" …" if len(raw) > MOST_BYTES else "")
    rows = {
        "Id": "none in its file" if number < 0 else f"{number:,}{in_file}",
        "Bytes": "" if run.recipe.base_symbols else written,  # a symbol that is not text has no bytes of its own
    }
    if row is None:
        kind = "special token" if special >= 0 else "base symbol"
        if token < len(history.alphabet) and history.alphabet.symbols[token].kind == "seed":
            kind = "waiting" if run.recipe.single == "add" else "seed"
        return TokenFacts(token, text, rows | {"Learned": NOT_LEARNED[kind]})
    step = history[row]
    named = run.wording.step
    parts = history.parts(token) or ()
    rows |= {
        "Learned": NOT_LEARNED["seed"] if joined is None else f"{named} {joined + 1:,}{_old_or_new(run, joined + 1)}",
        "Dropped": "" if dropped is None else f"{named} {dropped + 1:,}",
        "Count": count_text(step.count, "time") if step.count >= 0 else "not known",
        "Chosen by": ", ".join(f"{title.lower()} {text}" for title, text in reasons_in_words(run.recipe, step)),
        "Decided": _tie_text(step, names.text, row in history.forced) if run.recipe.applies("ties") else "",
    }
    part_texts = tuple(names.text[part] for part in parts)
    return TokenFacts(token, text, rows, row + 1, parts, part_texts, not run.why_no_branch(row + 1), named)


def _old_or_new(run: Run, step: int) -> str:
    """Return a phrase that says whether a step came before or after the extension of its table.

    Return an empty string if the table was not extended.
    """
    grown_from = run.recipe.grown_from
    if not grown_from:
        return ""
    return ", after the table was extended" if step > grown_from else ", before the table was extended"


def _tie_text(merge: Step, text: list[str], is_forced: bool = False) -> str:
    if is_forced:
        return "by a person, who forced this pair"
    if merge.count < 0:
        return "not known: the table has no counts"
    if merge.runner_up is None:
        return "nothing else was frequent enough"
    other = " + ".join(text[id] for id in merge.runner_up if id >= 0)
    if merge.tied:
        return f"a tie with {other}: the tie rule decided"
    if TIED in merge.reasons:  # not chosen by the count alone
        return f"ahead of {other}"
    ahead = merge.count - merge.runner_up_count
    if merge.right < 0:
        return f"the next choice was {other}, which occurs {count_text(merge.runner_up_count, 'time')}"
    if ahead < 0:
        return f"not known: in these texts the count of {other} is higher by {-ahead:,}"
    return f"ahead of {other} by {ahead:,}"
