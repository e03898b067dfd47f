"""Tables that were made of others here: trimmed ones, two in one. Each is a run of its own, without counts."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.run import Phase, Run
from app.session.runs import Runs
from app.worker.training import Pace
from app.worker.window_first import let_window_go_first
from bpe_core import History
from bpe_core.history.history import Int64s
from bpe_core.token_texts import TokenTexts


@dataclass(frozen=True, eq=False)
class EditedTable:
    """A table with what a person is told of it; made aside."""

    history: History
    numbers: Int64s | None
    names: TokenTexts
    made: str  # how, in a few words
    told: tuple[str, ...]  # a sentence each

    @classmethod
    def of(cls, history: History, numbers: Int64s | None, name: str, made: str, told: tuple[str, ...]) -> EditedTable:
        history.recipe = history.recipe.with_changes(name=name)
        names = TokenTexts(history.alphabet)
        names.grow(history, between=let_window_go_first)
        return cls(history, numbers, names, made, told)


def add_table(runs: Runs, table: EditedTable, made_of: Run) -> Run:
    """The table as a run below the one it was made of, which is shown; its sentence says how, and what that means."""
    run = Run(
        number=runs.next_number(),
        recipe=table.history.recipe,
        sources=(),
        pace=Pace(),
        phase=Phase.ENDED,
        sentence=" ".join([f"{table.made}.", *table.told]),
        history=table.history,
        names=table.names,
        numbers=table.numbers,
        parent=made_of.number,
    )
    runs.add(run)
    runs.show(run)
    return run
