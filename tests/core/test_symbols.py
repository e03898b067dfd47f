"""Tests of base symbols that are no text: integers from NumPy's files, and named symbols."""

from __future__ import annotations

import io
import json
import pickle
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, CorpusError, OutputError, RecipeError
from bpe_core.formats import read_history, write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.numbered_symbols import LARGEST, SymbolNames, character_of
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import read, sentence
from tests.core.learning import all_columns, learn_fast, words_of

SEQUENCES = st.lists(st.lists(st.integers(0, 4), max_size=30), min_size=1, max_size=4).filter(any)


def of_integers(**choices: Any) -> Recipe:
    return Recipe(base="characters", base_symbols="integers", pattern="none", vocab_size=None, **choices)


def merges_by_hand(numbers: list[int], count: int) -> list[tuple[int, int]]:
    """Return the merges of a sequence of integers.

    Each step joins the most frequent pair. If several pairs are equally frequent, it joins the pair that occurs first.
    """
    merges: list[tuple[int, int]] = []
    while len(merges) < count:
        pairs = Counter(pairwise(numbers))
        if not pairs or max(pairs.values()) < 2:
            break
        pair = max(pairs, key=lambda pair: pairs[pair])
        merges.append(pair)
        made, joined, place = 1_000 + len(merges) - 1, [], 0
        while place < len(numbers):
            is_pair = tuple(numbers[place : place + 2]) == pair
            joined.append(made if is_pair else numbers[place])
            place += 1 + is_pair
        numbers = joined
    return merges


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60))
def test_merges_of_integers_equal_those_of_a_short_trainer(tmp_path_factory: Any, numbers: list[int]) -> None:
    path = tmp_path_factory.mktemp("notes") / "notes.npy"
    np.save(path, np.array(numbers, np.int16))
    study = bpe.train(path, of_integers(merges=8))
    symbols = [symbol.text.decode() for symbol in study.history.alphabet.symbols]
    name = {symbols.index(character_of(number)): number for number in set(numbers)}
    name |= {len(symbols) + step: 1_000 + step for step in range(len(study.history))}
    learned = [(name[merge.left], name[merge.right]) for merge in study.history]
    assert learned == merges_by_hand(numbers, 8)


