"""Tests of corpora: texts come from all kinds of sources, and no document is joined with another document."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import CorpusError, EncodingError
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import documents, read, sentence, write


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=50)), st.integers(1, 20))
def test_a_corpus_returns_its_texts_one_by_one(texts: list[str], size: int) -> None:
    assert documents(Corpus.from_texts(texts), size) == [text for text in texts if text]


def test_a_corpus_of_a_list_can_be_read_twice_and_a_corpus_of_an_iterator_only_once() -> None:
    corpus = Corpus.from_texts(["low", "löw"])
    assert documents(corpus) == documents(corpus) == ["low", "löw"]
    assert corpus.total_size == 7
    stream = Corpus.from_texts(text for text in ["low", "lower"])
    assert stream.total_size is None
    assert documents(stream) == ["low", "lower"]
    with pytest.raises(CorpusError, match="have been read already; give a list"):
        documents(stream)


def test_a_single_text_in_place_of_a_list_of_texts_is_refused() -> None:
    with pytest.raises(CorpusError, match="Give a list of texts"):
        Corpus.from_texts("low lower")


def test_the_error_for_a_list_with_a_value_that_is_not_text_gives_the_position_of_the_value() -> None:
    with pytest.raises(CorpusError, match="Text 2 is of the type int"):
        documents(Corpus.from_texts(["low", 7]))  # type: ignore[list-item]


def test_a_lone_surrogate_in_a_text_is_refused_or_replaced_or_skipped() -> None:
    texts = ["fine", "n\ud83dw"]
    with pytest.raises(EncodingError, match=r"Text 2: character 2 is half of a surrogate pair \(U\+D83D\)"):
        documents(Corpus.from_texts(texts))
    replaced = Corpus.from_texts(texts, on_invalid="replace")
    assert documents(replaced) == ["fine", "n\ufffdw"]
    assert "text 2: character 2" in replaced.skipped[0].sentence
    assert documents(Corpus.from_texts(texts, on_invalid="skip")) == ["fine", "nw"]


def test_a_corpus_of_word_counts_has_counts_and_no_texts() -> None:
    corpus = Corpus.from_word_counts({"low": 5, "lower": 2})
    assert corpus.word_counts is not None
    assert list(corpus.word_counts) == [(b"low", 5), (b"lower", 2)]
    with pytest.raises(CorpusError, match="holds word counts, so its texts"):
        corpus.chunks()


@pytest.mark.parametrize("counts", [{"low": -1}, {"low": "5"}, {"low": 2**63}, {5: 5}, {"low": 1.5}])
def test_a_corpus_of_impossible_word_counts_is_refused(counts: dict[str, int]) -> None:
    with pytest.raises(CorpusError, match=r"low|5"):
        Corpus.from_word_counts(counts)


def test_each_file_of_a_corpus_is_one_document(tmp_path: Path) -> None:
    first = write(tmp_path, "a.txt", "no newline at the end")
    second = write(tmp_path, "b.txt", "another")
    corpus = Corpus.from_files([first, second])
    assert documents(corpus) == ["no newline at the end", "another"]
    assert [(s.name, s.size, s.kind, s.encoding) for s in corpus.sources] == [
        (str(first), 21, "text", "utf-8"),
        (str(second), 7, "text", "utf-8"),
    ]
    assert corpus.total_size == 28
    assert [(chunk.source, chunk.bytes_read) for chunk in corpus.chunks()] == [(0, 21), (1, 7)]


@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), size=st.integers(1, 90)
)
def test_any_text_is_read_back_unchanged_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int
) -> None:
    path = write(tmp_path_factory.mktemp("any"), "a.txt", text * 9)
    assert "".join(read(path, size)) == (text * 9).removeprefix("\ufeff")


def test_a_chunk_of_a_corpus_does_not_change_when_the_next_chunk_is_read(tmp_path: Path) -> None:
    text = "".join(f"line {i} é\n" for i in range(2000))
    corpus = Corpus.from_files(write(tmp_path, "a.txt", text))
    chunks = list(corpus.chunks(1000))
    assert b"".join(bytes(chunk.data) for chunk in chunks).decode() == text
    assert [chunk.bytes_read for chunk in chunks] == sorted({chunk.bytes_read for chunk in chunks})
    assert chunks[-1].bytes_read == corpus.total_size


def test_several_threads_can_share_one_iterator_of_chunks_under_a_lock(tmp_path: Path) -> None:
    text = "".join(f"line {i} 😀\n" for i in range(50_000))
    chunks = Corpus.from_files(write(tmp_path, "a.txt", text)).chunks(4096)
    lock = threading.Lock()
    taken: list[tuple[int, bytes]] = []

    def take() -> None:
        while True:
            with lock:
                chunk = next(chunks, None)
            if chunk is None:
                return
            taken.append((chunk.bytes_read, bytes(chunk.data)))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b"".join(data for _, data in sorted(taken)).decode() == text


def test_standard_input_is_read_as_one_text_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("low löw".encode())))
    corpus = Corpus.from_files(["-"])
    assert (corpus.sources[0].name, corpus.total_size) == ("standard input", None)
    assert documents(corpus) == ["low löw"]
    with pytest.raises(CorpusError, match="standard input has been read already"):
        documents(corpus)


def test_a_missing_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "no standard input" in sentence("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_inspecting_a_named_pipe_does_not_consume_its_content(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"through a pipe",))
    writer.start()
    assert read(pipe) == ["through a pipe"]
    writer.join()


def test_joining_corpora_keeps_the_order_of_their_texts(tmp_path: Path) -> None:
    write(tmp_path, "folder/picture.png", b"\x89PNG\0")
    write(tmp_path, "folder/a.txt", "low")
    joined = Corpus.joined([Corpus.from_files(tmp_path / "folder"), Corpus.from_texts(["lower"])])
    assert documents(joined) == ["low", "lower"]
    assert [chunk.source for chunk in joined.chunks()] == [0, 1]
    assert joined.total_size == 8
    assert len(joined.skipped) == 1
    with pytest.raises(CorpusError, match="cannot be joined"):
        Corpus.joined([joined, Corpus.from_word_counts({"low": 1})])


def test_a_corpus_read_twice_reports_its_skipped_bytes_only_once(tmp_path: Path) -> None:
    corpus = Corpus.from_files(write(tmp_path, "a.txt", b"l\xffw"), on_invalid="skip")
    assert not corpus.skipped
    assert documents(corpus) == documents(corpus) == ["lw"]
    assert len(corpus.skipped) == 1
    assert corpus.skipped[0].count == 1


def test_a_corpus_without_files_is_refused() -> None:
    assert "name at least one file" in sentence([])
