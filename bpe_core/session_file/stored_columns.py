"""Functions that convert histories and word tables to rows of the database, and back.

The conversion back checks the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, damage_error
from bpe_core.formats.merge_table import KINDS
from bpe_core.formats.rebuilding import check_steps, in_columns
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import Float32s, Scores, joined_lengths
from bpe_core.history.history import Columns, Reasons
from bpe_core.history.token_texts import check_budget
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.checksums import MERGES_IN_A_PART
from bpe_core.session_file.values import SavedRun

STEPS = (
    "SELECT step, left_id, right_id, ifnull(count, -1), ifnull(runner_up_left, -1), ifnull(runner_up_right, -1), "
    "ifnull(runner_up_count, -1), ifnull(tokens_left, -1) FROM merges WHERE run = ? ORDER BY step LIMIT ?"
)


def merge_columns(stored: Iterable[Sequence[int]], alphabet: Alphabet, where: str, recipe: Recipe) -> Columns:
    """Check the stored steps of a run, and return them as columns.

    Raise FormatError for the first impossible step.
    """
    rows = list(stored)
    if len(rows) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} steps.")
    table = np.array(rows, np.int64).reshape(-1, 8).T
    steps = table[0]
    columns = [*table[1:]]
    wrong = steps != np.arange(1, len(steps) + 1)
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise FormatError(
            f"{where}, step {row:,}: the number of this step does not follow the number of the step before."
        )
    check_steps(columns, alphabet, recipe, lambda row: f"{where}, step {row + 1:,}")
    joins = table[2] >= 0
    lengths = joined_lengths([len(symbol.text) for symbol in alphabet.symbols], table[1][joins], table[2][joins])
    check_budget(lengths, len(alphabet), where)
    return in_columns(columns)


# a column's name, the index of the piece, the kind of its numbers, and the numbers
ReasonChunk = tuple[str, int, str, bytes]


def reason_chunks(reasons: Reasons, written: int) -> Iterator[ReasonChunk]:
    """Yield the reasons for the steps in parts. Each part has its own checksum in the file.

    The database already holds the first `written` steps. So the first part that is yielded contains the step after
    these.
    """
    for name, column in reasons.items():
        kind = column.dtype.newbyteorder("<")
        for place in range(written // MERGES_IN_A_PART, -(-len(column) // MERGES_IN_A_PART)):
            piece = column[place * MERGES_IN_A_PART : (place + 1) * MERGES_IN_A_PART]
            yield name, place, kind.str, piece.astype(kind).tobytes()


def reasons_in(chunks: Iterable[ReasonChunk], learned: int, where: str) -> Reasons:
    """Join the stored pieces of each column of reasons.

    Raise FormatError if a piece is missing or has the wrong type, or if a column does not have one value for each
    step.
    """
    kinds: dict[str, str] = {}
    pieces: dict[str, list[bytes]] = {}
    for name, place, kind, numbers in chunks:
        is_next = place == len(pieces.setdefault(name, []))
        if kind not in KINDS or kinds.setdefault(name, kind) != kind or not is_next:
            raise damage_error(f"{where}: the values by which its steps were chosen are damaged.")
        pieces[name].append(numbers)
    columns = {name: (b"".join(parts), np.dtype(kinds[name])) for name, parts in pieces.items()}
    if any(len(numbers) != learned * kind.itemsize for numbers, kind in columns.values()):
        raise FormatError(
            f"{where}: the number of values by which its steps were chosen differs from the number of its steps."
        )
    return {name: np.frombuffer(raw, kind).astype(kind.newbyteorder("=")) for name, (raw, kind) in columns.items()}


SCORE_KINDS = ("<f4", "<f8")


def score_rows(run: SavedRun | None) -> list[tuple[int, Float32s]]:
    """Return the rows of scores of a run. Each row comes with the number of steps after which it was computed."""
    if run is None or run.history is None or run.history.scores is None:
        return []
    return list(zip(run.history.scores.since, run.history.scores.rows, strict=True))


def scores_in(
    rows: Iterable[tuple[int, int, str, bytes]], columns: Columns, tokens_at_first: int, where: str
) -> Scores | None:
    """Join the rows of scores. Each row was computed after a number of steps.

    Raise FormatError if a row lacks the score of a token that these steps have not dropped.
    """
    since = list[int]()
    scores = list[Float32s]()
    for place, steps, kind, numbers in rows:
        is_next = place == len(since) and (steps >= since[-1] if since else steps == 0)
        size = tokens_at_first - steps
        known = kind in SCORE_KINDS and len(numbers) == np.dtype(kind).itemsize * size
        if not (is_next and known) or steps > len(columns.left):
            raise damage_error(f"{where}: the scores of the tokens are damaged.")
        since.append(steps)
        scores.append(np.frombuffer(numbers, kind).astype(np.dtype(kind).newbyteorder("=")))
    if not since:
        return None
    if (columns.right >= 0).any():
        raise FormatError(f"{where}: its tokens have scores, but its steps are merges, which have none.")
    return Scores(tuple(since), tuple(scores), columns.left)


WORDS_IN_A_CHUNK = 65_536
BYTES_IN_A_CHUNK = 64 * 2**20  # a single longer word still makes one chunk; SQLite holds up to 10^9

WordChunk = tuple[int, bytes, bytes, bytes]  # the number of words, their text, lengths, counts


def word_chunks(table: WordTable) -> Iterator[WordChunk]:
    start = 0
    while start < len(table):
        most = np.searchsorted(table.starts, table.starts[start] + BYTES_IN_A_CHUNK, side="right") - 1
        stop = min(max(int(most), start + 1), start + WORDS_IN_A_CHUNK, len(table))
        text = table.text[table.starts[start] : table.starts[stop]]
        lengths = np.diff(table.starts[start : stop + 1])
        counts = table.counts[start:stop]
        yield stop - start, text.tobytes(), lengths.astype("<i4").tobytes(), counts.astype("<i8").tobytes()
        start = stop


def word_table(chunks: Iterable[WordChunk], where: str) -> WordTable:
    """Join the chunks of a word table. Raise FormatError if a chunk is damaged."""
    texts = []
    lengths = []
    counts = []
    for number, (words, text, chunk_lengths, chunk_counts) in enumerate(chunks):
        if len(chunk_lengths) != 4 * words or len(chunk_counts) != 8 * words:
            raise FormatError(f"{where}: part {number} of a word table has the wrong size.")
        texts.append(text)
        lengths.append(np.frombuffer(chunk_lengths, "<i4"))
        counts.append(np.frombuffer(chunk_counts, "<i8"))
        if int(lengths[-1].astype(np.int64).sum()) != len(text) or (lengths[-1] <= 0).any():
            raise FormatError(
                f"{where}: the lengths of the words in part {number} of a word table do not add up to the length of "
                "its text."
            )
    whole = b"".join(texts)
    starts = np.zeros(sum(map(len, lengths)) + 1, np.int64)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=starts[1:], dtype=np.int64)
    numbers = np.concatenate(counts).astype(np.int64) if counts else np.zeros(0, np.int64)
    table = WordTable(np.frombuffer(whole, np.uint8), starts, numbers)
    _check(table, whole, where)
    return table


def _check(table: WordTable, whole: bytes, where: str) -> None:
    weight = np.diff(table.starts).astype(np.float64) @ table.counts.astype(np.float64)
    if (table.counts <= 0).any() or weight >= 2.0**62:
        raise FormatError(f"{where}: a word count is not positive, or larger than in any corpus.")
    try:
        whole.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: the words are not UTF-8 text at byte {error.start:,}.") from error
    if ((table.text[table.starts[:-1]] & 0xC0) == 0x80).any():
        raise FormatError(f"{where}: a word begins in the middle of a character.")
