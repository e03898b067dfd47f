"""One token looked at closely: by default the one that was learned at the moment shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.parts.timing import Throttle
from bpe_core.history.history import TIED, Step
from bpe_core.learning.methods import Method


@dataclass(frozen=True)
class TokenFacts:
    """What is known about a token from its history alone."""

    id: int
    text: str
    raw: bytes
    kind: str  # "base symbol", "seed", "waiting", "merge" or "special token"
    step: int = 0  # that joined it, or dropped it
    learned: str = ""  # when
    dropped: str = ""  # when
    count: int = -1
    chosen_by: str = ""  # beside the count
    decided: str = ""  # how narrowly the step won
    parts: tuple[int, ...] = ()
    part_texts: tuple[str, ...] = ()
    can_be_forbidden: bool = False
    is_new: bool = False  # born since the table it is of was extended
    step_name: str = "merge"
    number: int | None = None  # where the imported file has another than the id


class TokenModel(QObject):
    """Follows the time cursor until a person looks at a token of their own choice."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: TokenFacts | None = None
        self._is_veiled = False
        self._pinned: int | None = None  # the token that the person has pointed at, until time goes elsewhere
        self._runs, self._cursor = session.runs, session.cursor
        session.cursor.moved.connect(lambda _: self._unpin())
        session.runs.changed.connect(self._unpin)
        throttle = Throttle(100, self._follow, self)
        session.cursor.moved.connect(throttle.call)
        session.runs.changed.connect(throttle.call)

    def look_at(self, token: int) -> None:
        run = self._runs.shown
        facts = facts_of(run, token) if run is not None and token >= 0 else None
        if facts is not None and run is not None and self._is_veiled and facts.step == run.learned:
            facts = replace(facts, decided="")
        if facts != self.facts:
            self.facts = facts
            self.changed.emit()

    def veil(self, on: bool) -> None:
        """Keep silent about who came second to the last merge, so that the next one can be guessed."""
        if on != self._is_veiled:
            self._is_veiled = on
            if self.facts is not None:
                self.look_at(self.facts.id)

    def peek(self, token: int | None) -> None:
        """Look at a token in passing; None returns to the one pointed at, or that of the moment shown."""
        if token is None:
            self._follow()
        else:
            self.look_at(token)

    def pin(self, token: int | None) -> None:
        """Stay with this token until time goes elsewhere; None: no longer."""
        self._pinned = token
        self._follow()

    def _unpin(self) -> None:
        self._pinned = None

    def travel_to(self, token: int) -> None:
        """Go to the moment the token was learned."""
        run = self._runs.shown
        row = run.history.row_of(token) if run is not None and run.history is not None else None
        if row is not None:
            self._cursor.go_to(row + 1)
        self.look_at(token)

    def _follow(self) -> None:
        if self._pinned is not None:
            self.look_at(self._pinned)
            return
        run, position = self._runs.shown, self._cursor.position
        learned = run is not None and run.history is not None and 0 < position <= run.learned
        self.look_at(int(run.history.ids[position - 1]) if run and run.history and learned else -1)


def facts_of(run: Run, token: int) -> TokenFacts | None:
    """What the shown run knows of a token, by the number its file gives it; None where there is no such token."""
    facts, history = _facts_of(run, token), run.history
    number = token if facts is None or history is None else int(history.numbers_of(token))
    return facts if facts is None or number == token else replace(facts, number=number)


def _facts_of(run: Run, token: int) -> TokenFacts | None:
    names, history = run.names, run.history
    if names is None or history is None or token >= history.id_count:
        return None
    if token >= history.first_special:
        special = history.recipe.special_tokens[token - history.first_special]
        return TokenFacts(token, special, special.encode(), "special token")
    text, raw = names.text[token], names.raw[token]
    joined, dropped = history.row_of(token), history.row_of_drop(token)
    row = joined if dropped is None else dropped
    symbol = history.alphabet.symbols[token].kind if token < len(history.alphabet) else ""
    if row is None:
        seed = "waiting" if run.recipe.single == "add" else "seed"
        return TokenFacts(token, text, raw, seed if symbol == "seed" else "base symbol")
    step, named = history[row], run.wording.step
    told = [
        (reason.title, reason.text(step.count, step.reasons)) for reason in Method.of(run.recipe).reasons(run.recipe)
    ]
    parts = history.parts(token) or ()
    return TokenFacts(
        id=token,
        text=text,
        raw=raw,
        kind="merge" if symbol == "" else "seed",
        step=row + 1,
        learned="" if joined is None else f"{named} {joined + 1:,}{_new(run, joined + 1)}",
        dropped=f"{named} {dropped + 1:,}" if dropped is not None else "",
        count=step.count,
        chosen_by=", ".join(f"{title.lower()} {text}" for title, text in told if text),
        decided=_decided(step, names.text, row in history.forced) if run.recipe.applies("ties") else "",
        is_new=0 < run.recipe.grown_from < row + 1,
        can_be_forbidden=not run.why_no_branch(row + 1),
        step_name=named,
        parts=parts,
        part_texts=tuple(names.text[part] for part in parts),
    )


def _new(run: Run, step: int) -> str:
    """Of a table that was extended, on which side of its old end a step is."""
    grown_from = run.recipe.grown_from
    if not grown_from:
        return ""
    return ", new since the table was extended" if step > grown_from else ", of the table that was extended"


def _decided(merge: Step, text: list[str], is_forced: bool = False) -> str:
    if is_forced:
        return "by hand: it was forced here"
    if merge.count < 0:
        return "not known: the table came without counts"
    if merge.runner_up is None:
        return "nothing else was frequent enough"
    other = " + ".join(text[id] for id in merge.runner_up if id >= 0)
    if merge.tied:
        return f"a tie with {other}: the tie rule decided"
    if TIED in merge.reasons:  # which was chosen by more than the count
        return f"ahead of {other}"
    ahead = merge.count - merge.runner_up_count
    if merge.right < 0:
        return f"next was {other}, which occurs {merge.runner_up_count:,} times"
    if ahead < 0:
        return f"elsewhere: in these texts {other} occurs {-ahead:,} times more"
    return f"ahead of {other} by {ahead:,}"
