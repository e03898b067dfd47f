"""Tests that encoding with the kernels gives the same tokens as encoding in plain Python.

Other tests compare plain Python with the reference.
"""

from __future__ import annotations

import random
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels import readiness
from bpe_core.kernels.word_memory import ENTRIES, LAST_ENTRY, SLOT, Memory, grow_slots, next_slot
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting import batches, compiled_encoder
from bpe_core.segmenting.batches import FIRST_TEXTS, Jobs, JoinedTexts, Texts, Unread, encode_by_kernels
from bpe_core.segmenting.boundaries import PlacedSymbols
from bpe_core.segmenting.compiled_encoder import CompiledEncoder
from bpe_core.segmenting.cutting import Cutting
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import UInt64s
from bpe_core.text.corpus import Corpus
from bpe_core.text.scanner import ScanTable
from tests.core.random_training import merge_tables, recipes, texts, words
from tests.core.specified_encoder import SpecifiedWords, specified_words
from tests.shared import available_texts, samples_of, text_of


def both_encoders(history: History) -> tuple[SpecifiedWords, CompiledEncoder]:
    return specified_words(history), CompiledEncoder(history, Cutting(history.recipe))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a learned or random merge table, with a named pattern that fits its recipe or with a custom pattern."""
    history = draw(st.builds(reference.train, words(), recipes()) | merge_tables())
    patterns = ["whitespace", "gpt2", "cl100k", "o200k", "english"] + ["none"] * (history.recipe.marker == "none")
    changes = draw(st.sampled_from([*(dict(pattern=name) for name in patterns), OWN_PATTERN]))
    recipe = history.recipe.with_changes(unit=draw(st.sampled_from(["file", "line"])), **changes)
    return History(recipe, history.alphabet, history.columns)


OWN_PATTERN = dict(pattern="custom", custom_pattern=r" ?[a-z]+|\d")

MORE_TEXTS = texts() | st.lists(st.sampled_from(["low", "lower", " ", "\n", "newest", "aaaa", "é漢", "</w>"])).map(
    "".join
)


@given(history=histories(), text=MORE_TEXTS, data=st.data())
def test_kernels_encode_to_the_same_tokens_as_plain_python_after_any_merge(
    history: History, text: str, data: st.DataObject
) -> None:
    plain, compiled = both_encoders(history)
    normalized = normalize(text, history.recipe)
    for _ in range(3):
        at = data.draw(st.integers(0, len(history)), label="at")
        assert compiled.ids(normalized, at).tolist() == plain.ids(normalized, at).tolist()


@given(history=histories(), text=MORE_TEXTS)
def test_kernels_and_plain_python_return_the_same_symbols_and_ranks_and_positions(history: History, text: str) -> None:
    plain, compiled = both_encoders(history)
    normalized = normalize(text, history.recipe)
    symbols, wanted = compiled.symbols(normalized), plain.symbols(normalized)
    for column in PlacedSymbols._fields:
        ours, expected = getattr(symbols, column), getattr(wanted, column)
        assert ours.dtype == expected.dtype
        assert ours.tolist() == expected.tolist()


@given(history=histories(), text=MORE_TEXTS)
def test_kernels_return_the_same_rank_for_every_byte_as_plain_python_does(history: History, text: str) -> None:
    plain, compiled = both_encoders(history)
    if plain.spelling.symbol_of_byte is not None:
        assert compiled.byte_ranks(text).tolist() == plain.byte_ranks(text).tolist()


@given(
    table=merge_tables(),
    pieces=st.lists(st.tuples(st.text("abc", min_size=1, max_size=9), st.integers(1, 90)), min_size=1, max_size=8),
)
def test_kernels_split_long_repetitive_words_as_plain_python_does(
    table: History, pieces: list[tuple[str, int]]
) -> None:
    """The kernels use one algorithm for short words and a different one for long words.

    The algorithm for long words is most likely to fail if a token is repeated many times.
    """
    plain, compiled = both_encoders(table)
    text = "".join(piece * times for piece, times in pieces)
    for at in {0, len(table) // 2, len(table)}:
        assert compiled.ids(text, at).tolist() == plain.ids(text, at).tolist()
    assert compiled.symbols(text).ranks.tolist() == plain.symbols(text).ranks.tolist()


def overlapping_history(preset: str = "raw-bytes") -> History:
    """Make random merges of a and b, and of the tokens made from a and b."""
    rng = random.Random(5)
    ids, pairs = [97, 98], []
    for index in range(300):
        pairs.append((rng.choice(ids[-12:]), rng.choice(ids[-12:])))
        ids.append(256 + index)
    return History.from_pairs(Recipe.preset(preset), Alphabet.of_bytes(), pairs)


def test_kernels_split_new_words_of_every_length_into_the_same_tokens_as_plain_python_does() -> None:
    """The words have all lengths from 1 to 70 letters, and some occur twice before their tokens are stored."""
    rng = random.Random(8)
    words = ["".join(rng.choices("ab", (1, share), k=length)) for length in range(1, 71) for share in (0.1, 1, 9)]
    words *= 2
    rng.shuffle(words)
    words = [word for word in words for _ in range(rng.randint(1, 3))]
    plain, compiled = both_encoders(overlapping_history("gpt2"))
    for text in (" ".join(words), "\n".join(words), " ".join(reversed(words))):
        assert compiled.ids(text, 300).tolist() == plain.ids(text, 300).tolist()


def test_kernels_split_long_words_that_consist_of_the_letters_a_and_b_as_plain_python_does() -> None:
    plain, compiled = both_encoders(overlapping_history())
    rng = random.Random(6)
    for probability in (0.0, 0.1, 0.5):
        text = "".join("ab"[rng.random() < probability] for _ in range(4_000))
        assert compiled.byte_ranks(text).tolist() == plain.byte_ranks(text).tolist()


def many_words(count: int) -> str:
    rng = random.Random(7)
    return " ".join("".join(rng.choices("abcdefgh", k=rng.randint(1, 30))) for _ in range(count))


def small_history() -> History:
    counts = {"abc": 5, " ab": 4, "def": 3, " gh": 3, "ababab": 2, " cde": 9}
    return reference.train(WordTable.from_counts(counts), Recipe.preset("gpt2", merges=40))


def test_the_cache_of_encoded_words_grows_and_is_emptied_when_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, compiled = both_encoders(small_history())
    text = many_words(20_000)
    expected = plain.ids(text, 20).tolist()
    assert compiled.ids(text, 20).tolist() == expected
    assert compiled.ids(text, 20).tolist() == expected  # now from memory
    slots = compiled._desks[-1].memory.slots
    assert np.count_nonzero(slots[SLOT - 1 :: SLOT]) <= 3 * len(slots) // SLOT // 8
    monkeypatch.setattr(compiled_encoder, "MOST_WORDS", 5_000)
    assert both_encoders(small_history())[1].ids(text, 20).tolist() == expected


@pytest.mark.parametrize("begun", range(16))
def test_the_word_cache_visits_every_slot_once_and_both_slots_of_a_cache_line_together(
    begun: int,
) -> None:
    slots = np.zeros(16 * SLOT, np.uint64)
    start = place = np.uint64(begun * SLOT)
    visited = []
    for _ in range(16):
        visited.append(int(place))
        place = next_slot(slots, place, start)
    assert place == start
    assert sorted(visited) == list(range(0, 16 * SLOT, SLOT))
    lines = [slot // (2 * SLOT) for slot in visited]
    assert lines[::2] == lines[1::2]


def test_a_slot_that_a_new_word_fills_is_not_taken_for_a_word_that_is_too_long_to_be_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A word of more than 256 bytes has the key of an empty slot. New words of the same block may fill this slot."""
    monkeypatch.setattr(compiled_encoder, "WORDS_AT_FIRST", 64)
    plain, _ = both_encoders(small_history())
    words, too_long = many_words(4_000).split(" "), "abcdefgh" * 40
    for start in range(0, len(words), 40):
        text = " ".join([*words[start : start + 40], too_long])
        assert both_encoders(small_history())[1].ids(text, 20).tolist() == plain.ids(text, 20).tolist()


