"""Tests that compare the benchmark with the same values computed in plain Python."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, CorpusError
from bpe_core.figures.from_table import dots_chart
from bpe_core.figures.painter import drawn
from bpe_core.figures.sheet import Paper
from bpe_core.formats import write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.tokenized_words import tokens_by_word
from bpe_core.measures import benchmark as measuring
from bpe_core.measures.benchmark import benchmark, checked_parallel, parity_of
from bpe_core.measures.bootstrap import LEAST
from bpe_core.measures.size_curves import USUAL_POWER, renyi_efficiency
from bpe_core.measures.texts_in_words import TextsInWords
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions import ask
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting import compiled_encoder as compiled_encoder  # so that even short texts are divided
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import Work
from bpe_core.sweep.overlay import overlay
from bpe_core.text.characters import LONG, count_parts_between_blanks
from bpe_core.text.corpus import Corpus
from resources import parallel_samples
from tests.core.insight.test_corpus_history import renyi_by_formula
from tests.core.learning import train
from tests.core.random_training import recipes, words
from tests.shared import available_texts, text_of

LETTERS = st.text("ab é本\n\x1cΣ\u0301", min_size=1, max_size=12)


@given(
    words(),
    recipes(),
    st.dictionaries(st.sampled_from("xyz"), st.lists(LETTERS, min_size=1, max_size=3), min_size=1),
    st.sampled_from([0, measuring.WORTH_COUNTING]),
)
def test_every_benchmark_value_matches_a_plain_python_count(
    table: WordTable, recipe: Recipe, texts: dict[str, list[str]], worth_counting: int
) -> None:
    history = reference.train(table, recipe)
    with (
        # Both ways: encode each text, or encode each word once.
        mock.patch.object(measuring, "WORTH_COUNTING", worth_counting),
        mock.patch.object(compiled_encoder, "GIVEN_AT_ONCE", 3),  # and words some after the others
    ):
        results = benchmark({"begin": (history, 0), "end": history}, texts, relative_to="end", threads=1)
    tokenizer, place = Tokenizer(history), 0
    for at in (0, len(history)):
        for name, documents in texts.items():
            ids = [id for text in documents for id in tokenizer.encode(text, at=at)]
            last = [id for text in documents for id in tokenizer.encode(text)]
            unknown = sum(id < len(history.alphabet) and history.alphabet.symbols[id].kind == "unknown" for id in ids)
            size, total = len("".join(documents).encode()), sum(len(text.split()) for text in documents)
            expected = {
                "bytes": size,
                "tokens": len(ids),
                "words": total,
                "bytes_per_token": _part(size, len(ids)),
                "tokens_per_word": _part(len(ids), total),
                "renyi_efficiency": renyi_by_formula(Counter(ids), USUAL_POWER),
                "share_in_use": len(set(ids)) / tokenizer.vocabulary_size(at),
                "unknown_share": _part(unknown, len(ids)),
                "unencoded_share": _share_of_unknown_text(documents, tokenizer, at),
                "relative_tokens": _part(len(ids), len(last)),
            }
            measured = {column: float(results.columns[column][place]) for column in expected}
            assert measured == pytest.approx(expected, nan_ok=True)
            assert (results.columns["text"][place], results.columns["step"][place]) == (name, at)
            place += 1


def _share_of_unknown_text(documents: list[str], tokenizer: Tokenizer, at: int) -> float:
    """Return the share of the text, between 0 and 1, that the tokenizer encodes as unknown.

    The text is examined letter by letter.
    """
    known, size = 0, 0
    symbols = tokenizer.history.alphabet.symbols
    for word in " ".join(documents).split():
        unencoded: set[int] = set()
        for start, stop, id in tokenizer.spans(word, at):
            if id >= len(symbols) or symbols[id].kind != "unknown":
                unencoded.update(range(start, stop))
        for place, letter in enumerate(word):
            begin = len(word[:place].encode())
            here = set(range(begin, begin + len(letter.encode())))
            size += len(here)
            known += len(here & unencoded) if tokenizer.encode(letter, at=at) else 0
    return (size - known) / size if size else 0.0


def _part(part: int, of: int) -> float:
    return part / of if of else math.nan


def test_benchmark_values_of_real_texts_match_the_plain_python_reference() -> None:
    texts = {
        name: text_of(name)[-500:] for name in available_texts("data/raven.txt", "data/tinyshakespeare.txt", "prose")
    }
    history = train(Corpus.from_texts([*texts.values()]), Recipe.preset("gpt2", vocab_size=330))
    results = benchmark({"half": (history, 37), "all": history}, texts)
    ids = {at: {name: reference.encode(text, history, at=at) for name, text in texts.items()} for at in (37, 74)}
    expected = [
        {
            "tokens": len(encoded),
            "bytes_per_token": len(texts[name].encode()) / len(encoded),
            "tokens_per_word": len(encoded) / len(texts[name].split()),
            "renyi_efficiency": renyi_by_formula(Counter(encoded), USUAL_POWER),
            "share_in_use": len({*encoded}) / (256 + at),
            "relative_tokens": len(encoded) / len(ids[37][name]),
        }
        for at in ids
        for name, encoded in ids[at].items()
    ]
    for column in expected[0]:
        assert list(results.columns[column]) == pytest.approx([row[column] for row in expected]), column
    curve = overlay({"all": history}, [*texts.values()], sizes=[256 + 37, 256 + 74]).columns
    sums = [sum(map(len, of.values())) for of in ids.values()]
    assert (list(curve["tokens"]), list(curve["step"])) == (sums, [37, 74])


@given(st.text("a \u2003\u3000漢\n\x1c\ud800", max_size=20))
def test_the_number_of_words_between_blanks_matches_the_split_method_of_python(text: str) -> None:
    assert count_parts_between_blanks(text * (LONG // 9)) == len((text * (LONG // 9)).split())


@pytest.mark.parametrize("preset", ["bert", "unigram", "clean-words", "sentencepiece-like"])
def test_token_counts_computed_from_words_match_the_token_counts_of_encoded_texts(preset: str) -> None:
    recipe = Recipe.preset(preset, vocab_size=None, merges=60) if preset != "unigram" else _unigram()
    texts = {"a": [text_of("poem"), "two  blanks, [UNK] <s>\r\n"], "b": [text_of("emoji")[:300]]}
    history = train(Corpus.from_texts(texts["a"]), recipe)
    tokenizer, in_words = Tokenizer(history), TextsInWords.of(texts, recipe)
    cut_at = in_words.cuts(history)
    for at in (len(history) // 2, len(history)):
        cut, plain = in_words.cut(history, at), cut_at(at)  # the kernels, and the plain encoder
        assert (cut.ids.tolist(), cut.starts.tolist()) == (plain.ids.tolist(), plain.starts.tolist())
        for place, (name, documents) in enumerate(texts.items()):
            ids = [id for text in documents for id in tokenizer.encode(text, at=at)]
            assert cut.counts(name).tolist() == np.bincount(ids, minlength=history.index_count).tolist()
            assert cut.tokens_by_text[place] == len(ids)


def _unigram() -> Recipe:
    return Recipe.preset("unigram", vocab_size=150)


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=2), min_size=1, max_size=5))
def test_parity_measures_match_a_plain_python_count(lengths: list[list[int]]) -> None:
    parallel = {f"l{i}": ["a" * length for length in both] for i, both in enumerate(lengths)}
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    parity = parity_of(benchmark({"bytes": history}, checked_parallel(parallel)), f"l{len(lengths) - 1}")
    tokens = [sum(both) for both in lengths]
    assert parity.premium.tolist() == [count / tokens[-1] for count in tokens]
    differences = sum(abs(count - other_count) for count in tokens for other_count in tokens)
    summary = {name: parity.summary[name][0] for name in ("worst", "spread", "gini")}
    assert summary == pytest.approx(
        {
            "worst": max(tokens) / tokens[-1],
            "spread": max(tokens) / min(tokens),
            "gini": differences / (2 * len(tokens) * sum(tokens)),
        }
    )


def test_the_parity_measure_leaves_out_a_language_that_cannot_be_encoded() -> None:
    history = train(
        Corpus.from_texts(["the lowest of the low is lower than the rest " * 20]),
        Recipe.preset("unigram", vocab_size=24),
    )
    parallel = {"en": ["the lowest of the low"], "es": ["the rest lower the rest is"], "ru": ["низкий день самый"]}
    measured = benchmark({"unigram": history}, checked_parallel(parallel))
    assert measured.of("unencoded_share")[0].tolist() == [0.0, 0.0, 1.0]
    parity = parity_of(measured)
    assert parity.summary["left_out"] == ["ru"]
    assert parity.summary["worst_language"][0] in ("en", "es")
    en, es = measured.of("tokens")[0, :2].tolist()
    assert parity.summary["spread"][0] == pytest.approx(max(en, es) / min(en, es))
    assert parity.sentences[0].startswith(
        "unigram: without ru, because more than 1% of the text is not encoded: worst e"
    )
    (nothing,) = parity_of(measured, "ru").sentences
    assert nothing.endswith("no two texts are left to compare.")
    figure = dots_chart(DataTable(measured.columns), "bytes_per_token")
    assert [figure.is_hollow(0, column) for column in range(3)] == [False, False, True]
    assert figure.in_words.endswith("1 of 3 dots are drawn hollow, because more than 1% of the text is not encoded.")
    assert drawn(figure, Paper(is_alone=True)).count('fill="none"') == 1


def test_the_parity_measure_reports_texts_without_tokens() -> None:
    history = History.from_pairs(Recipe.preset("gpt2", pattern="whitespace"), Alphabet.of_bytes(), [])
    parallel = checked_parallel({"blank": [" ", ""], "de": "ja\nnein\n", "en": iter(["yes", "no"])})
    parity = parity_of(benchmark({"bytes": history}, parallel))
    assert np.isnan([parity.summary[name][0] for name in ("worst", "spread")]).all()
    blank = "bytes: worst de, and blank has no tokens; one text has no tokens; Gini 0.364."
    assert parity.sentences == (blank,)
    of_bytes = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    measured = overlay({"bytes": (of_bytes, 0)}, [" "] * LEAST + ["low"]).columns  # some draws have no word
    assert (measured["tokens_per_word"][0], math.isnan(measured["tokens_per_word_high"][0])) == (8, True)
    for at in (-1, 1):
        with pytest.raises(BpeError, match=f"has 0 steps, so it cannot be measured after step {at}"):
            overlay({"bytes": (history, at)}, "low")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parallel").mkdir()
    for language, sentences in parallel_samples().items():
        (tmp_path / "parallel" / f"{language}.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    assert (
        run(["train", str(tmp_path / "parallel"), "--merges", "20", "--output", str(tmp_path / "m.csv"), "--quiet"])
        == 0
    )
    return tmp_path


def test_the_benchmark_command_writes_its_rows_as_a_csv_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, output = str(folder / "m.csv"), folder / "out.csv"
    own = ["benchmark", table, "--sizes", "260", "276", "--parallel", "--reference", "en", "--json"]
    assert run(own) == 0
    report = json.loads(capsys.readouterr().out)
    assert run([*own[:6], str(folder / "parallel"), *own[6:], "-o", str(output)]) == 0
    with output.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert json.loads(capsys.readouterr().out)["parity"] == report["parity"]
    assert [row["tokenizer"] for row in written[::8]] == [f"{table}@260", f"{table}@276"]
    for row, other in zip(written, report["rows"], strict=True):
        assert {name: row[name] for name in row if name != "seconds"} == {
            name: str(value) for name, value in other.items() if name != "seconds"
        }
    assert run(["benchmark", table, "--group", "en", str(folder / "parallel/en.txt")]) == 0
    assert "bytes/token" in capsys.readouterr().out


def test_the_benchmark_reports_the_share_of_text_that_cannot_be_encoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"seen": ["ab ab ba"], "half": ["ab xy"], "all": ["xyz"], "one": ["abc"], "two": ["abcd"]}
    recipe = Recipe.preset("clean-words", merges=1, vocab_size=None)
    history = train(Corpus.from_texts(texts["seen"]), recipe)
    everything = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    remark, unequal = benchmark({"bytes": everything, "words": history}, texts).remarks
    assert unequal.startswith("The vocabularies have different sizes (")
    shares = (
        "100.00% of all, 50.00% of half, 50.00% of two and parts of 1 more text "
        "(shares of the bytes, spaces not counted)"
    )
    assert remark.startswith(f"words cannot encode everything: {shares} become unknown tokens or no tokens")
    write_history(history, tmp_path / "words.csv")
    (tmp_path / "text.txt").write_text("xyz", encoding="utf-8")
    asked = ["benchmark", str(tmp_path / "words.csv"), "--texts", str(tmp_path / "text.txt")]
    for more in ([], ["--json"], ["-o", str(tmp_path / "out.csv")]):
        assert run([*asked, *more]) == 0
        assert "words.csv cannot encode everything: 100.00% of " in capsys.readouterr().out
    write_history(train(Corpus.from_texts(["ab ab"]), Recipe(vocab_size=257)), tmp_path / "ab.tiktoken")
    assert run(["benchmark", str(tmp_path / "ab.tiktoken"), *asked[2:]]) == 0
    assert "ab.tiktoken: A .tiktoken file does not say how text is split" in capsys.readouterr().err


def test_impossible_benchmark_options_are_reported_in_an_error_message(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(folder / "m.csv")
    (folder / "parallel/en.txt").write_text("one line\n")
    for arguments, sentence in (
        (["--parallel", str(folder / "parallel")], "en has 1 line, and de has 10"),
        (["--parallel", "--reference", "xx"], "There is no language 'xx'"),
        (["--texts", table, "-o", "x.doc"], "The name x.doc must end in .svg"),
        (["--parallel", "--relative-to", "yy"], "There is no tokenizer 'yy'"),
    ):
        assert run(["benchmark", table, *arguments]) == 1
        assert sentence in capsys.readouterr().err
    (folder / "nothing.txt").touch()
    (folder / "folder").mkdir()
    for empty, sentence in (("nothing.txt", "nothing.txt is empty"), ("folder", "no file in the folder")):
        groups = ["--group", "one", str(folder / "parallel/de.txt"), "--group", "two", str(folder / empty)]
        assert run(["benchmark", table, *groups]) == 1
        assert sentence in capsys.readouterr().err
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    with pytest.raises(CorpusError, match="'nothing' is empty"):
        benchmark({"bytes": history}, {"nothing": [""]})
    with pytest.raises(BpeError, match="at least one tokenizer"):
        benchmark({}, {"a": "b"})
    with pytest.raises(Cancelled):
        benchmark({"bytes": history}, {"a": "b"}, work=Work(cancelled=lambda: True))
    words, asked = WordTable.from_counts({f" {number}": 1 for number in range(100)}), iter([False, False, True])
    with mock.patch.object(compiled_encoder, "GIVEN_AT_ONCE", 30), pytest.raises(Cancelled):
        tokens_by_word(words, history.recipe, history, 0, cancelled=lambda: next(asked))


def test_the_benchmark_accepts_a_power_for_the_renyi_entropy() -> None:
    recipe = Recipe.preset("gpt2", merges=30)
    study = Study(train(Corpus.from_texts(["the lowest price is lower than the last one. " * 9]), recipe))
    text = "the lowest of the last"
    asked = {"texts": texts_of({"en": text})}
    usual, shannon = (
        ask({"ours": study}, "benchmark", power=power, **asked).columns["renyi_efficiency"][0] for power in (2.5, 1.0)
    )
    counts = Counter(study.encode(text))
    assert usual != shannon
    assert shannon == pytest.approx(renyi_efficiency([*counts.values()], power=1.0))
    with pytest.raises(BpeError, match="number above 0"):
        ask({"ours": study}, "benchmark", power=0.0, **asked)
