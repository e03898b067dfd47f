"""The check of a table before its file is put in place.

The file is created in memory and read back. The original table and the table that was read must split hard texts
into the same tokens.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from bpe_core.editing.id_map import IdMap
from bpe_core.errors import LONGEST_SENTENCE, BpeError, Cancelled, OutputError, plain, throwing_exceptions
from bpe_core.formats import format_for
from bpe_core.formats.base import NO_NUMBER, Beside, Format, OpenedTable, Peer, no_sidecar_files, own_numbers
from bpe_core.formats.peer_process import peer_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.support.atomic import folder_for, write_together
from bpe_core.support.garbage import without_garbage_collection
from bpe_core.support.progress import ALONE, Progress, ProgressReport, Work
from bpe_core.support.result_cache import cached_results
from bpe_core.support.wording import count_sentence, count_text
from bpe_core.verification import sampling

LETTERS = 8  # characters of a word, about
MOSTLY = 1.1  # samples with a sign, as a multiple of those that differ, at which the sign still explains them
AT_ONCE = 256  # samples between two checks for cancellation
LISTED = 5  # differences that are named


@dataclass(frozen=True)
class Verification:
    """The result of reading a file back and comparing it with its history."""

    format: str
    words: int  # the number of samples compared
    differences: tuple[str, ...]  # the first few, one sentence each
    differing: int
    cannot_hold: tuple[str, ...]
    asked: str = ""  # the library that was asked as well
    compared: str = "words"  # the name of what `words` counts
    chosen: tuple[str, ...] = ()  # choices that were made for the user, who may choose otherwise
    renumbered: str = ""  # an example, if the file's ids differ from the table's
    cause: str = ""  # a phrase for what all differing samples have in common

    def with_differences(self, library: str, wrong: Sequence[str]) -> Verification:
        """Return a copy of the verification with more differences. They were found by comparison with `library`."""
        return replace(
            self,
            differences=(*self.differences, *wrong),
            differing=self.differing + len(wrong),
            asked=" and ".join(filter(None, (self.asked, library))),
        )

    @property
    def agrees(self) -> bool:
        return self.differing == 0 and not self.is_empty

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was compared. Then the check proves nothing.

        A comparison of rows always counts, even if a table without steps has no rows to compare.
        """
        return self.words == 0 and self.differing == 0 and self.compared != "rows"

    @property
    def sentence(self) -> str:
        if self.agrees:
            give = "give" if " and " in self.asked else "gives"
            also = f", and {self.asked} {give} the same tokens" if self.asked else ""
            if self.renumbered:
                cut = count_sentence(self.words, f"{self.compared} are split the same way{also}")
                return f"verified: {cut}, but the file and the table have different ids: {self.renumbered}"
            return f"verified: {count_sentence(self.words, f'{self.compared} agree{also}')}"
        if self.is_empty:
            return f"not verified: there were no {self.compared} to compare"
        compared = count_text(self.words, self.compared.removesuffix("s"))
        return f"not verified: {count_text(self.differing, 'difference')} in {compared}{self.cause}"


def verify(
    data: bytes,
    format: Format,
    history: History,
    *,
    name: str = "the file",
    text: str = "",
    beside: Beside = no_sidecar_files,
    work: Work = ALONE,
    apart: bool = False,
) -> Verification:
    """Check that a file splits texts into the same tokens as the history.

    `data` is the content of the file, and `name` is its name. `text` is compared in addition to the usual samples. With
    `apart`, the library of the format encodes in another process, so that other work can continue.
    """
    numbered = format.numbers(history)
    cannot_hold = tuple(format.can_hold(history))
    renumbered = _first_changed_id(history, numbered)
    if renumbered:
        cannot_hold += (
            f"The file gives tokens other ids than this table: {renumbered}. Encoded texts and trained models "
            "that use the ids of the table do not fit the file.",
        )
    stated = format.differences(data, history)
    if stated is not None:
        first = tuple(stated[:LISTED])
        return Verification(format.name, len(history), first, len(stated), cannot_hold, compared="rows")
    with peer_of(format, data, history, name, beside, apart=apart) as loaded:
        try:
            opened = format.open(data, name, beside)
        except BpeError as error:
            return Verification(format.name, 0, (f"The file cannot be read back: {error}",), 1, cannot_hold)
        comparison = Comparison(history, opened, format, numbered, work)
        comparison.compare_columns()
        peer = _loaded_by_peer(loaded, format, comparison)
        _compare_samples(comparison, text, peer, work)
    asked = format.peer_name if peer else ""
    sentences = comparison.found
    return Verification(
        format.name,
        len(comparison.ours.words),
        tuple(sentences[:LISTED]),
        len(sentences),
        cannot_hold,
        asked,
        renumbered=renumbered,
        cause=comparison.cause(),
    )


