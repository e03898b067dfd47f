"""The model of a word that a user types. The word is split with the run and the step that the window shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from PySide6.QtCore import QObject, Signal

from app.session.live import names_of_texts
from app.session.run import Run
from app.session.session import Session
from app.window.parts.timing import Throttle
from app.window.parts.wording import count_text
from app.window.text.encoder import encode_text
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import shown
from bpe_core.lessons.bench import Bench
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation, Tokens
from bpe_core.support.numbered_symbols import WIDTH, SymbolNames

FIRST_WORD = "lighthouses"
FIRST_SYMBOLS = 8  # of a corpus that is not text, until a user types symbols
LONGEST = 60  # most characters
TOPIC = "word"
REASONS = "word_reasons"
REASON = "word_reason"
LEARNING_MILLISECONDS = 100  # milliseconds between two cuts of the word while steps stream
MOST_REASONS = 2
LARGEST_CORPUS = 2_000_000  # bytes of distinct words; words of larger texts are ranked only on demand


WORD_MARK = "▁".encode()  # a token that begins with it includes the space before the word


@dataclass(frozen=True)
class Tile:
    """A tile of the word. It stands for one token, or for several tokens inside one character."""

    first: int  # index of its first character
    stop: int
    data: bytes
    id: int | None  # none before there are tokens
    ids: tuple[int, ...] = ()  # all ids, if several tokens share a character
    tokens: int = 1
    unknown: int = 0  # number of unknown tokens
    sign: str = ""  # a sign of the token before these characters, such as ##


@dataclass(frozen=True)
class WordTiles:
    characters: tuple[str, ...]  # as shown
    tiles: tuple[Tile, ...]
    at: int  # the number of steps

    @property
    def tokens(self) -> int:
        return sum(tile.tokens for tile in self.tiles)


Spelled = Callable[[int], bytes]  # returns a token's own bytes, which may begin with a sign such as ##


def word_tiles(
    text: str, tokens: Tokens, at: int, unknown_id: int | None = None, spelled: Spelled = lambda id: b""
) -> WordTiles:
    """Return the tiles of a word. Each token has a tile, but tokens inside one character share a tile.

    >>> from bpe_core.studies.making import train
    >>> segmentation = encode_text(train(["low low é"], "gpt2", merges=1).history, " lowé", 1)
    >>> [(tile.data.decode(), tile.tokens) for tile in word_tiles(" lowé", segmentation.tokens(1), 1).tiles]
    [(' ', 1), ('lo', 1), ('w', 1), ('é', 2)]
    """
    data = text.encode(errors="replace")
    starts = list(accumulate((len(character.encode(errors="replace")) for character in text), initial=0))
    place_of = {byte: place for place, byte in enumerate(starts)}
    tiles: list[Tile] = []
    begin = 0
    ids = list[int]()
    for start, stop, id in tokens.spans().tolist():
        if not ids:
            begin = start
        ids.append(id)
        if stop > start and stop in place_of and begin in place_of:
            sign = _marker_of(spelled(ids[0]), data[begin:stop]) if len(ids) == 1 else b""
            if sign == WORD_MARK and data[:begin].endswith(b" "):  # the mark stands for that space
                begin -= 1
                sign = b""
            first = place_of[begin]
            last = place_of[stop]
            unknown = sum(id == unknown_id for id in ids)
            alone = ids[0] if len(ids) == 1 else None
            several = tuple(ids) if alone is None else ()
            tiles.append(Tile(first, last, data[begin:stop], alone, several, len(ids), unknown, shown(sign)))
            ids = []
    return WordTiles(tuple(map(_character_text, text)), tuple(tiles), at)


def _token_bytes(run: Run | None, id: int) -> bytes:
    """Return the bytes of a token. If the text of a new token is not known yet, return no bytes."""
    raw = () if run is None or run.names is None else run.names.raw
    return raw[id] if id < len(raw) else b""


def _marker_of(spelled: bytes, data: bytes) -> bytes:
    """Return the marker of a token: the bytes at its beginning that are not in the text."""
    return spelled.removesuffix(data) if data and spelled.endswith(data) else b""


def _character_text(character: str) -> str:
    return shown(character.encode(errors="replace"))


class MyWord(QObject):
    """A model of the word that the user types, and of its tokens.

    The tokens change when a different run is shown, and when the time slider moves.
    """

    changed = Signal()
    reasons_changed = Signal()
    explained = Signal(str)  # the reason for a split that was asked about

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.word = FIRST_WORD
        self.cut = WordTiles((), (), 0)
        self.reasons = tuple[str, ...]()
        self._runs = session.runs
        self._cursor = session.cursor
        self._background = session.background
        self._texts = session.corpus.texts
        self._segmentation: Segmentation | None = None
        self._of: Run | None = None  # whose tokens these are: another run may be shown before its own are there
        learning = Throttle(LEARNING_MILLISECONDS, self._encode, self)
        for signal in (session.runs.changed, session.runs.grew):
            signal.connect(learning.call)
        session.cursor.moved.connect(self._show)
        self._texts.changed.connect(lambda _: self.changed.emit())
        self._show()

    @property
    def text(self) -> str:
        """Return the word with a space before it, because a word in a sentence follows a space.

        If the run's symbols are not text, the user types names of symbols. Then return the text of the named symbols.
        If the user has typed no names, return the first symbols of the corpus.
        """
        names = self._names
        if names is None:
            return f" {self.word}"
        return self._first_symbols() if self.word == FIRST_WORD else names.text_of_typed(self.word)

    @property
    def _names(self) -> SymbolNames | None:
        """Return the names of the run's symbols. Return None if the run learned from text, or if no run is shown."""
        run = self._runs.shown
        return run.recipe.names if run is not None and run.recipe.base_symbols else None

    def _first_symbols(self) -> str:
        run = self._runs.shown
        if run is None or run.words is None or not len(run.words):
            return ""
        return run.words.word(0)[: WIDTH * FIRST_SYMBOLS].decode()

    @property
    def sentence(self) -> str:
        run = self._runs.shown
        if run is None:
            texts = names_of_texts(self._texts.value)
            return f"Press Train to learn from {texts}." if texts else "Open a text, then press Train."
        if run.history is None:
            return "The word is split as soon as the first steps are learned." if run.is_busy else ""
        if self._segmentation is None:  # the word is being split
            return ""
        if self._names is not None:
            return f"{count_text(len(self.text), 'symbol')}: {self.total}"
        letters = count_text(len(self.word), "letter")
        return f"{letters} and the space before (␣): {self.total}"

    @property
    def total(self) -> str:
        """Return the number of tokens in the word as text. If some tokens are unknown, the text also says how many."""
        unknown = sum(tile.unknown for tile in self.cut.tiles)
        return count_text(self.cut.tokens, "token") + (f", {unknown} unknown" if unknown else "")

    def show_word(self, word: str) -> None:
        """Show another word. If it is empty, show the built-in word again."""
        self.word = word.strip()[:LONGEST] or FIRST_WORD
        self._segmentation = None
        self._encode()

    def ask_why_before(self, character: int) -> None:
        """Start a background task that finds out why the word is split before a character at the step shown."""
        run = self._runs.shown
        if run is None or run.history is None or self._segmentation is None or run is not self._of:
            return
        text = self.text
        byte = len(text[:character].encode(errors="replace"))
        at = self._cursor.position
        words = _words_to_look_at(run)
        history = run.history
        self._background.run(
            REASON, lambda task: _reason_at(text, byte, at, words, history), lambda reason: self.explained.emit(reason)
        )

    def _encode(self) -> None:
        run = self._runs.shown
        if run is None or run.history is None:
            self._segmentation = self._of = None
            self._show()
            return
        history = run.history
        text = self.text
        at = self._cursor.position
        work = partial(encode_text, history, text, min(at, len(history)))
        self._background.run(TOPIC, lambda task: work(task.cancelled), partial(self._take, run))

    def _take(self, run: Run, segmentation: Segmentation) -> None:
        if segmentation.data == self.text.encode(errors="replace"):
            self._segmentation = segmentation
            self._of = run
            self._show()

    def _show(self, _: int = 0) -> None:
        text = self.text
        at = self._cursor.position
        if self._segmentation is not None and self._segmentation.data != text.encode(errors="replace"):
            self._segmentation = None  # of the same word in another run, whose symbols differ
        if self._segmentation is None:
            tiles = (
                Tile(place, place + 1, character.encode(errors="replace"), None) for place, character in enumerate(text)
            )
            self.cut = WordTiles(tuple(map(_character_text, text)), tuple(tiles), 0)
        else:
            run = self._of
            unknown_id = None if run is None or run.history is None else run.history.alphabet.unknown_id
            self.cut = word_tiles(text, self._segmentation.tokens(at), at, unknown_id, partial(_token_bytes, run))
        if (names := self._names) is not None:
            self.cut = replace(self.cut, characters=tuple(map(names.shown, text)))
        self._explain()
        self.changed.emit()

    def _explain(self) -> None:
        run = self._runs.shown
        wanted = self._cursor.position >= self._cursor.end > 0
        self._report_reasons(())
        if not wanted or run is None or run is not self._of or run.is_busy or run.history is None:
            return
        if self._segmentation is None:
            return
        words = _words_to_look_at(run)
        history = run.history
        text = self.text
        tokens = self._segmentation.tokens(len(history))
        is_token = tokens.ids != NO_TOKEN
        cuts = tokens.edges[1:-1][is_token[:-1] & is_token[1:]].tolist()  # a space outside of all tokens is no cut
        self._background.run(
            REASONS, lambda task: _reasons(text, cuts, words, history), lambda said: self._report_reasons(said, run)
        )

    def _report_reasons(self, reasons: tuple[str, ...], run: Run | None = None) -> None:
        is_late = run is not None and (run is not self._runs.shown or self._cursor.position < self._cursor.end)
        if reasons != self.reasons and not is_late:
            self.reasons = reasons
            self.reasons_changed.emit()


