"""The measures of how well the boundaries between tokens agree with the borders of known morphemes.

Each word is split as if a space came before it, as in most texts. Each word counts once, even if it is frequent.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.history.history import History
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.benchmark import Columns, Tokenizers, contenders_of
from bpe_core.measures.measures import OF_MORPHEMES, part_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, CancelCheck, Work, never_cancelled
from bpe_core.support.small_files import read_small_file
from bpe_core.support.threads import Job, WorkerPool
from resources import morpheme_samples

Morphemes = Mapping[str, Sequence[str]]  # the morphemes of each word in order
Lists = Mapping[str, Morphemes]  # lists by name, such as the language

BLANK = " "
PLAIN = Recipe(pattern="none")  # each tokenizer splits the texts in its own way
EXAMPLE = "unhappy<TAB>un happy"
OF_MORPH_SCORE = ("full_word", "pt1", "rest")  # the columns of MorphScore's tables


class SplitWordList:
    def __init__(self, morphemes: Morphemes, history: History, cancelled: CancelCheck = never_cancelled) -> None:
        table = WordTable.from_counts((f"{BLANK}{word}".encode(), 1) for word in morphemes)
        self._cut = TokenizedWords.of(table, PLAIN, history, cancelled=cancelled)
        self._inside = np.ones(len(table.text), np.bool_)
        self._inside[table.starts[:-1]] = self._inside[table.starts[:-1] + 1] = False  # before and after the blank
        self._borders = np.zeros(len(table.text), np.bool_)
        for start, parts in zip(table.starts[:-1].tolist(), morphemes.values(), strict=True):
            ends = np.cumsum([len(part.encode()) for part in parts[:-1]], dtype=np.int64)
            self._borders[start + len(BLANK) + ends] = True
        self._starts = table.starts[:-1]

    def whole(self, at: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the words that are a single token after `at` steps."""
        cuts = self._cut.starts_inside_words(at) & self._inside
        is_whole: npt.NDArray[np.bool_] = np.add.reduceat(cuts, self._starts, dtype=np.int64) == 0
        return is_whole

    def counted(self, at: int) -> dict[str, float]:
        """Count the boundaries between tokens after `at` steps, and compare them with the borders of morphemes.

        Return a dictionary from measures to values. `MEASURES` explains the measures.
        """
        cuts = self._cut.starts_inside_words(at) & self._inside
        borders = self._borders
        wrong = np.add.reduceat(cuts != borders, self._starts, dtype=np.int64)
        hits = int(np.count_nonzero(cuts & borders))
        is_split = ~self.whole(at)
        of_split = [
            int(np.add.reduceat(marks, self._starts, dtype=np.int64)[is_split].sum())
            for marks in (cuts & borders, borders)
        ]
        words = len(self._starts)
        counts = {"words": words, "borders": int(borders.sum()), "cuts": int(cuts.sum()), "hits": hits}
        return {
            **counts,
            "precision": part_of(hits, counts["cuts"]),
            "recall": part_of(hits, counts["borders"]),
            "f1": part_of(2 * hits, counts["cuts"] + counts["borders"]),
            "morph_score": part_of(*of_split),
            "share_whole": int(self.whole(at).sum()) / max(1, words),
            "share_alike": int((wrong == 0).sum()) / max(1, words),
        }


def morpheme_agreement(
    tokenizers: Tokenizers, lists: Lists, *, threads: int | None = None, work: Work = ALONE
) -> DataTable:
    """Return a table with a row for each tokenizer and list, sorted by tokenizer. `MEASURES` explains the columns."""
    contenders = contenders_of(tokenizers)
    for name, morphemes in lists.items():
        checked(morphemes, name)

    def piece(history: History, at: int) -> Job[list[dict[str, float]]]:
        return lambda stopped: [SplitWordList(morphemes, history, stopped).counted(at) for morphemes in lists.values()]

    with WorkerPool(threads, work) as pool:
        pieces = [piece(contender.tokenizer.history, contender.at) for contender in contenders]
        rows = pool.all(pieces, "measuring", "tokenizers")
    counted = [measures for row in rows for measures in row]
    jobs = [(contender, name) for contender in contenders for name in lists]
    columns: Columns = {
        "tokenizer": [job.name for job, _ in jobs],
        "text": [name for _, name in jobs],
        "step": np.array([job.at for job, _ in jobs], np.int64),
        "vocabulary": np.array([job.tokenizer.vocabulary_size(job.at) for job, _ in jobs], np.int64),
        **{name: np.array([measures[name] for measures in counted]) for name in ("words", *OF_MORPHEMES)},
    }
    return DataTable(columns)