def _loaded_by_peer(loaded: Callable[[], Peer | None], format: Format, comparison: Comparison) -> Peer | None:
    """Load the file with the library of the format.

    Return None if there is no such library, or if it refuses the file. A refusal is added to the differences in
    `comparison`.
    """
    try:
        with throwing_exceptions():
            return loaded()
    except Exception as error:  # any exception of another library
        comparison.found.append(plain(f"{format.peer_name} does not load the file: {error}", LONGEST_SENTENCE))
    return None


def _compare_samples(comparison: Comparison, text: str, peer: Peer | None, work: Work) -> None:
    samples = comparison.ours.samples(text)
    while some := list(islice(samples, AT_ONCE)):
        comparison.compare(some, peer)
        work.progress(Progress("verifying", len(comparison.ours.words), sampling.WANTED_WORDS, "words"))
        if work.cancelled():
            raise Cancelled("The check was stopped. Existing files are unchanged.")


def _first_changed_id(history: History, numbers: Int64s) -> str:
    """Return a phrase about the first id that differs in the file, such as `300 becomes 301`.

    If tokens without an id are the only difference, the phrase says so. It is empty if all ids are equal.
    """
    own = own_numbers(history)
    others = np.flatnonzero((numbers != own) & (numbers != NO_NUMBER))
    if not len(others):
        return "some tokens have no id" if not np.array_equal(numbers, own) else ""
    id = int(others[0])
    return f"{own[id]:,} becomes {numbers[id]:,}"


class Comparison:
    """The comparison of a history with the table that was read back from its file. Both encode samples of text."""

    def __init__(
        self, history: History, opened: OpenedTable, format: Format, numbers: Int64s, work: Work = ALONE
    ) -> None:
        self.found: list[str] = []
        self._signs_of_all = Counter[str]()
        self._signs_of_others = Counter[str]()
        self.ours = sampling.CheckedTokenizer(history.numbered(numbers), format)
        own = opened.history.recipe if format.holds_splitting else self.ours.recipe
        self._theirs = sampling.CheckedTokenizer(opened.history, format, own)
        self._peer_name = format.peer_name
        self._others = 0  # samples that differ
        for checked in (self.ours, self._theirs):
            checked.tokenizer.expect(sampling.WANTED_WORDS * LETTERS, work)

    def compare(self, samples: list[str], peer: Peer | None) -> None:
        """Encode the samples with the history, with the table that was read back, and with the library `peer`.

        Store a sentence for each difference.
        """
        both = self.ours.answers(samples), self._theirs.answers(samples)
        for sample, expected, read_back in zip(samples, *both, strict=True):
            before = len(self.found)
            self._note(sample, expected, read_back, "the file as it is read back")
            if peer is not None:
                self._note(sample, expected, sampling.answer_of(peer, sample), self._peer_name)
            signs = set(sample)
            self._signs_of_all.update(signs)
            if len(self.found) > before:
                self._signs_of_others.update(signs)
                self._others += 1

    def cause(self) -> str:
        """Return a phrase that names a character that may cause the differences.

        All samples that are split differently contain this character, and hardly any other sample does. The phrase is
        empty if there is no such character.
        """
        shared = [sign for sign, often in self._signs_of_others.items() if often == self._others]
        rarest = min(shared, key=self._signs_of_all.__getitem__, default="")
        if rarest and self._others > 1 and self._signs_of_all[rarest] <= MOSTLY * self._others:
            return f", all with {quoted(rarest)} (U+{ord(rarest):04X}) in them"
        return ""

    def _note(self, sample: str, expected: list[int], other: object, whose: str) -> None:
        if difference := self.ours.difference(sample, expected, other, whose):
            self.found.append(difference)

    def compare_columns(self) -> None:
        """Compare the columns of the history with the columns that were read back, if both have counts."""
        theirs = self._theirs.history
        ours = self.ours.history
        if len(theirs) and theirs.has_counts and ours.has_counts:
            for name, column in ours.columns._asdict().items():
                if not np.array_equal(column, getattr(theirs.columns, name)):
                    self.found.append(f"The column {name} is read back differently.")


