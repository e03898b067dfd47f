"""The model of the shelf: the tokenizers, the text as each of them splits it, and the downloads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import titles_of
from app.session.session import Session
from app.settings import TOKENIZER_FOLDER, Settings
from app.window.parts.timing import Throttle
from app.window.parts.wording import count_text, size_text
from app.window.rooms.my_word import FIRST_WORD, LONGEST, WordTiles, word_tiles
from app.worker.job import Task
from bpe_core.formats.hugging_face_cache import Offer, fetch, offer_of
from bpe_core.formats.shelf import ShelfEntry, shelf
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.progress import CancelCheck, Progress, Work, never_cancelled, while_wanted

LISTING = "shelf_list"
OPENING = "shelf_tokenizers"
SPLITTING = "shelf_text"
RUN = "run_shown"  # the key of its card
TYPING_MILLISECONDS = 60
AGREE = "The hub names this size and licence. Press the button to download the tokenizer."
MOST_OPENED = 8  # tokenizers that are opened unasked; each may take some megabytes of memory

Result = TypeVar("Result")


@dataclass(frozen=True)
class SplitText:
    """A text, split by one tokenizer."""

    tiles: WordTiles
    tokens: int
    unknown: int

    @property
    def total(self) -> str:
        return count_text(self.tokens, "token") + (f", {self.unknown:,} unknown" if self.unknown else "")


@dataclass(frozen=True)
class ShelfCardText:
    """The texts and the state of one card on the shelf. A card shows one tokenizer."""

    key: str
    title: str
    facts: str  # the size of its vocabulary, its licence and its place
    split: SplitText | None = None
    trouble: str = ""  # why there is no result
    fetch_title: str = ""  # the title of the button that downloads it; empty if it is here
    progress: float | None = None  # the share of the download that is done; None without a download
    can_be_opened: bool = False  # it is here, and waits for a user who wants it
    can_be_compared: bool = False

    @property
    def is_here(self) -> bool:
        return self.split is not None


@dataclass
class _Download:
    """A download that a user has started."""

    offer: Offer | None = None  # what the hub said, once it has answered
    share: float | None = None
    trouble: str = ""


class ShelfModel(QObject):
    """A model of the shelf. It makes no connection and downloads nothing until `fetch` is called."""

    changed = Signal()

    def __init__(self, session: Session, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.text = FIRST_WORD
        self.follows_space = True
        self.is_open = False  # whether the user sees the shelf
        self._session = session
        self._settings = settings
        self._entries: dict[str, ShelfEntry] = {}
        self._studies: dict[str, Study] = {}
        self._splits: dict[str, SplitText] = {}
        self._troubles: dict[str, str] = {}  # why a tokenizer could not be opened
        self._downloads: dict[str, _Download] = {}
        self._opening = set[str]()
        self._typing = Throttle(TYPING_MILLISECONDS, self._split, self)
        session.runs.changed.connect(self._typing.call)
        session.cursor.moved.connect(lambda _: self._typing.call())

    # -- what is shown ---------------------------------------------------------------------

    @property
    def whole_text(self) -> str:
        """Return the text to split. If it should follow a space, as in the middle of a sentence, it begins with one."""
        return f" {self.text}" if self.follows_space else self.text

    @property
    def cards(self) -> list[ShelfCardText]:
        """Return the cards: the run shown, the tokenizers on this computer, and then those that can be downloaded."""
        entries = [self._card(key, entry) for key, entry in self._entries.items()]
        run = self._run_card()
        here = [card for card in entries if not card.fetch_title]
        return [*([run] if run is not None else ()), *here, *(card for card in entries if card.fetch_title)]

    @property
    def folder(self) -> str:
        """Return the folder in which a user keeps tokenizers, or an empty string."""
        return self._settings.get(TOKENIZER_FOLDER)

    def _run_card(self) -> ShelfCardText | None:
        run = self._session.runs.shown
        if run is None or run.history is None:
            return None
        at = min(self._session.cursor.position, len(run.history))
        runs = self._session.runs.all
        title = titles_of(runs)[runs.index(run)]
        facts = f"run {run.number:,}, {count_text(run.history.vocabulary_size_at(at), 'token')} in the vocabulary"
        return ShelfCardText(RUN, f"This run: {title}", facts, self._splits.get(RUN))

    def _card(self, key: str, entry: ShelfEntry) -> ShelfCardText:
        if entry.file is None:
            return self._card_to_fetch(key, entry)
        study = self._studies.get(key)
        size = "" if study is None else f"{count_text(len(study), 'token')} in the vocabulary"
        trouble = self._troubles.get(key, "")
        waits = study is None and not trouble and key not in self._opening
        facts = ", ".join(filter(None, (size, entry.licence, entry.place)))
        split = self._splits.get(key)
        is_compared = split is not None
        return ShelfCardText(key, entry.title, facts, split, trouble, can_be_opened=waits, can_be_compared=is_compared)

    def _card_to_fetch(self, key: str, entry: ShelfEntry) -> ShelfCardText:
        download = self._downloads.get(key, _Download())
        offer = download.offer
        if offer is not None:
            size, licence = size_text(offer.size), offer.licence or "not known"
        else:
            size, licence = (
                entry.size_in_words if entry.bytes else "size not known yet",
                entry.licence,
            )
        facts = f"{size}, licence {licence}"
        card = ShelfCardText(key, entry.title, f"not on this computer: hf:{entry.name}", fetch_title=f"Fetch ({facts})")
        about = f"Fetching {facts}, from hf:{entry.name}" if download.share is not None else card.facts
        return replace(card, facts=about, progress=download.share, trouble=download.trouble)

    # -- the text --------------------------------------------------------------------------

    def show_text(self, text: str, *, follows_space: bool) -> None:
        """Split a new text. If it is empty, split a fixed word instead, so that no card is empty."""
        self.text = text[:LONGEST] or FIRST_WORD
        self.follows_space = follows_space
        self._typing.call()

    def _split(self) -> None:
        if not self.is_open:
            return
        text = self.whole_text
        run = self._session.runs.shown
        studies = dict(self._studies)
        own = self._session.runs.studies.of(run) if run is not None else None
        at = self._session.cursor.position

        def work(task: Task) -> dict[str, SplitText]:
            splits = {} if own is None else {RUN: split_text(own, text, min(at, len(own.history)), task.cancelled)}
            for key, study in while_wanted(studies.items(), task.cancelled, every=1):
                splits[key] = split_text(study, text, len(study.history), task.cancelled)
            return splits

        self._session.background.run(SPLITTING, work, self._take_splits)

    def _take_splits(self, splits: dict[str, SplitText]) -> None:
        self._splits = splits
        self.changed.emit()

    # -- the tokenizers --------------------------------------------------------------------

    def begin(self) -> None:
        """Open the tokenizers on this computer, and split the text."""
        self.is_open = True
        self.refresh()

    def end(self) -> None:
        """Stop all tasks, and free the memory of the tokenizers."""
        self.is_open = False
        for topic in (LISTING, OPENING, SPLITTING, *map(_topic, self._downloads)):
            self._session.background.cancel(topic)
        for kept in (self._entries, self._studies, self._splits, self._troubles, self._downloads):
            kept.clear()
        self._opening.clear()

    def refresh(self) -> None:
        """List the tokenizers again, and open those on this computer."""
        folder = self.folder
        self._session.background.run(LISTING, lambda task: shelf(folder), self._take_entries)
        self._typing.call()

    def choose_folder(self, folder: str) -> None:
        """Add the tokenizers in a user's folder to the list, and remember the folder in the settings."""
        self._settings.put(TOKENIZER_FOLDER, folder)
        self.refresh()

    def _take_entries(self, entries: list[ShelfEntry]) -> None:
        self._entries = {entry.name or entry.typed: entry for entry in entries}
        for kept in (self._studies, self._troubles, self._splits):
            for key in [key for key in kept if key != RUN and key not in self._entries]:
                del kept[key]
        here = [key for key, entry in self._entries.items() if entry.file is not None]
        for key in here[:MOST_OPENED]:
            self.open(key)
        self.changed.emit()

    def open(self, key: str) -> None:
        """Open a tokenizer on this computer in a background task. Only one tokenizer is opened at a time."""
        if key in self._studies or key in self._opening or key in self._troubles:
            return
        self._opening.add(key)
        typed = self._entries[key].typed
        take, fail = partial(self._take_study, key), partial(self._fail_to_open, key)
        ended = partial(self._end_opening, key)
        self._session.background.run(OPENING, lambda task: _opened(typed), take, fail, ended=ended, queues=True)

    def _take_study(self, key: str, study: Study) -> None:
        self._studies[key] = study
        self._troubles.pop(key, None)
        self._typing.call()

    def _fail_to_open(self, key: str, sentence: str) -> None:
        self._troubles[key] = sentence

    def _end_opening(self, key: str) -> None:
        self._opening.discard(key)
        self.changed.emit()

    def entry(self, key: str) -> ShelfEntry:
        """Return the tokenizer of the shelf that has this key."""
        return self._entries[key]

    # -- downloads -------------------------------------------------------------------------

    def fetch(self, key: str) -> None:
        """Ask the hub for the size and the licence of a tokenizer, or download it if the hub has answered already.

        If the card already shows what the hub answers, the download begins at once. Otherwise the card shows the
        answer, and the download begins when the user asks a second time.
        """
        entry = self._entries[key]
        download = self._downloads.setdefault(key, _Download())
        download.trouble = ""
        download.share = 0.0
        if download.offer is not None:
            self._download(key, download.offer)
        else:
            self._run(key, lambda task: offer_of(entry.name), partial(self._take_offer, key))
        self.changed.emit()

    def cancel(self, key: str) -> None:
        self._session.background.cancel(_topic(key))

    def _take_offer(self, key: str, offer: Offer) -> None:
        self._downloads[key].offer = offer
        if self._entries[key].agrees_with_offer(offer):
            self._download(key, offer)
        else:
            self._downloads[key].trouble = AGREE

    def _download(self, key: str, offer: Offer) -> None:
        self._run(key, lambda task: fetch(offer, Work(task.report, task.cancelled)), lambda _: self.refresh())

    def _run(self, key: str, work: Callable[[Task], Result], done: Callable[[Result], object]) -> None:
        fail, report, end = (partial(act, key) for act in (self._fail_to_fetch, self._report, self._end_download))
        self._session.background.run(_topic(key), work, done, fail, report, end)

    def _report(self, key: str, progress: Progress) -> None:
        self._downloads[key].share = progress.done / progress.total if progress.total else 0.0
        self.changed.emit()

    def _fail_to_fetch(self, key: str, sentence: str) -> None:
        self._downloads[key].trouble = sentence

    def _end_download(self, key: str) -> None:
        """Update a card after one of its tasks has ended: the request to the hub, or the download.

        If another task of the card has begun already, the download is still under way.
        """
        if key in self._downloads and not self._session.background.is_busy(_topic(key)):
            self._downloads[key].share = None
        self.changed.emit()


def _topic(key: str) -> Hashable:
    return "fetching", key


def _opened(typed: str) -> Study:
    study = open_study(typed)
    study.inside.by_index.texts  # noqa: B018  # made here, because it takes long for large vocabularies
    return study


def split_text(study: Study, text: str, at: int, cancelled: CancelCheck = never_cancelled) -> SplitText:
    """Return the tiles of a text after `at` steps, with the ids of the tokenizer's file."""
    by_index = study.inside.by_index
    tokens = by_index.tokenizer.segmentation(text, cancelled=cancelled).tokens(at)
    unknown_id = study.history.alphabet.unknown_id
    cut = word_tiles(text, tokens, at, unknown_id, by_index.texts.raw.__getitem__)
    tiles = tuple(
        replace(
            tile,
            id=None if tile.id is None else by_index.number(tile.id),
            ids=tuple(number for id in tile.ids if (number := by_index.number(id)) is not None),
        )
        for tile in cut.tiles
    )
    unknown = 0 if unknown_id is None else int(np.count_nonzero(tokens.ids == unknown_id))
    return SplitText(replace(cut, tiles=tiles), int(np.count_nonzero(tokens.ids != NO_TOKEN)), unknown)
