"""Tests of base symbols that are not characters or bytes of a text: integers from NumPy's files, and named symbols."""

from __future__ import annotations

import csv
import io
import json
import pickle
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, CorpusError, OutputError, RecipeError
from bpe_core.formats import read_history, write_history
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference
from bpe_core.methods.gage import reference as gage
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.numbered_symbols import LARGEST, SymbolNames, character_of
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import read, sentence
from tests.core.gage_texts import data, recipes
from tests.core.learning import all_columns, learn_fast, words_of
from tests.core.minbpe_results import FIRST_TOKEN, MEASURED, MinbpeResult, results, sequence

SEQUENCES = st.lists(st.lists(st.integers(0, 4), max_size=30), min_size=1, max_size=4).filter(any)


def of_integers(**choices: Any) -> Recipe:
    return Recipe(base="characters", base_symbols="integers", pattern="none", vocab_size=None, **choices)


@pytest.mark.parametrize("result", results(), ids=lambda result: f"{result.kinds} kinds")
@pytest.mark.parametrize("times", [1, 500])
def test_merges_and_ids_of_integers_match_minbpe(result: MinbpeResult, times: int, tmp_path: Path) -> None:
    numbers = np.array(sequence(result.seed, result.kinds, result.length)) * times
    np.save(tmp_path / "notes.npy", numbers)
    study = bpe.train(tmp_path / "notes.npy", of_integers(merges=len(result.merges), min_frequency=1))
    symbols = [symbol.text.decode() for symbol in study.history.alphabet.symbols]
    id_of = {number: symbols.index(character_of(number * times)) for number in set((numbers // times).tolist())}
    id_of |= {FIRST_TOKEN + step: len(symbols) + step for step in range(len(result.merges))}
    assert [[*pair] for pair in study.history.pairs()] == [[id_of[half] for half in pair] for pair in result.merges]
    measured = "".join(character_of(number * times) for number in sequence(result.seed + 1, result.kinds, MEASURED))
    unknown = study.history.alphabet.unknown_id
    assert study.encode(measured) == [id_of.get(id, unknown) for id in result.ids]


@pytest.mark.parametrize("method", ["bpe", "unigram", "best"])
def test_each_method_learns_the_same_steps_from_integers_as_from_equivalent_letters(
    method: str, tmp_path: Path
) -> None:
    numbers = np.random.default_rng(5).integers(0, 6, 400) ** 2 % 7
    letters = "".join(chr(ord("a") + number) for number in numbers)
    np.save(tmp_path / "notes.npy", numbers)
    recipe = of_integers(merges=12).with_changes(method=method)
    learned = bpe.train(tmp_path / "notes.npy", recipe)
    expected = learn_fast(words_of(letters, recipe), recipe)
    assert all_columns(learned.history) == all_columns(expected)
    characters = "".join(map(character_of, numbers.tolist()))
    assert learned.encode(characters) == bpe.Study(expected).encode(letters)


def learn_by_two_steps(words: WordTable, recipe: Recipe) -> History:
    """Learn a history two steps at a time, and return it.

    Before each two steps, check that the best candidate is the pair that the next step merges.
    """
    trainer = Trainer(words, recipe)
    best: list[tuple[int, Candidate]] = []
    is_finished = False
    while not is_finished:
        best += [(len(trainer.history), candidate) for candidate in trainer.candidates(1)]
        is_finished = trainer.advance(max_merges=2).finished
    for row, candidate in best:
        if row < len(trainer.history):
            step = trainer.history[row]
            assert (candidate.left, candidate.right, candidate.count) == (step.left, step.right, step.count)
    return trainer.history


@settings(max_examples=40)
@given(
    texts=st.lists(data(), min_size=1, max_size=3, unique=True),
    recipe=recipes(),
    shift=st.integers(0, 400),
    times=st.integers(1, 300),
)
def test_the_gage_method_learns_the_same_steps_from_integers_as_from_equivalent_bytes(
    texts: list[bytes], recipe: Recipe, shift: int, times: int
) -> None:
    ties = "lowest-ids" if TIE_RULES[recipe.ties].byte_places else recipe.ties
    recipe = recipe.with_changes(ties=ties, block_bytes=max(2, recipe.block_bytes))
    texts = [*texts, b"longer than one"]
    of_bytes = learn_fast(WordTable.from_counts([(text, 2) for text in texts]), recipe)
    as_characters = {byte: character_of(shift + times * byte) for byte in range(256)}
    mapped = ["".join(as_characters[byte] for byte in text) for text in texts]
    words = WordTable.from_counts([(text.encode(), 2) for text in mapped])
    symbols = recipe.of_symbols("integers")
    learners: list[Callable[[WordTable, Recipe], History]] = [learn_fast, learn_by_two_steps, gage.train]
    for learn in learners:
        of_symbols = learn(words, symbols)
        names = [symbol.text.decode() for symbol in of_symbols.alphabet.symbols]
        id_of_byte = {byte: names.index(name) for byte, name in as_characters.items() if name in names}
        base = len(names)
        known = {name: column for name, column in all_columns(of_bytes).items() if name != "end_reason"}
        for name in ("left", "right", "runner_up_left", "runner_up_right"):
            known[name] = [id_of_byte.get(id, id) if id < 256 else base + id - 256 for id in known[name]]
        assert {name: all_columns(of_symbols)[name] for name in known} == known
        assert of_symbols.reasons["block"].tolist() == of_bytes.reasons["block"].tolist()
        assert of_symbols.end_reason == of_bytes.end_reason


def test_gage_training_on_integers_assigns_a_byte_to_each_symbol_and_questions_show_the_bytes(
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "notes.npy", np.array([500, 700, 600] * 4 + [500, 900, 900] * 4))
    recipe = of_integers(merges=9).with_changes(method="gage", min_frequency=4, block_size=12)
    study = bpe.train(tmp_path / "notes.npy", recipe)
    rows = bpe.blocks(study).table.records()
    assert [row["byte_text"] for row in rows] == [None, "0xFF", "0xFE", "0xFF", "0xFE"]
    assert [row["token_text"] for row in rows[1:]] == [
        "<500><700>",
        "<500><700><600>",
        "<500><900>",
        "<500><900><900>",
    ]
    facts = bpe.blocks(study).facts
    assert facts["bytes"] == 24
    assert [(block["start"], block["stop"], block["different_bytes"]) for block in facts["blocks"]] == [
        (0, 12, 3),
        (12, 24, 2),
    ]
    text = "".join(map(character_of, (500, 900, 500)))
    ids = study.encode(text)
    assert len(ids) == 2
    assert study.decode(ids[:1]) == text[:2]
    assert study.decode(ids) == text
    for name in ("m.json", "m.csv"):
        write_history(study.history, tmp_path / name)
        assert all_columns(read_history(tmp_path / name)) == all_columns(study.history)
    with pytest.raises(OutputError, match="compress the text to a file, choose a table such as csv"):
        write_history(study.history, tmp_path / "tokenizer.json")
    answer = bpe.why(study, "500 900 500", all=True).table
    assert answer.columns["reason"] == [
        "In block 2 the byte 0xFF stands for `<500><900>`: it is `<500>` and `<900>`.",
        "In block 2 no byte replaces a pair that spans this position, between `<500><900>` and `<500>`.",
    ]


@given(sequences=SEQUENCES, size=st.integers(1, 9_000), kind=st.sampled_from(["<u1", ">i4", "<i8"]))
def test_each_sequence_of_integers_in_an_archive_is_read_as_a_document(
    tmp_path_factory: Any, sequences: list[list[int]], size: int, kind: str
) -> None:
    path = tmp_path_factory.mktemp("notes") / "notes.npz"
    sequences = [*sequences, [3] * 5_000]
    offsets = np.cumsum([0, *map(len, sequences)])
    np.savez_compressed(path, values=np.array([*chain(*sequences)], kind), offsets=offsets)
    expected = ["".join(map(character_of, numbers)) for numbers in sequences if numbers]
    assert read(path, max(size, 4_096)) == expected


def test_each_row_of_a_compressed_array_of_integers_is_read_as_a_document(tmp_path: Path) -> None:
    import gzip

    held = io.BytesIO()
    np.save(held, np.array([[1, 2, 3], [LARGEST, 0, 5]]))
    (tmp_path / "notes.npy.gz").write_bytes(gzip.compress(held.getvalue()))
    rows = [[1, 2, 3], [LARGEST, 0, 5]]
    assert read(tmp_path / "notes.npy.gz") == ["".join(map(character_of, row)) for row in rows]


def test_arrays_of_values_that_are_not_symbols_are_refused_with_an_error_message(tmp_path: Path) -> None:
    path = tmp_path / "notes.npy"
    wrong: list[tuple[Any, str]] = [
        (np.array([1, -4, 2]), "holds -4 at place 2. Symbols are integers from 0 to 131,070"),
        (np.array([1, 2**63], np.uint64), "holds 9,223,372,036,854,775,808 at place 2"),
        (np.array([1.5]), "holds values of the type float64, but symbols must be integers"),
        (np.array([{"a": 1}], object), "holds Python objects, which are never loaded"),
        (np.zeros((2, 2, 2), int), "holds an array with 3 dimensions"),
        (np.asfortranarray(np.zeros((2, 2), int)), "2 dimensions, stored column by column"),
    ]
    for array, words in wrong:
        np.save(path, array)
        assert words in sentence(path)
    np.save(path, np.arange(100))
    path.write_bytes(path.read_bytes()[:-9])
    assert "ends after 98 of its 100 integers: it was truncated" in sentence(path)
    path.write_bytes(b"no array")
    assert "is not a NumPy file, or is damaged" in sentence(path)


class _Trap:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_in_arrays_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "trap.npy", np.array([_Trap()], object), allow_pickle=True)
    np.savez(tmp_path / "trap.npz", values=np.array([1, 2]), offsets=np.array([_Trap()], object))
    (tmp_path / "bare.npy").write_bytes(pickle.dumps(_Trap()))
    for name in ("trap.npy", "trap.npz", "bare.npy"):
        assert name in sentence(tmp_path / name)


@pytest.mark.parametrize("offsets", [[0, 2], [1, 3], [0, 3, 1, 3], [], [[0, 3]], [0, -1, 3]])
def test_offsets_that_do_not_fit_their_array_of_integers_are_refused(tmp_path: Path, offsets: list[Any]) -> None:
    np.savez(tmp_path / "notes.npz", notes=np.array([1, 2, 3]), offsets=np.array(offsets, int))
    assert "the offsets do not fit the 3 integers" in sentence(tmp_path / "notes.npz")


def test_an_archive_with_several_arrays_of_integers_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "notes.npz", a=np.array([1]), b=np.array([1]))
    assert 'must hold one array of integers, and "offsets"' in sentence(tmp_path / "notes.npz")


def test_files_of_integers_in_a_folder_are_skipped_and_text_recipes_refuse_such_files(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([1, 2, 1, 2]))
    (tmp_path / "a.txt").write_text("low low")
    assert read(tmp_path) == ["low low"]
    with pytest.raises(CorpusError, match="holds integers, and this recipe is for text"):
        bpe.train(tmp_path / "notes.npy", merges=1)
    with pytest.raises(CorpusError, match="holds text, and this recipe is for integers"):
        bpe.train(tmp_path / "a.txt", of_integers(merges=1))


def test_the_length_of_a_token_made_of_integers_is_counted_in_symbols(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([60, 62, 64] * 9))
    study = bpe.train(tmp_path / "notes.npy", of_integers(merges=2))
    answer = bpe.lengths(study)
    assert dict(zip(*answer.table.columns.values(), strict=True)) == {1: 4, 2: 1, 3: 1}  # <unk> is a symbol, too
    assert answer.sentences == ("Most tokens have 1 symbol, and the longest token has 3.",)
    assert answer.figure is not None
    assert "Symbols in the token" in answer.figure._repr_svg_()


def test_measures_count_each_integer_as_one_byte(tmp_path: Path) -> None:
    path = tmp_path / "notes.npy"
    np.savez(tmp_path / "notes.npz", notes=np.array([60, 62, 64] * 30), offsets=np.arange(0, 91, 9))
    np.save(path, np.array([60, 62, 64] * 30))
    study = bpe.train(path, of_integers(merges=2))
    assert study.texts is not None
    assert study.inside.words("A test").size == 90
    (row,) = bpe.benchmark({"notes": study}, path).table.records()
    assert (row["bytes"], row["tokens"], row["bytes_per_token"]) == (90, 30, 3)
    (row,) = bpe.benchmark({"notes": study}, tmp_path / "notes.npz", intervals=True).table.records()
    assert (row["bytes_per_token"], row["bytes_per_token_low"]) == (3, 3)
    last = bpe.sizes({"notes": study}).table.records()[-1]
    assert (last["bytes"], last["bytes_per_token"]) == (90, 3)


def test_reading_integers_can_be_cancelled(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.zeros(100, int))
    with pytest.raises(Cancelled):
        bpe.train(tmp_path / "notes.npy", of_integers(merges=1), work=Work(cancelled=lambda: True))


def test_tables_of_integers_are_saved_as_tables_and_refused_by_formats_for_text(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([60, 62, 64, 60, 62] * 4))
    study = bpe.train(tmp_path / "notes.npy", of_integers(merges=2))
    for name in ("m.json", "m.csv"):
        write_history(study.history, tmp_path / name)
        opened = read_history(tmp_path / name)
        assert all_columns(opened) == all_columns(study.history)
        assert opened.recipe.base_symbols == "integers"
    for name in ("tokenizer.json", "merges.txt", "m.spm", "m.tiktoken"):
        with pytest.raises(OutputError, match="stores texts, but the symbols of this table are integers"):
            write_history(study.history, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_commands_can_train_on_integers_and_encode_integers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes, table, ids = (str(tmp_path / name) for name in ("notes.npy", "m.json", "ids.npy"))
    np.save(notes, np.array([60, 62, 64, 60, 62] * 4))
    assert run(["train", notes, "--base", "integers", "--merges", "2", "-o", table, "--quiet"]) == 0
    assert run(["encode", "--merges", table, notes, "-o", ids]) == 0
    assert len(np.load(ids)) == 8
    assert "2.50 symbols each" in capsys.readouterr().out
    capsys.readouterr()
    assert run(["train", notes, "--base", "integers", "--merges", "1", "--json", "--quiet"]) == 0
    row = json.loads(capsys.readouterr().out)["merges"][0]
    assert (row["left_text"], row["right_text"], row["token"]) == ("<#60>", "<#62>", "<#60><#62>")
    assert run(["train", notes, "--base", "integers", "--marker", "symbol", "--merges", "1"]) != 0


def test_the_raw_bytes_preset_learns_from_any_file_but_saves_no_session_if_the_bytes_are_not_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytes(range(256)) * 3 + b"\xef\xbb\xbf\xff"
    file, table = tmp_path / "program", str(tmp_path / "m.json")
    file.write_bytes(data)
    for method in ("bpe", "gage"):
        asked = ["train", str(file), "--preset", "raw-bytes", "--method", method, "--merges", "5", "-o", table]
        assert run([*asked, "--min-frequency", "2", "--quiet"]) == 0
        recipe = read_history(table).recipe
        words = WordTable.from_counts([(data, 1)])
        assert all_columns(read_history(table)) == all_columns(learn_fast(words, recipe))
    assert run(["train", str(file), "--preset", "raw-bytes", "-o", str(tmp_path / "m.bpex")]) == 1
    assert "these files hold bytes that are not text" in capsys.readouterr().err
    assert not (tmp_path / "m.bpex").exists()


ANY_BYTES = st.binary(max_size=60) | st.lists(st.sampled_from([b"\xff", b"\xc3", b"\xa9", b"a", b"\x00"])).map(b"".join)


@given(ANY_BYTES, ANY_BYTES, st.integers(0, 30))
def test_encoding_arbitrary_bytes_matches_the_reference_and_decoding_returns_the_bytes(
    learned: bytes, data: bytes, at: int
) -> None:
    recipe = Recipe.preset("raw-bytes", vocab_size=None, merges=30, min_frequency=1)
    history = learn_fast(WordTable.from_counts([(learned + data + learned + b"ab", 1)]), recipe)
    at = min(at, len(history))
    tokenizer = Tokenizer(history)
    ids = tokenizer.encode_bytes(data, at=at).tolist()
    assert ids == reference.encode_word(data, history, at=at)
    assert tokenizer.decode_bytes(ids) == data


def test_a_file_of_arbitrary_bytes_is_encoded_and_decoded_without_a_change(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    random = np.random.default_rng(1)
    data = random.choice(np.array([0, 10, 32, 97, 195, 169, 255], np.uint8), 3_000).tobytes() + bytes(range(256))
    (tmp_path / "program").write_bytes(data)
    other = b"\x00" + data[::-1]
    (tmp_path / "other").write_bytes(other)
    table, ids = str(tmp_path / "m.json"), tmp_path / "ids.npy"
    asked = ["train", str(tmp_path / "program"), "--preset", "raw-bytes", "--merges", "60", "-o", table, "--quiet"]
    assert run(asked) == 0
    files = [str(tmp_path / name) for name in ("program", "other")]
    assert run(["encode", "--merges", table, *files, "-o", str(ids)]) == 0
    history = read_history(table)
    known = [number for part in (data, other) for number in reference.encode_word(part, history)]
    assert np.load(ids).tolist() == known
    capfdbinary.readouterr()
    first = len(reference.encode_word(data, history))
    assert run(["decode", "--merges", table, *map(str, known[:first])]) == 0
    decoded = capfdbinary.readouterr()
    assert decoded.out == data
    assert decoded.err == b""


def test_a_long_file_of_arbitrary_bytes_is_encoded_as_one_sequence(tmp_path: Path) -> None:
    data = np.random.default_rng(2).choice(np.array([10, 32, 195, 255], np.uint8), 2_500_000).tobytes()
    (tmp_path / "program").write_bytes(data)
    history = learn_fast(WordTable.from_counts([(data[:20_000], 1)]), Recipe.preset("raw-bytes", vocab_size=300))
    table = tmp_path / "m.json"
    write_history(history, table)
    assert run(["encode", "--merges", str(table), str(tmp_path / "program"), "-o", str(tmp_path / "ids.npy")]) == 0
    written = np.load(tmp_path / "ids.npy")
    assert np.array_equal(written, Tokenizer(history).encode_bytes(data))
    assert Tokenizer(history).decode_bytes(written.tolist()) == data


def test_bytes_that_are_not_text_are_refused_where_texts_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, words = str(tmp_path / "m.json"), str(tmp_path / "w.json")
    bpe.train("low lower", "raw-bytes", merges=2).save(table)
    bpe.train("low lower", "gpt2", merges=2).save(words)
    broken = {"half.txt": b"\xff\xfea", "rows.jsonl": b'{"text": "a\xff"}\n', "rows.csv": b"text\na\xff\n"}
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        assert run(["encode", "--merges", table, str(tmp_path / name), "-o", str(tmp_path / "i.npy")]) == 1
        assert name in capsys.readouterr().err
    (tmp_path / "program").write_bytes(b"\xff\x00low")
    assert run(["encode", "--merges", words, str(tmp_path / "program"), "-o", str(tmp_path / "i.npy")]) == 1
    assert "is not a text file" in capsys.readouterr().err
    with pytest.raises(BpeError, match="encodes only texts"):
        Tokenizer(read_history(words)).encode_bytes(b"\xff")


def test_a_long_sequence_of_integers_is_read_in_several_blocks_with_the_right_total_size(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.arange(5_000) % 90)
    corpus = Corpus.from_files(tmp_path / "notes.npy")
    sizes = [len(chunk.data) for chunk in corpus.chunks(4_096)]
    assert len(sizes) > 1
    assert sum(sizes) == 4 * 5_000


def symbol_names_of(path: Path, size: int = 1 << 20) -> list[list[str]]:
    """Return the names of the symbols in each sequence of a file."""
    names = Corpus.from_files(path, symbol_names=()).names_of_symbols()
    found = SymbolNames(names)
    return [found.names_in(text).split(" ") for text in read(path, size, symbol_names=names)]


@given(
    st.lists(st.lists(st.sampled_from(["C4", "bar", "é", "▁"]), min_size=1, max_size=900), min_size=1, max_size=3),
    st.integers(4, 3_000),
)
def test_each_line_of_a_symbol_file_is_a_symbol_and_an_empty_line_ends_a_sequence(
    tmp_path_factory: Any, sequences: list[list[str]], size: int
) -> None:
    path = tmp_path_factory.mktemp("song") / "song.txt"
    path.write_text("\n\n".join("\n".join(sequence) for sequence in sequences), encoding="utf-8")
    assert symbol_names_of(path, size) == sequences


def test_symbols_are_read_from_fasta_files_and_from_lists_in_json(tmp_path: Path) -> None:
    (tmp_path / "g.fasta").write_text(">one human\nACG\nT\n; a remark\n>two\nAC\n")
    assert symbol_names_of(tmp_path / "g.fasta") == [["A", "C", "G", "T"], ["A", "C"]]
    (tmp_path / "e.json").write_text('{"tracks": [["bar", {"note": 60, "on": true}], [7]]}')
    assert symbol_names_of(tmp_path / "e.json") == [["bar", '{"note":60,"on":true}'], ["7"]]
    (tmp_path / "e.jsonl").write_text('["bar", 7]\n\n[[1, 2]]\n')
    assert symbol_names_of(tmp_path / "e.jsonl") == [["bar", "7"], ["[1,2]"]]


@pytest.mark.parametrize(
    "content", ["{", '{"tracks": 4}', '{"notes": []}', '"bar"', '["a", ""]', '{"tracks": [[1], 2]}']
)
def test_json_that_is_not_a_list_of_symbols_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "e.json").write_text(content)
    assert "e.json" in sentence(tmp_path / "e.json", symbol_names=())


@pytest.mark.parametrize("content", ['["a", ""]', '["a", [1, ""]]', '["a", []]', '["a", {}]', '["a", [[7, []]]]'])
@pytest.mark.parametrize("form", ["%s", '{"tracks": [["a"], %s]}'])
def test_an_empty_event_in_a_list_of_events_is_refused_with_its_position(
    tmp_path: Path, content: str, form: str
) -> None:
    (tmp_path / "e.json").write_text(form % content)
    said = sentence(tmp_path / "e.json", symbol_names=())
    assert "e.json: event 2 of a list is empty, or holds an empty event." in said
    (tmp_path / "e.jsonl").write_text(f'["a", "b"]\n{content}\n')
    assert "e.jsonl, line 2: event 2 of a list is empty" in sentence(tmp_path / "e.jsonl", symbol_names=())


def test_commands_can_train_on_named_symbols_and_show_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    song, table = tmp_path / "song.txt", str(tmp_path / "m.json")
    song.write_text("C4\nD4\nE4\nbar\nC4\nD4\nE4\n")
    assert run(["train", str(song), "--base", "lines", "--merges", "2", "-o", table, "--quiet"]) == 0
    assert read_history(table).recipe.symbol_names == ("C4", "D4", "E4", "bar")
    assert run(["encode", "--merges", table, "C4 D4 E4 X", "--pieces"]) == 0
    assert capsys.readouterr().out == "<C4><D4><E4> | <unk>\n"
    assert run(["decode", "--merges", table, "6", "0", "4"]) == 0
    assert capsys.readouterr().out == "C4 D4 E4 <unk> bar\n"
    assert run(["why", "--merges", table, "E4 C4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]
    assert run(["encode", "--merges", table, str(song), "-o", str(tmp_path / "ids.npy")]) == 0
    assert len(np.load(tmp_path / "ids.npy")) == 3
    assert run(["train", str(song), "--base", "lines", "--border", "bar", "--merges", "9", "-o", table, "--quiet"]) == 0
    assert len(read_history(table)) == 2
    capsys.readouterr()
    assert run(["train", str(song), "--base", "lines", "--border", "rest", "--merges", "9"]) == 1
    assert "These files do not contain the border symbol" in capsys.readouterr().err
    assert run(["train", str(song), "--base", "lines", "--names", table, "--merges", "9"]) == 1
    assert "--names gives names to integers" in capsys.readouterr().err


def test_a_recipe_can_define_names_that_are_shown_instead_of_integers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes, names = tmp_path / "notes.npy", tmp_path / "names.json"
    np.save(notes, np.array([60, 62, 64] * 4))
    names.write_text('{"60": "C4", "62": "D4"}')
    asked = ["train", str(notes), "--base", "integers", "--names", str(names), "--merges", "2", "--quiet"]
    assert run(asked) == 0
    assert "<C4> + <D4>" in (shown := capsys.readouterr().out)
    assert "<C4><D4><64>" in shown
    for wrong in ('{"-1": "C4"}', '{"200000": "C4"}', '["C4", "C4"]', "4", '["C4", 5]'):
        names.write_text(wrong)
        assert run(asked) == 1
        assert "name" in capsys.readouterr().err


def test_a_recipe_with_invalid_symbol_names_is_refused() -> None:
    for names in ("C4", ["a", "a"], [4], ["x" * 5_000], ["\ud800"]):
        with pytest.raises(RecipeError):
            of_integers(merges=1, symbol_names=names)


def test_training_on_fasta_files_uses_each_letter_as_a_symbol_without_any_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fasta = tmp_path / "genome.fa"
    fasta.write_text(">one\nACGTACGTAC\nGT\n>two\nACGTTT\n")
    tables = [tmp_path / f"{name}.json" for name in ("alone", "said", "text")]
    assert run(["train", str(fasta), "--merges", "3", "-o", str(tables[0])]) == 0
    assert "each letter is a symbol" in capsys.readouterr().err
    assert run(["train", str(fasta), "--base", "lines", "--merges", "3", "-o", str(tables[1])]) == 0
    assert run(["train", str(fasta), "--preset", "gpt2", "--merges", "3", "-o", str(tables[2])]) == 0
    assert "each letter is a symbol" not in capsys.readouterr().err
    histories = [bpe.open(table).history for table in tables]
    assert [*histories[0].pairs()] == [*histories[1].pairs()]
    assert histories[0].recipe == histories[1].recipe
    assert histories[2].recipe.base_symbols == ""


def test_training_on_integers_by_a_method_that_learns_only_from_bytes_is_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.npy"
    np.save(notes, np.array([60, 62, 64, 60, 62]))
    assert (
        run(["train", str(notes), "--base", "integers", "--method", "boundless", "-o", str(tmp_path / "a.json")]) != 0
    )
    assert "learns only from bytes, but the base symbols of this recipe are integers" in capsys.readouterr().err


def test_training_on_a_table_of_counted_integers_gives_the_same_merges_as_training_on_the_integers(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes.npy"
    np.save(notes, np.array([60, 62, 64, 60, 62, 64, 60, 62, 67]))
    counts = tmp_path / "counts.parquet"
    tables = [tmp_path / "file.json", tmp_path / "counts.json"]
    assert run(["count", str(notes), "--base", "integers", "-o", str(counts)]) == 0
    for source, table in zip((notes, counts), tables, strict=True):
        assert run(["train", str(source), "--base", "integers", "--merges", "2", "-o", str(table)]) == 0
    histories = [bpe.open(table).history for table in tables]
    assert [*histories[0].pairs()] == [*histories[1].pairs()]
    assert len(histories[0]) == 2


@pytest.mark.parametrize(
    "words",
    [["tree", "T", "--text", "a b"], ["ways", "T", "a b"], ["look", "T", "a b"], ["lab", "T", "T", "--text", "a b"]],
)
def test_questions_accept_texts_written_as_names_of_symbols(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "song.txt").write_text("a\nb\na\nb\nc\na\nb\n")
    table = str(tmp_path / "song.json")
    assert run(["train", str(tmp_path / "song.txt"), "--base", "lines", "--merges", "1", "-o", table, "--quiet"]) == 0
    assert run([table if word == "T" else word for word in words]) == 0
    answer = capsys.readouterr().out
    assert "<a><b>" in answer
    assert "unk" not in answer
    assert "<#" not in answer


def test_a_report_shows_the_names_of_the_symbols_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "song.txt").write_text("a\nb\na\nb\nc\na\nb\n")
    session = str(tmp_path / "song.bpex")
    page = tmp_path / "report.html"
    assert run(["train", str(tmp_path / "song.txt"), "--base", "lines", "--merges", "1", "-o", session, "--quiet"]) == 0
    assert run(["report", session, "--text", "a b c", "-o", str(page)]) == 0
    assert "&lt;a&gt;&lt;b&gt;</span>" in page.read_text(encoding="utf-8")


def test_training_on_counts_of_named_symbols_gives_the_same_merges_as_training_on_the_symbols(tmp_path: Path) -> None:
    song = tmp_path / "song.txt"
    song.write_text("C4\nD4\nE4\nC4\nD4\nC4\nD4\nE4\n\nF4\nE4\nF4\nE4\n")
    counts = tmp_path / "counts.parquet"
    tables = [tmp_path / "file.json", tmp_path / "counts.json"]
    assert run(["count", str(song), "--base", "lines", "-o", str(counts)]) == 0
    for source, table in zip((song, counts), tables, strict=True):
        assert run(["train", str(source), "--base", "lines", "--merges", "3", "-o", str(table)]) == 0
    histories = [bpe.open(table).history for table in tables]
    assert histories[0].recipe.symbol_names == histories[1].recipe.symbol_names == ("C4", "D4", "E4", "F4")
    assert [*histories[0].pairs()] == [*histories[1].pairs()]
    assert len(histories[0]) == 3


def test_training_on_two_files_of_counts_with_different_symbol_names_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, notes in (("one", "C4\nD4\nC4\nD4\n"), ("two", "F4\nG4\nF4\nG4\n")):
        (tmp_path / f"{name}.txt").write_text(notes)
        counts = str(tmp_path / f"{name}.parquet")
        assert run(["count", str(tmp_path / f"{name}.txt"), "--base", "lines", "-o", counts]) == 0
    both = [str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")]
    assert run(["train", *both, "--base", "lines", "--merges", "1", "-o", str(tmp_path / "t.json")]) != 0
    assert "symbol names" in capsys.readouterr().err


def plan_of_songs(tmp_path: Path, recipes: str = "") -> Path:
    (tmp_path / "song.txt").write_text("C4\nD4\n" * 6 + "E4\nD4\n" * 4)
    (tmp_path / "other.txt").write_text("F4\nD4\nC4\nD4\n" * 3)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sizes = [5, 6]\nheld_out = ["other.txt"]\n[corpora]\nsong = ["song.txt"]\n[recipes.song]\n'
        f'base = "characters"\npattern = "none"\nbase_symbols = "lines"\nmin_frequency = 1\n{recipes}'
    )
    return plan


def test_a_sweep_can_train_on_named_symbols_and_count_the_tokens_of_each_run(tmp_path: Path) -> None:
    table = tmp_path / "swept.csv"
    assert run(["sweep", str(plan_of_songs(tmp_path)), "-o", str(table)]) == 0
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["size"] for row in rows] == ["5", "6"]
    # By hand: F4 D4 C4 D4 three times, with C4 + D4 as the first merge, and a further merge.
    assert [int(row["tokens"]) for row in rows] == [9, 9]


def test_a_sweep_that_mixes_recipes_for_text_and_recipes_for_named_symbols_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of_songs(tmp_path, '[recipes.text]\npreset = "words"\n')
    assert run(["sweep", str(plan)]) != 0
    assert "Some recipes of the plan are for named symbols" in capsys.readouterr().err