@pytest.mark.parametrize("method", ["bpe", "unigram", "best"])
def test_each_method_learns_integers_as_it_learns_the_same_text_in_letters(method: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(5).integers(0, 6, 400) ** 2 % 7
    letters = "".join(chr(ord("a") + number) for number in numbers)
    np.save(tmp_path / "notes.npy", numbers)
    recipe = of_integers(merges=12).with_changes(method=method)
    learned = bpe.train(tmp_path / "notes.npy", recipe)
    expected = learn_fast(words_of(letters, recipe), recipe)
    assert all_columns(learned.history) == all_columns(expected)
    characters = "".join(map(character_of, numbers.tolist()))
    assert learned.encode(characters) == bpe.Study(expected).encode(letters)


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


def test_rows_of_a_table_are_documents_and_files_may_be_compressed(tmp_path: Path) -> None:
    import gzip

    held = io.BytesIO()
    np.save(held, np.array([[1, 2, 3], [LARGEST, 0, 5]]))
    (tmp_path / "notes.npy.gz").write_bytes(gzip.compress(held.getvalue()))
    rows = [[1, 2, 3], [LARGEST, 0, 5]]
    assert read(tmp_path / "notes.npy.gz") == ["".join(map(character_of, row)) for row in rows]


def test_arrays_of_other_values_than_symbols_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.npy"
    wrong: list[tuple[Any, str]] = [
        (np.array([1, -4, 2]), "holds -4 at place 2. Symbols are integers from 0 to 131,070"),
        (np.array([1, 2**63], np.uint64), "holds 9,223,372,036,854,775,808 at place 2"),
        (np.array([1.5]), "holds values of the type float64, but symbols must be integers"),
        (np.array([{"a": 1}], object), "holds Python objects, which are never loaded"),
        (np.zeros((2, 2, 2), int), "holds an array with 3 dimensions"),
        (np.asfortranarray(np.zeros((2, 2), int)), "2 dimensions in the order of columns"),
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


def test_an_archive_of_arrays_must_have_one_array_of_values(tmp_path: Path) -> None:
    np.savez(tmp_path / "notes.npz", a=np.array([1]), b=np.array([1]))
    assert 'must hold one array of integers, and "offsets"' in sentence(tmp_path / "notes.npz")


def test_files_of_integers_in_folders_are_left_out_and_other_recipes_refuse_them(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([1, 2, 1, 2]))
    (tmp_path / "a.txt").write_text("low low")
    assert read(tmp_path) == ["low low"]
    with pytest.raises(CorpusError, match="holds integers, and this recipe is for text"):
        bpe.train(tmp_path / "notes.npy", merges=1)
    with pytest.raises(CorpusError, match="holds text, and this recipe is for integers"):
        bpe.train(tmp_path / "a.txt", of_integers(merges=1))


def test_reading_integers_can_be_cancelled(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.zeros(100, int))
    with pytest.raises(Cancelled):
        bpe.train(tmp_path / "notes.npy", of_integers(merges=1), work=Work(cancelled=lambda: True))


def test_tables_of_integers_are_kept_and_formats_of_text_refuse_them(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([60, 62, 64, 60, 62] * 4))
    study = bpe.train(tmp_path / "notes.npy", of_integers(merges=2))
    for name in ("m.json", "m.csv"):
        write_history(study.history, tmp_path / name)
        opened = read_history(tmp_path / name)
        assert all_columns(opened) == all_columns(study.history)
        assert opened.recipe.base_symbols == "integers"
    for name in ("tokenizer.json", "merges.txt", "m.spm", "m.tiktoken"):
        with pytest.raises(OutputError, match="stores texts, and the symbols of this table are integers"):
            write_history(study.history, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_commands_learn_encode_and_show_integers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes, table, ids = (str(tmp_path / name) for name in ("notes.npy", "m.json", "ids.npy"))
    np.save(notes, np.array([60, 62, 64, 60, 62] * 4))
    assert run(["train", notes, "--base", "integers", "--merges", "2", "-o", table, "--quiet"]) == 0
    assert run(["encode", "--merges", table, notes, "-o", ids]) == 0
    assert len(np.load(ids)) == 8
    capsys.readouterr()
    assert run(["train", notes, "--base", "integers", "--merges", "1", "--json", "--quiet"]) == 0
    row = json.loads(capsys.readouterr().out)["merges"][0]
    assert (row["left_text"], row["right_text"], row["token"]) == ("<#60>", "<#62>", "<#60><#62>")
    assert run(["train", notes, "--base", "integers", "--marker", "symbol", "--merges", "1"]) != 0


def test_the_raw_bytes_preset_learns_from_any_file_and_encoding_refuses_a_file_that_is_no_text(
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
    assert run(["encode", "--merges", table, str(file), "-o", str(tmp_path / "ids.npy")]) == 1
    assert "is not a text file" in capsys.readouterr().err


def test_a_sequence_of_integers_read_in_blocks_of_any_size_gives_the_same_words(tmp_path: Path) -> None:
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
def test_each_line_is_a_symbol_and_an_empty_line_ends_a_sequence(
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
def test_json_other_than_a_list_of_events_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "e.json").write_text(content)
    assert "e.json" in sentence(tmp_path / "e.json", symbol_names=())


def test_commands_learn_and_show_named_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_integers_are_shown_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_recipe_with_wrong_names_is_refused() -> None:
    for names in ("C4", ["a", "a"], [4], ["x" * 5_000], ["\ud800"]):
        with pytest.raises(RecipeError):
            of_integers(merges=1, symbol_names=names)


def test_fasta_files_are_learned_letter_by_letter_without_an_option(
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


def test_a_method_that_learns_from_bytes_alone_says_why_it_takes_no_symbols(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.npy"
    np.save(notes, np.array([60, 62, 64, 60, 62]))
    assert run(["train", str(notes), "--base", "integers", "--method", "gage", "-o", str(tmp_path / "a.json")]) != 0
    assert "learns from bytes alone, and symbols that are integers are no bytes" in capsys.readouterr().err


def test_counts_of_integers_are_learned_as_their_file(tmp_path: Path) -> None:
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


def test_counts_and_sweeps_say_that_they_take_no_named_symbols(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    song = tmp_path / "song.txt"
    song.write_text("C4\nD4\nC4\nD4\n")
    assert run(["count", str(song), "--base", "lines", "-o", str(tmp_path / "c.parquet")]) != 0
    assert "has no names of symbols" in capsys.readouterr().err
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sizes = [5]\n[corpora]\nsong = ["song.txt"]\n[recipes.song]\nbase = "characters"\npattern = "none"\n'
        'base_symbols = "lines"\n'
    )
    assert run(["sweep", str(plan)]) != 0
    assert "a sweep does not read their names" in capsys.readouterr().err