@pytest.mark.parametrize("written", range(4))
def test_slots_that_another_thread_is_about_to_fill_are_not_read(written: int) -> None:
    """Another thread may have written none, one or all of the numbers before the last number, which is a mark."""
    plain, compiled = both_encoders(small_history())
    text = f"{many_words(300)} {'abcdefgh' * 40}"
    expected = plain.ids(text, 20).tolist()
    assert compiled.ids(text, 20).tolist() == expected
    slots = compiled._desks[-1].memory.slots.reshape(-1, SLOT)
    filled = slots[:, -1] != 0
    slots[filled, written:-1] = 0
    slots[filled, -1] = 1
    assert compiled.ids(text, 20).tolist() == expected


def test_threads_that_fill_one_word_cache_concurrently_return_equal_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most words are new, and several threads meet each word while the cache grows and is emptied."""
    for owner, name, value in ((compiled_encoder, "WORDS_AT_FIRST", 64), (batches, "LARGEST_JOB", 3_000)):
        monkeypatch.setattr(owner, name, value)
    monkeypatch.setattr(batches, "LEAST_JOB", 3_000)
    history, text = small_history(), many_words(9_000) * 3
    cuts, wanted = SafeCuts.of(history.recipe), both_encoders(history)[1].ids(text, 20)
    for most_words in (compiled_encoder.MOST_WORDS, 2_000):
        monkeypatch.setattr(compiled_encoder, "MOST_WORDS", most_words)
        for threads in (2, 5):
            compiled = both_encoders(history)[1]
            for _ in range(2):
                ids, _ = encode_by_kernels(compiled, Texts.of([text]), lambda: cuts, 20, threads)
                assert np.array_equal(ids, wanted)


def test_a_thread_keeps_using_the_old_word_cache_while_another_thread_enlarges_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one thread enlarges the cache, the other uses the old cache until it is full, and then waits.

    Afterwards both threads use the new cache.
    """
    began, go_on = threading.Event(), threading.Event()

    def grow(old: UInt64s, new: UInt64s) -> None:
        began.set()
        assert go_on.wait(60)
        grow_slots(old, new)

    def full(memory: Memory) -> Memory:
        memory.number[ENTRIES] = memory.number[LAST_ENTRY]
        return memory

    monkeypatch.setattr(compiled_encoder, "grow_slots", grow)
    met = compiled_encoder.RememberedWords(compiled_encoder.MOST_WORDS)
    first, second = met.part(), met.part()
    slots = len(first.slots) // SLOT
    usual, fullest = 3 * slots // 8, 3 * slots // 8 + slots // compiled_encoder._MEANWHILE

    def entered() -> int:
        return int(full(first).number[ENTRIES] + full(second).number[ENTRIES])

    while entered() < usual:
        first = met.more(first)
    with ThreadPoolExecutor(2) as pool:
        larger = pool.submit(met.more, first)
        assert began.wait(60)
        while entered() < fullest:
            assert met.more(second).slots is second.slots is first.slots
        waiting = pool.submit(met.more, second)
        assert not waiting.done()
        go_on.set()
        assert larger.result(60).slots is waiting.result(60).slots
    assert len(larger.result().slots) == 4 * len(first.slots)


