"""Tests of files of word counts: the program writes them, adds them up, trains from them, and refuses unsuitable files.

Counting in any number of parts writes the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from random import Random

import fsspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.counting import counter, runs, to_files
from bpe_core.counting.count_words import count_groups, count_words
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.runs import LocalPlace, Place
from bpe_core.counting.to_files import CountingOrder, count_to_file
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError, OutputError
from bpe_core.kernels import readiness
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import split_words
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample
from tests.core.corpus_files import files, write

GPT2 = Recipe.preset("gpt2")
Said = Callable[[], str]


def meaning(words: GroupedWords) -> list[object]:
    return [list(words.words), {name: words.counts_in(name).tolist() for name in words.groups}]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Make two groups of files that have some words in common."""
    texts = {"de": "der neue low 7\nné neu", "code": "low = new(7)\nlow low"}
    groups = {}
    for name, text in texts.items():
        paths: list[Path | str] = [
            write(tmp_path, f"{name}{i}.txt", f"{text} {name}{i} x{'y' * i}\n") for i in range(3)
        ]
        groups[name] = Corpus.from_files(paths)
    return Corpus.grouped(groups)


def write_counts(corpus: Corpus, path: Path, recipe: Recipe = GPT2, **order: int) -> Path:
    count_to_file(corpus, recipe, CountingOrder(str(path), **order))
    return path


def test_counting_a_corpus_in_parts_of_any_size_writes_identical_files(tmp_path: Path, corpus: Corpus) -> None:
    whole = write_counts(corpus, tmp_path / "whole.parquet")
    assert write_counts(corpus, tmp_path / "pieces.parquet", piece_size=20).read_bytes() == whole.read_bytes()
    assert meaning(count_groups(Corpus.from_files(whole), GPT2)) == meaning(count_groups(corpus, GPT2))
    folder = write_counts(corpus, tmp_path / "folder", partition_size=200)
    again = write_counts(corpus, tmp_path / "again", partition_size=200, piece_size=50, memory=10**9)
    assert files(folder) == files(again)
    assert len(files(folder)) > 2
    assert meaning(count_groups(Corpus.from_files(folder), GPT2)) == meaning(count_groups(corpus, GPT2))
    assert sorted(path.name for path in tmp_path.iterdir() if "counting" in path.name) == []
    lines = write_counts(corpus, tmp_path / "ends.parquet", Recipe.preset("unigram"), piece_size=20)
    table = count_words(Corpus.from_files(lines), Recipe.preset("unigram"))
    wanted = count_words(corpus, Recipe.preset("unigram"))
    assert table.line_ends is not None
    assert wanted.line_ends is not None
    assert (list(table), table.line_ends.tolist()) == (list(wanted), wanted.line_ends.tolist())


@given(
    texts=st.lists(st.text("aAlow'1 .\n\r\u0301é漢", max_size=60), min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
    sizes=st.tuples(st.integers(1, 80), st.integers(60, 900), st.integers(1, 40)),
    memory=st.none() | st.integers(4, 40) | st.just(10**9),
    threads=st.integers(1, 3),
)
def test_counts_written_to_files_depend_only_on_the_texts(
    texts: list[str], order: Random, sizes: tuple[int, int, int], memory: int | None, threads: int
) -> None:
    """The counts are the same for any file order, memory, number of threads, and size of pieces, parts and blocks."""
    wanted = Counter(chain.from_iterable(split_words(text, GPT2) for text in texts))
    assume(wanted)
    bucket = fsspec.filesystem("memory")
    bucket.store.clear()
    bucket.pipe({f"/texts/{number}.txt": text.encode() for number, text in enumerate(texts)})
    places = [f"memory://texts/{number}.txt" for number, text in enumerate(texts) if text]
    order.shuffle(places)
    piece_size, partition_size, block_size = sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readiness, "SAMPLE", 0)
        patch.setattr(counter, "available_threads", lambda: threads)
        for work in (counter.count_compiled, counter.count_in_runs):
            patch.setattr(work, "__kwdefaults__", {**(work.__kwdefaults__ or {}), "block_size": block_size})
        count_to_file(
            Corpus.from_files(places), GPT2, CountingOrder("memory://parts", partition_size, memory, piece_size)
        )
    counted = list(count_words(Corpus.from_files("memory://parts"), GPT2))
    assert dict(counted) == {word.encode(): count for word, count in wanted.items()}
    assert counted == list(count_words(Corpus.from_files(places), GPT2)), "in the order in which they are met"
    assert [path for path in bucket.find("/") if "counting" in path] == []
    bucket.store.clear()


