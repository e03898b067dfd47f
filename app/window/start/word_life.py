"""One word, put together by what was learned from a sample: its scenes, and the one that is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.time import timer
from app.window.lessons.bench import Bench
from app.window.parts.wording import count_text
from bpe_core.history.token_texts import shown
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import NEVER
from resources import samples

LONGEST = 40  # characters; more would not be visible at once
MOST_REASONS = 3


@dataclass(frozen=True)
class WordToken:
    """One token of a scene: the symbols from `first` to before `stop`."""

    id: int
    first: int
    stop: int
    data: bytes  # its bytes


@dataclass(frozen=True)
class Scene:
    tokens: tuple[WordToken, ...]
    sentence: str


@dataclass(frozen=True)
class WordLife:
    """All scenes of a word, and why it ends there."""

    symbols: tuple[str, ...]
    scenes: tuple[Scene, ...]
    reasons: tuple[str, ...]


def life_of(word: str, taught: Bench) -> WordLife:
    """Follow a word as it is inside a sentence, after a space.

    >>> taught = Bench.of_text("low low low lower lower newest", Recipe.preset("gpt2", vocab_size=260))
    >>> life = life_of("lowly", taught)
    >>> life.symbols
    ('␣', 'l', 'o', 'w', 'l', 'y')
    >>> [len(scene.tokens) for scene in life.scenes], life.scenes[1].sentence
    ([6, 5, 4, 3], 'Merge 1 joins l and o: 5 times in the sample.')
    """
    text, history = f" {word[:LONGEST]}", taught.history
    data = text.encode()
    boundaries = taught.tokenizer.boundaries(text)
    symbols = boundaries.all_symbols()
    steps = sorted({rank for rank in boundaries.ranks.tolist() if 0 <= rank < min(len(history), NEVER)})
    scenes = []
    for at in (0, *(step + 1 for step in steps)):
        spans = boundaries.tokens(at).spans().tolist()
        edges = np.searchsorted(symbols.starts, [start for start, _, _ in spans]).tolist()
        ends = [*edges[1:], len(symbols.ids)]
        tokens = tuple(
            WordToken(id, first, stop, data[start:end])
            for (start, end, id), first, stop in zip(spans, edges, ends, strict=True)
        )
        scenes.append(Scene(tokens, _merge(at - 1, taught) if at else _beginning(text, len(tokens))))
    texts = (shown(data[a:b]) for a, b in zip(symbols.starts.tolist(), symbols.stops.tolist(), strict=True))
    cuts = boundaries.tokens(len(history)).edges[1:-1].tolist()
    return WordLife(tuple(texts), tuple(scenes), _reasons(text, cuts, taught))


def _beginning(text: str, tokens: int) -> str:
    letters = len(text) - 1
    return f"{count_text(letters, 'letter')} and the space before, in {count_text(tokens, 'byte')}: one token each."


def _merge(row: int, taught: Bench) -> str:
    left, right = (taught.names.text[part] for part in taught.history.pair(row))
    times = count_text(int(taught.history.columns.count[row]), "time")
    return f"Merge {row + 1:,} joins {left} and {right}: {times} in the sample."


def _reasons(text: str, cuts: list[int], taught: Bench) -> tuple[str, ...]:
    """Say why each remaining cut is kept; of many, only the first ones."""
    from bpe_core.insight.why import Why, sentence  # not for the first paint

    why = Why(text, taught.history, corpus=taught.ranked)
    reasons = [sentence(why.at_byte(byte), taught.names.text.__getitem__) for byte in cuts]
    if len(reasons) > MOST_REASONS:
        reasons[MOST_REASONS:] = [f"And {count_text(len(reasons) - MOST_REASONS, 'cut')} more."]
    return tuple(reasons) or ("Nothing is left to join: it is one token.",)


FIRST_WORD = "lighthouses"
RECIPE = Recipe.preset("gpt2", vocab_size=512)
SCENE_MILLISECONDS = 900  # long enough to see and read what is joined


class WordModel(QObject):
    """Learns from the sample once the page is shown; then every word plays from its beginning."""

    changed = Signal()

    def __init__(self, aside: Aside, parent: QObject) -> None:
        super().__init__(parent)
        self.life: WordLife | None = None
        self.scene = 0
        self._aside, self._word = aside, FIRST_WORD
        self._taught: Bench | None = None
        self._next = timer(self, SCENE_MILLISECONDS, self.forward, repeats=True)

    def begin(self) -> None:
        if self._taught is None:
            self._aside.ask("start", lambda task: Bench.of_text(samples()[0].text(), RECIPE), self._take)
        elif self.life is not None:
            self.again()

    def rest(self) -> None:
        self._next.stop()

    def look_at(self, word: str) -> None:
        """Show another word; the first one if it is empty."""
        self._word = word or FIRST_WORD
        if self._taught is not None:
            self.life = life_of(self._word, self._taught)
            self.again()

    def again(self) -> None:
        self._go_to(0)
        self._next.start()

    def back(self) -> None:
        self.rest()
        self._go_to(self.scene - 1)

    def forward(self) -> None:
        self._go_to(self.scene + 1)

    @property
    def is_at_end(self) -> bool:
        return self.life is not None and self.scene == len(self.life.scenes) - 1

    def _take(self, taught: Bench) -> None:
        self._taught = taught
        self.look_at(self._word)

    def _go_to(self, scene: int) -> None:
        if self.life is not None:
            self.scene = min(max(0, scene), len(self.life.scenes) - 1)
            if self.is_at_end:
                self._next.stop()
            self.changed.emit()