def checked(morphemes: Morphemes, name: str) -> Morphemes:
    if not morphemes:
        raise CorpusError(f"The list {name!r} holds no words; write one word in each line, as in {EXAMPLE}.")
    for word, parts in morphemes.items():
        if isinstance(parts, str):
            raise CorpusError(
                f"The list {name!r} gives {parts!r} as the morphemes of {word!r}. Give the morphemes as a list of "
                "texts."
            )
        if not word or "".join(parts) != word or not all(parts):
            raise CorpusError(
                f"The list {name!r} gives {' '.join(parts)!r} as the morphemes of {word!r}, but together these "
                "morphemes do not spell the word. Correct the morphemes."
            )
    return morphemes


def read_morphemes(path: Path | str) -> dict[str, tuple[str, ...]]:
    """Return a dictionary from each word of a file to its morphemes.

    Each line of the file has a word, a tab, and the morphemes separated by spaces. The file may also be a table of
    MorphScore.
    """
    lines = read_small_file(path, "the list of morphemes", CorpusError).splitlines()
    if lines and {*OF_MORPH_SCORE} <= {*lines[0].split(",")}:
        return checked_morph_score(csv.DictReader(lines), str(path))
    return morphemes_in(lines, str(path))


def checked_morph_score(rows: Iterable[Mapping[str, str]], name: str) -> dict[str, tuple[str, ...]]:
    """Return a dictionary from each word of a MorphScore table to its parts.

    Rows whose parts do not spell their word are left out, because no split can agree with them. If a word has several
    rows, the first one counts. `name` is the name of the file for errors.

    >>> rows = [{"full_word": "lows", "pt1": "low", "rest": "s"}, {"full_word": "new", "pt1": "old", "rest": "er"}]
    >>> checked_morph_score(rows, "a table")
    {'lows': ('low', 's')}
    """
    words: dict[str, tuple[str, ...]] = {}
    for row in rows:
        word, *parts = (row[column] or "" for column in OF_MORPH_SCORE)
        if word and "".join(parts) == word:
            words.setdefault(word, tuple(filter(None, parts)))
    checked(words, name)
    return words


def own_lists() -> dict[str, dict[str, tuple[str, ...]]]:
    return {name: morphemes_in(lines, name) for name, lines in morpheme_samples().items()}


def morphemes_in(lines: Iterable[str], name: str) -> dict[str, tuple[str, ...]]:
    r"""Return a dictionary from the word of each line to its morphemes. `name` is the file's name in error messages.

    >>> morphemes_in(["unhappy\tun happy", "", "# a remark", "low\tlow"], "a list")
    {'unhappy': ('un', 'happy'), 'low': ('low',)}
    """
    words: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        word, tab, morphemes = line.strip().partition("\t")
        parts = tuple(morphemes.split())
        if not tab or "".join(parts) != word:
            raise CorpusError(
                f"{name}, line {number:,}: {line.strip()[:60]!r} is not a word with its morphemes; write it as "
                f"{EXAMPLE}."
            )
        if words.setdefault(word, parts) != parts:
            raise CorpusError(
                f"{name}, line {number:,}: {word[:60]!r} has other morphemes in an earlier line. Keep one of the lines."
            )
    if not words:
        raise CorpusError(f"{name} holds no words with morphemes; write one word in each line, as in {EXAMPLE}.")
    return words