def test_a_large_text_is_divided_for_counting_only_between_words(tmp_path: Path) -> None:
    text = "\ufeff" + "".join(f"low{i % 7} né\r\n  don't\t{'x' * (i % 40)} 12\n\n" for i in range(24))
    large = write(tmp_path, "large.txt", text)
    alone = Corpus.from_files(large)
    for recipe in (GPT2, GPT2.with_changes(unit="line", lowercase=True), Recipe.preset("raw-bytes")):
        pieces = runs.pieces_of(alone, recipe, 200)
        assert (len(pieces) > 1) == (recipe.pattern != "none"), "of one word there is nothing to part"
        whole = write_counts(alone, tmp_path / "whole.parquet", recipe)
        assert (
            write_counts(alone, tmp_path / "parts.parquet", recipe, piece_size=200).read_bytes() == whole.read_bytes()
        )
    order = CountingOrder("x.parquet", memory=64_000)
    assert order.piece_size_for(GPT2) == order.piece_size, "what is scanned is written out when it is full"
    assert order.piece_size_for(Recipe.preset("gpt2", method="unigram")) == 500
    two = Corpus.grouped({"a": alone, "b": Corpus.from_files([write(tmp_path, f"{i}.txt", text[i:]) for i in (1, 2)])})
    sampled = GPT2.with_changes(mixture=Mixture((Group("b", sample=Sample(fraction=Fraction(1, 2), of="lines")),)))
    groups = [piece.group for piece in runs.pieces_of(two, sampled, 200)]
    assert groups.count("b") == 2, "each of its texts is drawn from by itself"
    whole = write_counts(two, tmp_path / "whole.parquet", sampled)
    assert write_counts(two, tmp_path / "parts.parquet", sampled, piece_size=200).read_bytes() == whole.read_bytes()