def test_threads_that_encode_at_different_steps_do_not_disturb_each_other() -> None:
    history = small_history()
    plain, compiled = both_encoders(history)
    text = many_words(3_000)
    expected = {at: plain.ids(text, at).tolist() for at in range(0, len(history), 3)}
    with ThreadPoolExecutor(8) as pool:
        asked = [at for at in expected for _ in range(6)]
        for at, ids in zip(asked, pool.map(lambda at: compiled.ids(text, at).tolist(), asked), strict=True):
            assert ids == expected[at]


def test_an_encoder_keeps_only_the_caches_of_words_that_it_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number of steps has its own cache, which takes a megabyte or more, and a user can visit every step."""
    caches: weakref.WeakSet[compiled_encoder.RememberedWords] = weakref.WeakSet()
    make = compiled_encoder.RememberedWords

    def make_known(most_words: int) -> compiled_encoder.RememberedWords:
        cache = make(most_words)
        caches.add(cache)
        return cache

    monkeypatch.setattr(compiled_encoder, "RememberedWords", make_known)
    plain, compiled = both_encoders(small_history())
    text = many_words(50)
    for at in range(compiled_encoder.MEMORIES_KEPT + 5):
        assert compiled.ids(text, at).tolist() == plain.ids(text, at).tolist()
    assert len(caches) == compiled_encoder.MEMORIES_KEPT


@given(
    history=histories(),
    batch=st.lists(MORE_TEXTS, max_size=9),
    threads=st.integers(1, 3),
    job=st.integers(1, 40),
    joins_from=st.sampled_from([0, 1 << 14]),
)
def test_encoding_a_batch_of_texts_gives_the_same_ids_as_encoding_each_text(
    history: History, batch: list[str], threads: int, job: int, joins_from: int
) -> None:
    """The texts are given as a list, as a part of an Arrow array, and as bytes."""
    plain, compiled = both_encoders(history)
    if not compiled.finds_words:
        return
    at, cuts = len(history), SafeCuts.of(history.recipe, with_specials=False)
    wanted = [plain.ids(text, at).tolist() for text in batch]
    array = pa.array(["more", *batch, "behind"])[1:-1]
    for given_texts in (batch, [text.encode() for text in batch], array, pa.chunked_array([array])):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("LEAST_JOB", "LARGEST_JOB", "LARGEST_ALONE"):
                patch.setattr(batches, name, job)
            ids, offsets = encode_by_kernels(compiled, Texts.of(given_texts), lambda: cuts, at, threads)
        assert [ids[start:stop].tolist() for start, stop in pairwise(offsets.tolist())] == wanted
    for given_texts in (batch, ["".join(batch)]):  # whose bytes the threads make
        with pytest.MonkeyPatch.context() as patch:
            for name in ("LEAST_JOB", "LARGEST_JOB", "LARGEST_ALONE"):
                patch.setattr(batches, name, job)
            for name, value in {"WORTH_THREADS": 1, "WORTH_JOINING": joins_from, "SAMPLED": 2, "_PARTS": 1}.items():
                patch.setattr(batches, name, value)
            ids, offsets = encode_by_kernels(compiled, Unread.of(given_texts), lambda: cuts, at, threads)
        id_lists = [ids[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]
        assert id_lists == (wanted if given_texts is batch else [plain.ids("".join(batch), at).tolist()])


def test_the_end_of_a_batch_is_divided_into_smaller_parts_only_if_several_threads_encode_the_batch() -> None:
    size, cuts = 10 * batches.LARGEST_ALONE, SafeCuts.of(small_history().recipe)
    texts = Texts.of(["low é" * 12] * (size // 72))
    for threads, largest, least in (
        (1, batches.LARGEST_ALONE, batches.LARGEST_ALONE),
        (2, batches.LARGEST_JOB, batches.LEAST_JOB),
    ):
        parts, _ = texts.parts(lambda: cuts, Jobs.of(texts.size, threads))
        sizes = [len(part(False).data) for part in parts]
        assert sum(sizes) == texts.size
        assert max(sizes) < largest + 100
        assert min(sizes[:-1]) >= least - 100
        taken = sum(sizes) - sizes[-1]
        assert (sizes[-2] < taken / 20) == (threads == 2)


def test_encoding_works_even_if_the_system_allows_only_a_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "SAMPLE", 0)
    history, texts = small_history(), [many_words(50) for _ in range(20)]
    for name in ("LEAST_JOB", "LARGEST_JOB"):
        monkeypatch.setattr(batches, name, 1_000)
    begun: list[threading.Thread] = []
    start = threading.Thread.start

    def start_two(thread: threading.Thread) -> None:
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    encoded = Tokenizer(history).encode_batch(texts, threads=8)
    assert len(begun) == 2
    assert not any(thread.is_alive() for thread in begun)
    assert np.array_equal(encoded.ids, Tokenizer(history).encode_batch(texts, threads=1).ids)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "whitespace", "english", "none"])
def test_many_short_texts_have_the_same_tokens_in_a_batch_as_alone(pattern: str) -> None:
    """A block of words may hold several texts, and may end inside a text.

    Some texts are empty or contain only blanks. Large batches are joined with U+0000, so some texts contain this
    character, too.
    """
    chance = random.Random(2)
    recipe = Recipe.preset("gpt2", merges=200)
    history = learn(count_words(Corpus.from_texts([text_of("prose")]), recipe), recipe)
    tokenizer = Tokenizer(History(recipe.with_changes(pattern=pattern), history.alphabet, history.columns))
    pieces = ["low ", "lower", "", " ", "\n", "  \n ", "é漢", "the end. ", "a" * 20, "b" * 200]
    texts = ["".join(chance.choices(pieces, k=chance.choice([0, 1, 3, 30, 300]))) for _ in range(600)]
    for batch in (
        texts,
        [text.encode() for text in texts],
        [text for text in texts if text.isascii()],
        ["", *texts, ""],
        [*texts, "low\0er", "\0", "low"],
        ["", ""],
        [" "],
    ):
        encoded = tokenizer.encode_batch(batch)
        alone = [tokenizer.encode_to_array(text) for text in batch]
        assert encoded.offsets.tolist() == [0, *np.cumsum([len(ids) for ids in alone]).tolist()]
        assert np.array_equal(encoded.ids, np.concatenate(alone))


@given(
    texts=st.lists(
        st.sampled_from(["low", "é", "日本", "😀 low", "", "l" * 2_000, "日" * 2_000]), min_size=1, max_size=9
    ),
    first=st.sampled_from(["", "low", "日"]),
)
def test_joined_texts_consist_of_the_bytes_of_all_texts_with_a_zero_byte_between_two_texts(
    texts: list[str], first: str
) -> None:
    """The first texts decide whether all texts are joined as strings or as bytes."""
    texts = [first] * FIRST_TEXTS + texts
    joined = JoinedTexts.of(texts)
    assert joined is not None
    assert joined.data.tobytes() == b"\0".join(map(str.encode, texts))
    assert joined.edges == len(texts)
    assert JoinedTexts.of([*texts, "\ud800"]) is None


@pytest.mark.parametrize(
    ("texts", "is_joined_first"),
    [
        (["low"] * 99, True),
        (["low"] * 99 + ["日"], True),  # only the first of many short texts are looked at
        (["日"] * 99, True),
        (["low", "日"] * 50, False),
        (["low " * 500] * 99, True),
        (["low " * 500] * 99 + ["日"], False),
        (["日" * 2_000] * 99, False),
    ],
)
def test_a_batch_of_texts_is_joined_before_encoding_only_if_joining_saves_time(
    texts: list[str], is_joined_first: bool
) -> None:
    assert batches._are_joined_first(texts) == is_joined_first


def test_encoding_a_batch_reports_values_that_are_not_valid_texts() -> None:
    tokenizer = Tokenizer(small_history())
    for batch, message in [
        ("low", "as a list"),
        (["low", 3], "only str or bytes, not int"),
        ([b"low", b"lo\xffw"], "Text 2 of the batch is not valid UTF-8 around its byte 2"),
        (["é".encode()[:1], "é".encode()[1:]], "Text 2 of the batch"),
        (pa.array(["low", None]), "Row 2 of the array is null"),
        (pa.array([1]), "holds no texts"),
        (pa.table({"text": ["low"]}), "give one of its columns"),
    ]:
        with pytest.raises(BpeError, match=message):
            tokenizer.encode_batch(batch)
    with pytest.raises(BpeError, match="at least 1 thread"):
        tokenizer.encode_batch([], threads=0)
    assert [column.tolist() for column in tokenizer.encode_batch([])] == [[], [0]]


def test_encoding_a_batch_in_threads_reports_the_position_of_an_invalid_text_in_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The number in the message counts all texts of the batch, not only the texts of one thread."""
    for name, value in {"LEAST_JOB": 4, "LARGEST_JOB": 4, "WORTH_THREADS": 1, "_PARTS": 1}.items():
        monkeypatch.setattr(batches, name, value)
    compiled, cuts = both_encoders(small_history())[1], SafeCuts.of(small_history().recipe)
    for batch, message in [
        (["low é"] * 3 + ["lo\ud800w"], r"Character 3 of the text is U\+D800"),
        (["low é", b"low", "low", b"lo\xffw"], "Text 4 of the batch is not valid UTF-8 around its byte 2"),
    ]:
        texts = Unread.of(batch)
        assert isinstance(texts, Unread)
        with pytest.raises(BpeError, match=message):
            encode_by_kernels(compiled, texts, lambda: cuts, 20, 2)
    with pytest.raises(BpeError, match=r"Character 17 of the text is U\+D800"):  # the whole text is read in one piece
        Unread.of(["low é, low, low \ud800 low"])


