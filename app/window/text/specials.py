"""The choice of how special tokens in the text are read: as special tokens, or as ordinary text.

A user makes the choice. Without a choice, the tokenizer's library decides.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.session import Session
from app.window.parts.timing import Throttle
from app.window.text.text_model import TokenTextModel
from bpe_core.history.token_texts import quoted
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import ALLOWED, Allowed
from bpe_core.text.specials import finder

LOOKED_AT = 100_000  # characters of the text
PAUSE_MILLISECONDS = 200
MATCHED = "all"
AS_TEXT = "none"


def chosen_reading(recipe: Recipe, chosen: str) -> str:
    """Return the mode in which special tokens in a text are read. An empty string means that the file decides.

    `chosen` is the mode that the user has chosen, or an empty string. A chosen mode is returned. Without one, the
    result depends on whether the tokenizer file says how to read special tokens. If it does, the result is an
    empty string. Otherwise it is MATCHED: all special tokens in the text are found.
    """
    return chosen or ("" if recipe.spelled_specials else MATCHED)


def allowed_in(recipe: Recipe, chosen: str) -> Allowed:
    return ALLOWED[chosen_reading(recipe, chosen)]


class SpecialTokenNotice(QObject):
    """A model of the first special token in the text.

    It holds a sentence that says whether the token counts as a special token or as ordinary text. It also holds
    an offer to change this.
    """

    changed = Signal()

    def __init__(self, session: Session, text: TokenTextModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._text = text
        self.sentence = ""  # empty if the text spells none
        self.offer = ""
        soon = Throttle(PAUSE_MILLISECONDS, self.refresh, self)
        for signal in (text.text_changed, session.runs.changed, session.recipe.changed, session.specials.changed):
            signal.connect(soon.call)
        self.refresh()

    def refresh(self) -> None:
        text = self._text.text()[:LOOKED_AT]
        recipe = self._recipe
        chosen = self._session.specials.value
        first = next(finder(recipe.special_tokens)(text), None)
        self.sentence = ""
        if first is not None:
            taken = "counts as that token" if self._is_matched else "counts as ordinary text"
            by_whom = (
                "as in the library that owns the tokenizer's format"
                if recipe.spelled_specials
                else "because you typed the text"
            )
            why = "as you chose" if chosen else by_whom
            self.sentence = (
                f"The special token {quoted(text[slice(*first)])} is written in the text. It {taken} here, {why}."
            )
            self.offer = "Split as Ordinary Text" if self._is_matched else "Match"
        self.changed.emit()

    def switch_reading(self) -> None:
        """Switch between the two ways to read special tokens in the text."""
        self._session.specials.put(AS_TEXT if self._is_matched else MATCHED, "Special Tokens in the Text")

    @property
    def _recipe(self) -> Recipe:
        run = self._session.runs.shown
        return self._session.recipe.value if run is None else run.recipe

    @property
    def _is_matched(self) -> bool:
        wanted = chosen_reading(self._recipe, self._session.specials.value)
        return wanted == MATCHED or (not wanted and self._recipe.spelled_specials == "matched")