def test_counting_a_corpus_into_files_continues_after_a_failure_with_the_uncounted_parts_of_the_corpus(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "counts.parquet"
    done: list[int] = []
    original = runs.count_piece

    def failing(piece, *given, **named):
        if len(done) == 4:
            raise OutputError("Could not write runs: No space left on device.")
        done.append(piece.number)
        return original(piece, *given, **named)

    monkeypatch.setattr(to_files, "count_piece", failing)
    with pytest.raises(OutputError) as caught:
        write_counts(corpus, path, piece_size=20)
    assert str(caught.value) == (
        f"Could not write runs: No space left on device. Finished parts are kept in {path}.counting; the same command "
        "continues from there."
    )
    assert not path.exists()
    done.clear()
    done.append(-1)
    (damaged,) = (tmp_path / "counts.parquet.counting").glob("000002-*.parquet")
    changed = bytearray(damaged.read_bytes())
    changed[40] ^= 1
    damaged.write_bytes(changed)
    with pytest.raises(
        CorpusError, match=r"-0000\.parquet is damaged; remove this file, and its texts are counted again\.$"
    ):
        write_counts(corpus, path, piece_size=20)
    assert done == [-1, 4, 5]
    damaged.unlink()
    write_counts(corpus, path, piece_size=20)
    assert done == [-1, 4, 5, 2]
    assert meaning(count_groups(Corpus.from_files(path), GPT2)) == meaning(count_groups(corpus, GPT2))


def test_counts_from_a_different_field_of_the_same_file_are_not_reused(tmp_path: Path) -> None:
    rows = write(tmp_path, "rows.jsonl", '{"a": "low low", "b": "new"}\n')
    by_field = [runs.pieces_of(Corpus.from_files(rows, field=field), GPT2, 100) for field in ("a", "b", "a")]
    first, other, again = [piece.name for (piece,) in by_field]
    assert first == again != other


def sum_of_counts(work: Place, names: list[str]) -> dict[bytes, int]:
    counts: dict[bytes, int] = {}
    for number in range(1 << runs.FEWEST_BITS):
        columns = runs.add_up(work, names, number)
        counts |= zip(columns.words.words(), columns.numbers.get("count", np.zeros(0, np.int64)).tolist(), strict=True)
    return counts


def test_two_workers_that_count_the_same_part_of_the_corpus_do_not_mix_up_the_files_they_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that was declared lost may still be running while a second worker counts the same piece.

    The tables of the two workers may have different sizes.
    """
    corpus = Corpus.from_files(write(tmp_path, "a.txt", "low lower low new"))
    head, work = runs.head_of(corpus, GPT2), runs.place_of(str(tmp_path / "work"))
    work.make()
    (piece,) = runs.pieces_of(corpus, GPT2, 100)

    def tables(*texts: str) -> Iterator[WordTable]:
        return (count_words(Corpus.from_texts([text]), GPT2) for text in texts)

    def while_another_counts() -> Iterator[WordTable]:
        yield from tables("low lower")
        monkeypatch.setattr(runs, "count_in_runs", lambda *_: tables("low", " lower low new"))
        runs.count_piece(piece, GPT2, head, work)
        yield from tables(" low new")

    monkeypatch.setattr(runs, "count_in_runs", lambda *_: while_another_counts())
    runs.count_piece(piece, GPT2, head, work)
    names = [*runs.runs_of([piece], work)]
    assert sum_of_counts(work, names) == dict(count_words(corpus, GPT2))
    kept = to_files.add_up_range(work, names, head, 0), (old := to_files.add_up_range(work, names[:1], head, 0))
    assert kept[0].name != old.name, "who still adds up other runs does not write into this file"


def test_a_remote_text_is_counted_again_after_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, order = fsspec.filesystem("memory"), CountingOrder("memory://out/counts.parquet", piece_size=3)
    memory.pipe({"/texts/1.txt": b"low", "/texts/2.txt": b"new"})

    def full(*_: object) -> None:
        raise OutputError("Could not write the counts: no room.")

    with monkeypatch.context() as patch:
        patch.setattr(to_files, "write_part", full)
        with pytest.raises(OutputError):
            count_to_file(Corpus.from_files("memory://texts"), GPT2, order)
    memory.pipe("/texts/1.txt", b"old")
    corpus = Corpus.from_files("memory://texts")
    count_to_file(corpus, GPT2, order)
    counted = count_words(Corpus.from_files("memory://out/counts.parquet"), GPT2)
    memory.store.clear()
    assert dict(counted) == {b"old": 1, b"new": 1}


def test_an_existing_folder_of_counts_is_kept_if_its_replacement_fails(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = files(write_counts(corpus, tmp_path / "folder", partition_size=400))
    fresh = files(write_counts(corpus, tmp_path / "fresh", partition_size=200))

    def failing(*_: object) -> None:
        raise OutputError("Could not write counts.json: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(to_files, "_finish_output", failing)
        with pytest.raises(OutputError, match="No space left"):
            write_counts(corpus, tmp_path / "folder", partition_size=200)
    assert files(tmp_path / "folder") == old != fresh
    assert files(write_counts(corpus, tmp_path / "folder", partition_size=200)) == fresh
    assert not [*tmp_path.glob(".*")]
    (tmp_path / "folder/counts.json").unlink()  # a version that was killed left the folder in this state
    assert files(write_counts(corpus, tmp_path / "folder", partition_size=200)) == fresh
    (tmp_path / "folder/notes.parquet").touch()
    with pytest.raises(OutputError, match="it is a folder with other files in it"):
        write_counts(corpus, tmp_path / "folder", partition_size=200)
    assert files(tmp_path / "folder") == {**fresh, "notes.parquet": b""}


def test_failures_of_cloud_storage_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe({f"/texts/{i}.txt": f"low lower new{i}".encode() for i in range(4)})
    texts, order = "memory://texts", CountingOrder("memory://out/counts.parquet", piece_size=9)
    bucket, opened = type(memory), type(memory)._open

    def gone(self: object, path: str, *given: object, **named: object) -> object:
        if path.endswith("2.txt"):
            raise TimeoutError
        return opened(self, path, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(bucket, "_open", gone)
        with pytest.raises(CorpusError) as caught:
            count_to_file(Corpus.from_files(texts), GPT2, order)
    assert str(caught.value) == (
        "memory://texts/2.txt could not be read: the server did not answer in time. Check the connection and try "
        "again. Finished parts are kept in memory://out/counts.parquet.counting; the same command continues from there."
    )
    corpus = Corpus.from_files(texts)

    def refused(self: object, path: str) -> None:
        raise PermissionError("AccessDenied")

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(bucket, "rm_file", refused)
            assert count_to_file(corpus, GPT2, order).total == 16
        (message,) = corpus.skipped
        assert str(message).startswith(
            "Counting is finished, but the folder memory://out/counts.parquet.counting could not be removed. Could"
        )
        corpus = Corpus.from_files(texts)
    memory.store.clear()


def test_files_of_counts_can_be_added_up_and_shown_and_used_for_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = write(tmp_path, "a.txt", "low lower low low"), write(tmp_path, "b.txt", "new low lower\n")
    names = [str(tmp_path / name) for name in ("a.parquet", "b.parquet", "all.parquet", "once.parquet")]
    assert run(["count", str(a), "-o", names[0]]) == run(["count", "--group", "b", str(b), "-o", names[1]]) == 0
    assert run(["count", *names[:2], "-o", names[2], "--quiet"]) == 0
    assert "Counted 4 words, 3 of them different. Wrote" in capsys.readouterr().out
    assert run(["count", names[2], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["first"][0] == {"word": " low", "count": 3, "groups": {"b": 1}}
    assert run(["count", names[2]]) == 0
    assert " 3                   1  “␣low”" in capsys.readouterr().out
    listed = str(tmp_path / "words.csv")
    assert run(["count", names[2], "--holding", "␣lowe", "--list", listed]) == 0
    titles, word = (row.split(",") for row in Path(listed).read_text(encoding="utf-8").splitlines())
    assert titles == ["text", "hex", "count", "share", "count in no group", "count in b"]
    assert [word[0], *word[2:]] == ["␣lower", "2", "0.25", "1", "1"]
    assert run(["count", names[2], "--list", listed, "-o", names[3]]) == 1
    capsys.readouterr()
    assert list(count_words(Corpus.from_files(names[2]), GPT2)) == list(count_words(Corpus.from_files([a, b]), GPT2))
    assert run(["train", names[2], "--merges", "2", "--min-word-count", "2", "--weights", "=1", "b=2"]) == 0
    printed = capsys.readouterr()
    assert (
        "Left out: 1 of 5 different words, because they occur fewer than 2 times: 3 of 45 bytes, 6.6667 %."
    ) in printed.err


def test_files_of_counts_that_do_not_fit_the_recipe_are_refused_with_an_error_message(
    tmp_path: Path, corpus: Corpus, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_counts(corpus, tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=r'was counted with pattern "gpt2", but the recipe has "cl100k"\. Choose'):
        count_words(Corpus.from_files(path), GPT2.with_changes(pattern="cl100k"))
    folder = write_counts(corpus, tmp_path / "folder", partition_size=200)
    with pytest.raises(OutputError, match="it is a folder with other files in it"):
        write_counts(corpus, tmp_path, partition_size=200)
    (tmp_path / "words").touch()
    with pytest.raises(OutputError, match=r"words: the name of a file must end in \.parquet"):
        write_counts(corpus, tmp_path / "words")
    assert not (tmp_path / "words.counting").exists()
    next(iter(sorted(folder.glob("part*")))).unlink()
    with pytest.raises(CorpusError, match="folder of counts with missing parts"):
        Corpus.from_files(folder)
    data = path.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(CorpusError, match="truncated"):
        Corpus.from_files(tmp_path / "cut.parquet")
    assert run(["count", str(path), "--memory", "much"]) == 2
    assert run(["count", str(path), "--weights", "de=2"]) == 1
    assert run(["count", str(path), "-o", str(tmp_path / "none" / "a.parquet")]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert run(["count", str(path), "-o", str(tmp_path / "words.tsv")]) == 1
    assert "give --list" in capsys.readouterr().err
    assert not (tmp_path / "words.tsv").exists()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert run(["count", str(tmp_path / "de0.txt"), "-o", "x.parquet"]) == 1
    assert "pip install 'bpe-explorer[parquet]'" in capsys.readouterr().err
    assert LocalPlace(tmp_path / "nowhere").names() == []