def test_kernels_split_a_long_word_of_many_letters_as_plain_python_does() -> None:
    plain, compiled = both_encoders(small_history())
    text = many_words(5_000).replace(" ", "")
    assert len(text) > 60_000
    assert np.array_equal(compiled.byte_ranks(text), plain.byte_ranks(text))


@pytest.mark.parametrize("name", available_texts("made/languages", "data/udhr-languages.txt"))
def test_kernels_split_real_texts_in_many_languages_as_plain_python_does(name: str) -> None:
    text = samples_of(name, 100_000)
    table = count_words(Corpus.from_texts([text]), Recipe.preset("gpt2"))
    plain, compiled = both_encoders(learn(table, Recipe.preset("gpt2", merges=3_000)))
    for at in (0, 1_000, 3_000):
        assert np.array_equal(compiled.ids(text, at), plain.ids(text, at))
    assert np.array_equal(compiled.byte_ranks(text), plain.byte_ranks(text))


def test_encoding_a_batch_of_short_texts_builds_no_table_of_safe_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is needed only for large texts, which several threads encode."""
    made: list[Recipe] = []
    make = SafeCuts.of

    def note(recipe: Recipe, *, table: ScanTable | None = None) -> SafeCuts:
        made.append(recipe)
        return make(recipe, table=table)

    monkeypatch.setattr(SafeCuts, "of", note)
    monkeypatch.setattr(readiness, "SAMPLE", 0)
    tokenizer, text = Tokenizer(small_history()), many_words(200_000)
    tokenizer.encode_batch(text.split("a"), threads=2)
    assert made == []
    tokenizer.encode_batch([text], threads=2)
    assert made != []


@pytest.mark.parametrize("size", [15, 16, 128, 129, 255, 256, 257])
def test_words_of_at_most_256_bytes_are_cached(size: int) -> None:
    """Texts without spaces, such as Japanese ones, have long words. Merging a long word each time is slow."""
    plain, compiled = both_encoders(small_history())
    word = ("abcdefgh" * 33)[:size]
    for _ in range(2):
        assert compiled.ids(word, 20).tolist() == plain.ids(word, 20).tolist()
    assert int(compiled._desks[-1].memory.number[ENTRIES]) == (size <= 256)