def _words_to_look_at(run: Run) -> WordTable | None:
    """Return the words of a run, so that a reason can mention their counts. Return None if there are too many words."""
    words = run.words
    return None if words is not None and words.total_bytes > LARGEST_CORPUS else words


def _reason_at(text: str, byte: int, at: int, words: WordTable | None, history: History) -> str:
    """Return a sentence that says why a word is split at a byte after `at` steps.

    The sentence mentions counts only if `at` is the end of the run.
    """
    from bpe_core.insight.explanation import explain  # imported late, to keep the first paint quick

    is_at_end = at == len(history)
    corpus = Bench(words, history).ranked if words is not None and is_at_end and has_ranks(history) else None
    return explain(text, history, None, corpus).explanation_at(byte, at).sentence


def _reasons(text: str, cuts: list[int], words: WordTable | None, history: History) -> tuple[str, ...]:
    """Return sentences that say why the word is still split at the end of the run.

    Only the first few different reasons are returned. If other boundaries remain, the last sentence says how many. If
    the word is one token, the only sentence says so. The sentences mention counts only if `words` is not None.
    """
    from bpe_core.insight.explanation import explain  # imported late, to keep the first paint quick

    corpus = Bench(words, history).ranked if words is not None and has_ranks(history) else None
    explained = explain(text, history, None, corpus)
    said = [explained.explanation_at(byte, len(history)).sentence for byte in cuts]
    told = list(dict.fromkeys(said))[:MOST_REASONS]  # several splits may have the same reason
    more = sum(sentence not in told for sentence in said)
    reasons = [*told, f"{count_text(more, 'more split')}."] if more else told
    return tuple(reasons) or ("The word is one token, so it is not split.",)