@dataclass(frozen=True)
class PreparedExport:
    """Files that were written in memory and checked, and that are not in place yet."""

    path: Path  # the main file, or the folder of the files
    format: Format
    merges: int
    steps: str  # the number of merges, in words
    files: Mapping[Path, bytes]  # the main file first
    verification: Verification
    id_map: IdMap | None = None  # the map that the folder holds

    @property
    def replaces(self) -> list[Path]:
        return [path for path in self.files if path.exists()]

    def read_back(self) -> History:
        """Return the history that the main file and its sidecar files contain."""
        main = next(iter(self.files))
        by_name = {path.name: content for path, content in self.files.items()}
        return self.format.open(self.files[main], str(main), by_name.get).history

    def put_in_place(self) -> None:
        """Write all files. Old files are replaced only after all new files are written.

        `path` is one of the files, or the folder of all files. A new folder appears together with all its files.
        """
        folder = next((path for path in self.files if path.is_dir()), None)
        if folder is not None:  # checked now, not after another file has been replaced
            raise OutputError(f"Could not write {folder}: it is a folder. Existing files are unchanged.")
        is_file = self.path in self.files
        home = self.path.parent if is_file else self.path
        with (
            folder_for(home) if not is_file else nullcontext(home) as place,
            write_together(*_places_in(place, home, self.files)) as files,
        ):
            for file, content in zip(files, self.files.values(), strict=True):
                file.write(content)


def _places_in(place: Path, home: Path, files: Iterable[Path]) -> list[Path]:
    """Return the paths in the folder `place` that correspond to files of the folder `home`.

    Make the folders inside `place` that are missing.
    """
    places = [place / path.relative_to(home) for path in files]
    for folder in {path.parent for path in places} - {place}:
        folder.mkdir(exist_ok=True)
    return places


@without_garbage_collection()
@cached_results()
def prepare_export(
    history: History,
    path: Path | str,
    *,
    format: Format | None = None,
    merges: int | None = None,
    text: str = "",
    work: Work = ALONE,
    apart: bool = False,
) -> PreparedExport:
    """Write the first `merges` merges to files in memory, and check the files.

    If no format is given, the name decides the format. With `apart`, the library of the format encodes in another
    process, so that other work can continue. An OutputError is raised if files of the format cannot hold the history at
    all.
    """

    def report(where: Progress) -> None:
        if work.cancelled():
            raise Cancelled("The export was stopped. Existing files are unchanged.")
        work.progress(where)

    target = Path(path)
    chosen = format or format_for(target)
    target = chosen.main_file(target)
    table = history if merges is None else history.first(merges)
    chosen.refuse_the_impossible(table)
    files = _written(table, chosen, target, report)
    by_name = {file.name: content for file, content in files.items()}
    verification = verify(
        files[target], chosen, table, name=str(target), text=text, beside=by_name.get, work=work, apart=apart
    )
    return PreparedExport(target, chosen, len(table), steps_in_words(table), files, verification)


def _written(table: History, chosen: Format, target: Path, report: ProgressReport) -> dict[Path, bytes]:
    files = {target: io.BytesIO()}
    chosen.write(table, files[target], progress=report)
    for companion, write in chosen.companions(target).items():
        write(table, files.setdefault(companion, io.BytesIO()))
    return {path: file.getvalue() for path, file in files.items()}
