"""Tests of the check of a merge table: a correct table passes, and each mistake is reported with its step."""

from __future__ import annotations

import base64
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

from bpe_core.asking import Answer
from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.questions import ask
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.making import open_study, train
from bpe_core.studies.study import Study
from bpe_core.studies.texts import files
from bpe_core.text.patterns import NAMED_PATTERNS

OWN = Path(__file__).parents[1] / "texts"
LATIN, PROSE = OWN / "latin.txt", OWN / "prose.txt"
Merges = list[tuple[int, int]]
Value = Callable[[tuple[int, int], int], int]


def unchanged_count(pair: tuple[int, int], count: int) -> int:
    return count


def learn_with_changed_counts(
    words: dict[str, int], merges: int, value: Value = unchanged_count, least: int = 2
) -> tuple[Merges, int | None]:
    """Train in plain Python with altered counts, as a faulty trainer would.

    `value` returns the altered count of a pair. Return the merges, and the first step that does not merge the
    most frequent pair. The step is None if all steps merge the most frequent pair.
    """
    known = [(list(word.encode()), count) for word, count in words.items()]
    merges_so_far, wrong = [], None
    for step in range(merges):
        counts: Counter[tuple[int, int]] = Counter()
        for symbols, count in known:
            for pair in pairwise(symbols):
                counts[pair] += count
        if not counts:
            break
        best = max(counts, key=lambda pair: value(pair, counts[pair]))
        if value(best, counts[best]) < least:
            break
        if wrong is None and counts[best] < max(counts.values()):
            wrong = step + 1
        merges_so_far.append(best)
        known = [(join_pair(symbols, best, 256 + step), count) for symbols, count in known]
    return merges_so_far, wrong


def join_pair(symbols: list[int], pair: tuple[int, int], token: int) -> list[int]:
    result: list[int] = []
    for symbol in symbols:
        if result and (result[-1], symbol) == pair:
            result[-1] = token
        else:
            result.append(symbol)
    return result


def split(text: str, pattern: str = "gpt2") -> dict[str, int]:
    return Counter(regex.findall(NAMED_PATTERNS[pattern].expression, text))


def check_merges(merges: Merges, words: dict[str, int], **choices: Any) -> Answer:
    recipe = Recipe.preset("gpt2", merges=len(merges), **choices)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), merges)
    return ask(Study(history).with_texts(WordTable.from_counts(words)), "check")


@pytest.mark.parametrize("seed", range(12))  # each text with each kind of counter
def test_the_check_question_finds_the_step_at_which_a_count_overflowed_32_bits(seed: int) -> None:
    rng = random.Random(seed)
    text = (LATIN if seed % 2 else PROSE).read_text(encoding="utf-8")[seed * 50 :][:4_000]
    words = split(text)
    first = Counter[tuple[int, int]]()
    for word, count in words.items():
        for pair in pairwise(word.encode()):
            first[pair] += count
    span, only_new = (2**31, 2**32)[seed % 3 == 0], seed % 4 > 0
    scale = span // (sorted(first.values())[-rng.choice((2, 5, 9))] // (1 + 5 * only_new)) + 1
    words = {word: count * scale + rng.randrange(scale // 3) for word, count in words.items()}

    def value(pair: tuple[int, int], count: int) -> int:
        """Return the count as a 32-bit integer, signed or unsigned. A count that is too large wraps around.

        If `only_new` is true, only the counts of pairs with new tokens are changed.
        """
        if only_new and max(pair) < 256:
            return count
        return (count + 2**31) % 2**32 - 2**31 if span == 2**31 else count % 2**32

    merges, wrong = learn_with_changed_counts(words, 60, value)
    answer = check_merges(merges, words)
    assert wrong is not None
    assert (answer.columns["step"][0], answer.columns["kind"][0]) == (wrong, "wrapped")
    assert answer.differs
    assert f"Step {wrong:,} is the first wrong step." in answer.sentences[0]


TEXTS = (LATIN, PROSE, OWN / "greek.txt", OWN / "code.txt", OWN / "cyrillic.txt")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_the_check_question_finds_no_mistake_in_a_valid_table(text: Path, tmp_path: Path) -> None:
    for path in [
        *_tables_of_this_program(text, tmp_path),
        *_tables_of_plain_code(text, tmp_path),
        *_tables_of_libraries(text, tmp_path),
    ]:
        answer = ask(open_study(path).with_texts(files(str(text))), "check")
        assert not answer.differs, (path.name, answer.sentences)
        assert len(answer.table) == 0
        assert answer.facts["right"] == answer.facts["steps"] > 5


def _tables_of_this_program(text: Path, folder: Path) -> list[Path]:
    chosen = (("gpt2", "first-seen"), ("o200k", "largest-text"), ("sentencepiece-like", "lowest-ids"))
    paths = []
    for preset, ties in chosen:
        paths.append(folder / f"own-{preset}.csv")
        words = text.read_text(encoding="utf-8")
        size: dict[str, Any] = {"merges": 300}
        train(words, preset, ties=ties, **size).save(paths[-1])
    return paths


def _tables_of_plain_code(text: Path, folder: Path) -> list[Path]:
    paths = []
    for pattern in ("gpt2", "cl100k"):
        merges, _ = learn_with_changed_counts(split(text.read_text(encoding="utf-8"), pattern), 80)
        tokens = [bytes([byte]) for byte in range(256)]
        for left, right in merges:
            tokens.append(tokens[left] + tokens[right])
        model, ranks = folder / f"{pattern}.model", folder / f"{pattern}.tiktoken"
        rows = [f"{left} {right}\n" for left, right in merges]
        expression = NAMED_PATTERNS[pattern].expression
        model.write_text(f"minbpe v1\n{expression}\n0\n{''.join(rows)}", encoding="utf-8")
        lines = [f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
        ranks.write_text("".join(lines), encoding="utf-8")
        paths += [model, *([ranks] if len(set(tokens)) == len(tokens) else [])]
    return paths


def _tables_of_libraries(text: Path, folder: Path) -> list[Path]:
    tokenizers, sentencepiece = pytest.importorskip("tokenizers"), pytest.importorskip("sentencepiece")
    path = folder / "tokenizer.json"
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=900, show_progress=False, initial_alphabet=alphabet)
    other.train([str(text)], trainer)
    other.save(str(path))
    paths = [path]
    # More tokens than characters, so merges would join pairs that do not occur.
    size = len(set(text.read_text(encoding="utf-8"))) + 100
    for name, more in (("usual", {}), ("plain", {"split_by_unicode_script": False, "split_by_number": False})):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_writer=model, model_type="bpe", vocab_size=size, hard_vocab_limit=False,
            minloglevel=2, **more,
        )  # fmt: skip
        paths.append(folder / f"{name}.model")
        paths[-1].write_bytes(model.getvalue())
    return paths


WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def kinds(answer: Answer) -> list[tuple[int, str]]:
    return list(zip(answer.columns["step"], answer.columns["kind"], strict=True))


def test_the_check_of_merges_identifies_each_kind_of_mistake() -> None:
    sound, _ = learn_with_changed_counts(WORDS, 6)
    assert kinds(check_merges(sound, WORDS)) == []
    u, g, n, h, p = (ord(letter) for letter in "ugnhp")
    assert kinds(check_merges([(u, n), (h, u), (257, g), (p, 256)], WORDS))[0] == (1, "skipped")
    assert kinds(check_merges([(u, n), (u, g), (h, 257), (p, 256)], WORDS))[0] == (1, "order")
    assert (2, "zero") in kinds(check_merges([(u, g), (g, u)], WORDS))
    assert kinds(check_merges([(u, g), (u, n), (p, 257), (p, 256), (h, 256)], WORDS))[0] == (3, "order")
    assert kinds(check_merges([(97, 98), (100, 101)], {"abc": 10, "de": 5})) == [(2, "length")]


def test_the_check_question_uses_the_tie_rule_and_the_minimum_count_stated_in_the_table(tmp_path: Path) -> None:
    path = tmp_path / "said.csv"
    study = train(["ab cd ab cd ef"], "words", merges=3, min_frequency=1)
    study.save(path)
    text = path.read_text(encoding="utf-8")
    assert not ask(open_study(path).with_texts(["ab cd ab cd ef"]), "check").differs
    path.write_text(text.replace('"min_frequency": 1', '"min_frequency": 2').replace('""min_frequency"": 1',
                    '""min_frequency"": 2'), encoding="utf-8")  # fmt: skip
    assert (3, "minimum") in kinds(ask(open_study(path).with_texts(["ab cd ab cd ef"]), "check"))
    path.write_text(text.replace("first-seen", "largest-text"), encoding="utf-8")
    assert kinds(ask(open_study(path).with_texts(["ab cd ab cd ef"]), "check"))[0] == (1, "ties")


def test_the_check_question_suggests_a_different_pattern_that_fits_the_merges(tmp_path: Path) -> None:
    text = PROSE.read_text(encoding="utf-8")
    study = train(text, "gpt2", pattern="bert", merges=200)
    recipe = study.history.recipe.with_changes(pattern="gpt2")
    history = History.from_pairs(recipe, study.history.alphabet, study.history.pairs())
    answer = ask(Study(history).with_texts([text]), "check")
    assert answer.differs
    assert answer.facts["splitting"] == "bert"
    assert "but with this pattern only the first" in answer.sentences[0]
    assert answer.facts["right"] == len(history)


def test_the_check_question_checks_superword_merges_in_two_stages(tmp_path: Path) -> None:
    """A file for other libraries does not say that the training had two stages."""
    text = PROSE.read_text(encoding="utf-8")
    study = train(text, "superbpe", merges=300, transition=150, words_by="gpt2", most_words=3)
    study.save(tmp_path / "tokenizer.json")
    table = open_study(tmp_path / "tokenizer.json")
    assert table.history.recipe.method == "bpe"
    answer = ask(table.with_texts([text]), "check")
    assert not answer.differs
    assert "the first 150 merges stay within words" in answer.sentences[0]
    assert "at most 3 words in a token, and no token continues after a colon" in answer.sentences[0]
    merges = study.history.pairs()
    rarer = next(pair for pair in merges[-50:] if max(pair) < 256 + 160)
    wrong = History.from_pairs(table.history.recipe, table.history.alphabet, [*merges[:160], rarer])
    assert kinds(ask(Study(wrong).with_texts([text]), "check"))[0] == (161, "skipped")


def test_the_check_question_accepts_a_table_of_a_trainer_that_balances_languages(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    files = [LATIN, OWN / "greek.txt"]
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=200, global_merges=20)
    lines = [path.read_text(encoding="utf-8").splitlines(keepends=True) for path in files]
    trainer.train_from_iterator(other, train_iterators=[iter(texts) for texts in lines], ratio=[1.0, 1.0])
    other.save(str(tmp_path / "tokenizer.json"))
    study = open_study(tmp_path / "tokenizer.json")
    answer = ask(study.with_texts(dict(zip(("la", "el"), map("".join, lines), strict=True))), "check")
    assert not answer.differs
    assert "balances languages" in answer.sentences[-1]
    together = ask(study.with_texts("".join(map("".join, lines))), "check")
    assert together.differs


def test_the_check_question_finds_impossible_counts_without_the_texts() -> None:
    merges = [(97, 98), (98, 99), (97, 257), (97, 98)]
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), merges)
    answer = ask(Study(history), "check")
    assert answer.differs
    assert {3, 4} <= set(answer.columns["step"])
    sound = train(["low low lower lowest"], "gpt2", vocab_size=260)
    assert not ask(Study(sound.history), "check").differs


def test_the_check_question_reports_a_table_that_was_probably_learned_from_other_texts() -> None:
    study = train(LATIN.read_text(encoding="utf-8"), "gpt2", merges=300)
    answer = ask(study.with_texts([(OWN / "greek.txt").read_text(encoding="utf-8")]), "check")
    assert answer.differs
    assert any("other texts" in sentence for sentence in answer.sentences)


def test_checking_a_pin_file_finds_a_changed_tokenizer_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "tokenizer.json"
    train(LATIN.read_text(encoding="utf-8"), "gpt2", merges=200).save(table)
    assert run(["pin", str(table)]) == 0
    pins = tmp_path / "tokenizer.pins.json"
    assert run(["check", "--pins", str(pins)]) == 0
    assert "as before" in capsys.readouterr().out
    train(PROSE.read_text(encoding="utf-8"), "gpt2", merges=200).save(table)
    assert run(["check", "--pins", str(pins)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert "is split differently" in lines[0]
    assert "the file has changed" in lines[0]
    pins.write_text("{}", encoding="utf-8")
    assert run(["check", "--pins", str(pins)]) == 1
    assert "holds no pins" in capsys.readouterr().err


def learned_by_tokenizers(lines: list[str], path: Path, size: int = 500, pattern: str = "", **options: Any) -> Study:
    tokenizers = pytest.importorskip("tokenizers")
    steps, alphabet = tokenizers.pre_tokenizers, tokenizers.pre_tokenizers.ByteLevel.alphabet()
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = steps.ByteLevel(add_prefix_space=False)
    if pattern:
        split_first = steps.Split(tokenizers.Regex(pattern), "isolated")
        by_bytes = steps.ByteLevel(add_prefix_space=False, use_regex=False)
        other.pre_tokenizer = steps.Sequence([split_first, by_bytes])
    usual = dict(vocab_size=size, show_progress=False, initial_alphabet=alphabet)
    other.train_from_iterator(lines, tokenizers.trainers.BpeTrainer(**usual, **options))
    other.save(str(path))
    return open_study(path)


CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_the_check_question_accepts_a_table_trained_on_lines_whose_line_breaks_were_removed(
    text: Path, tmp_path: Path
) -> None:
    """Such a table never joins a newline, although newlines are frequent in the file."""
    whole = text.read_text(encoding="utf-8").replace(".", ".\n") * 2
    study = learned_by_tokenizers(whole.split("\n"), tmp_path / "tokenizer.json", 700, CL100K)
    answer = ask(study.with_texts([whole]), "check")
    assert not answer.differs, answer.sentences
    assert "without its line break" in answer.sentences[0]


CODES: dict[str, Any] = dict(marker="glued", marker_text="</w>")


def test_the_check_question_recognizes_a_table_learned_from_lower_case_text(tmp_path: Path) -> None:
    whole = PROSE.read_text(encoding="utf-8")
    study = learned_by_tokenizers([whole.lower()], tmp_path / "tokenizer.json")
    answer = ask(study.with_texts([whole]), "check")
    assert answer.differs, "the table does not say so"
    assert "lower case" in answer.sentences[0]
    assert answer.facts["right"] == answer.facts["steps"]
    unsaid = train(whole.lower(), "words", merges=200, **CODES)
    unsaid.save(tmp_path / "text.codes")
    opened = ask(open_study(tmp_path / "text.codes").with_texts([whole]), "check")
    assert not opened.differs, "codes never say it"
    assert "lower case" in opened.sentences[0]


def test_the_check_question_accepts_subword_nmt_codes_learned_from_words_split_only_at_plain_spaces(
    tmp_path: Path,
) -> None:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe").learn_bpe
    text = PROSE.read_text(encoding="utf-8").replace(", ", "\t").replace(". ", "\u3000").replace("the ", "the\xa0")
    codes = io.StringIO()
    learn_bpe(io.StringIO(text), codes, 200)
    (tmp_path / "codes.txt").write_text(codes.getvalue(), encoding="utf-8")
    answer = ask(open_study(tmp_path / "codes.txt").with_texts([text]), "check")
    assert not answer.differs, answer.sentences
    assert "U+0020" in answer.sentences[0]


@pytest.mark.parametrize("limit", [16, 6])
def test_the_check_question_accepts_the_token_length_limit_of_sentencepiece(tmp_path: Path, limit: int) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    text = "internationalisations internationalisation\n" * 30 + PROSE.read_text(encoding="utf-8")
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_writer=model, model_type="bpe", vocab_size=400, hard_vocab_limit=False,
        minloglevel=2, max_sentencepiece_length=limit,
    )  # fmt: skip
    (tmp_path / "long.model").write_bytes(model.getvalue())
    answer = ask(open_study(tmp_path / "long.model").with_texts([text]), "check")
    assert not answer.differs, answer.sentences
    assert f"makes no token of more than {limit} symbols" in " ".join(answer.sentences)
    own = train([text], "gpt2", merges=100, max_token_length=8)
    assert not ask(own, "check").differs, "it says its limit"


def test_the_check_question_finds_a_wrong_count_in_a_table(tmp_path: Path) -> None:
    study, path = train(PROSE.read_text(encoding="utf-8"), "gpt2", merges=100), tmp_path / "table.json"
    study.save(path)
    assert not ask(open_study(path).with_texts(files(str(PROSE))), "check").differs
    stored_count = study.history.columns.count[1]
    text = path.read_text(encoding="utf-8")
    assert text.count(f'"count": {stored_count},') == 1
    path.write_text(text.replace(f'"count": {stored_count},', f'"count": {stored_count + 5},'), encoding="utf-8")
    answer = ask(open_study(path).with_texts(files(str(PROSE))), "check")
    assert kinds(answer) == [(2, "count")]
    assert answer.differs
    assert f"occurs {stored_count} times, but the table says {stored_count + 5}." in answer.sentences[0]
    twice = ask(study.with_texts([PROSE.read_text(encoding="utf-8")] * 2), "check")
    assert twice.differs
    assert kinds(twice) == [(1, "count")]
    assert "100 of the table's counts differ" in twice.sentences[0]


def test_the_check_question_finds_a_merge_that_is_listed_twice(tmp_path: Path) -> None:
    """An earlier version skipped a repeated merge without a message."""
    study = learned_by_tokenizers([PROSE.read_text(encoding="utf-8")], tmp_path / "tokenizer.json")
    path = tmp_path / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["merges"].insert(30, content["model"]["merges"][5])
    path.write_text(json.dumps(content), encoding="utf-8")
    codes = tmp_path / "text.codes"
    train(PROSE.read_text(encoding="utf-8"), "words", merges=50, **CODES).save(codes)
    lines = codes.read_text(encoding="utf-8").split("\n")
    codes.write_text("\n".join([*lines[:30], lines[5], *lines[30:]]), encoding="utf-8")
    for file in (path, codes):
        for answer in (ask(open_study(file), "check"), ask(open_study(file).with_texts(files(str(PROSE))), "check")):
            assert answer.differs
            assert "1 merge is listed more than once" in answer.sentences[0]
    assert not study.notes


SENTENCEPIECE_OPTIONS: dict[str, dict[str, Any]] = {
    "no blank before": {"add_dummy_prefix": False},
    "text as it is": {"normalization_rule_name": "identity"},
    "all spaces": {"remove_extra_whitespaces": False},
    "space behind": {"treat_whitespace_as_suffix": True},
    "digits apart": {"split_digits": True},
    "tokens of a user": {"user_defined_symbols": ["the", "self"]},
    "tokens across words": {"split_by_whitespace": False},
    "tokens across words, space behind": {"split_by_whitespace": False, "treat_whitespace_as_suffix": True},
    "any script at digits": {"split_by_number": False},
    "any script at digits, space behind": {"split_by_number": False, "treat_whitespace_as_suffix": True},
    "digits apart, space behind": {"split_digits": True, "treat_whitespace_as_suffix": True},
    "tokens of spaces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    "as for Gemma": {
        "split_by_whitespace": False, "split_digits": True, "byte_fallback": True, "add_dummy_prefix": False,
        "allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "vocab_size": 600,
        "normalization_rule_name": "identity",
    },
}  # fmt: skip


@pytest.mark.parametrize("options", SENTENCEPIECE_OPTIONS.values(), ids=SENTENCEPIECE_OPTIONS)
def test_the_check_question_accepts_tables_trained_with_any_option_of_sentencepiece(
    options: dict[str, Any], tmp_path: Path
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = (OWN / "code.txt").read_text(encoding="utf-8") + PROSE.read_text(encoding="utf-8").replace(
        ". ", ".\n  7 12 "
    )
    (tmp_path / "text.txt").write_text(lines, encoding="utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_writer=model, model_type="bpe", hard_vocab_limit=False, minloglevel=2,
        **{"vocab_size": 300, **options},
    )  # fmt: skip
    (tmp_path / "it.model").write_bytes(model.getvalue())
    study = open_study(tmp_path / "it.model")
    answer = ask(study.with_texts([lines]), "check")
    assert not answer.differs, answer.sentences
    assert answer.facts["right"] == answer.facts["steps"]
    other = lines[::-1][:2_000]  # every way to read a text that differs is tried
    assert ask(study.with_texts([other]), "check").differs


def test_the_check_question_accepts_a_table_whose_trainer_left_out_long_lines(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = PROSE.read_text(encoding="utf-8").split("\n")[:200] + ["this isle is his " * 300] * 3
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=200, hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    (tmp_path / "it.model").write_bytes(model.getvalue())
    answer = ask(open_study(tmp_path / "it.model").with_texts(["\n".join(lines)]), "check")
    assert not answer.differs, answer.sentences
    assert "without lines of more than 4,192 bytes" in answer.sentences[0]


def test_the_check_question_accepts_tokens_that_sentencepiece_added_when_no_pairs_were_left(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = "the cat sat on a mat\nand ran to the other cat\n" * 20
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines.split("\n")), model_writer=model, model_type="bpe", vocab_size=60,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    (tmp_path / "it.model").write_bytes(model.getvalue())
    study = open_study(tmp_path / "it.model")
    answer = ask(study.with_texts([lines]), "check")
    assert not answer.differs, answer.sentences
    assert any(sentence.startswith("After ") and "no pairs were left" in sentence for sentence in answer.sentences)
    assert ask(study.with_texts([lines.replace("cat", "tac")]), "check").differs


def test_the_check_question_accepts_a_table_whose_trainer_treated_special_tokens_as_ordinary_text(
    tmp_path: Path,
) -> None:
    whole = PROSE.read_text(encoding="utf-8").replace(". ", ".<|end|>")
    study = learned_by_tokenizers([whole], tmp_path / "tokenizer.json", special_tokens=["<|end|>"])
    answer = ask(study.with_texts([whole]), "check")
    assert not answer.differs, answer.sentences
    assert answer.sentences[0] == "The trainer read special tokens in the texts as ordinary text."


def test_the_check_question_accepts_a_table_learned_from_lines_whose_outer_spaces_were_removed(tmp_path: Path) -> None:
    whole = (OWN / "code.txt").read_text(encoding="utf-8") * 3
    study = learned_by_tokenizers([line.strip() for line in whole.split("\n")], tmp_path / "tokenizer.json")
    answer = ask(study.with_texts([whole]), "check")
    assert not answer.differs, answer.sentences
    assert "by line without the spaces at its ends fits best" in answer.sentences[0]


def test_the_check_question_accepts_the_token_length_limit_of_the_tokenizers_library(tmp_path: Path) -> None:
    whole = PROSE.read_text(encoding="utf-8") * 3
    study = learned_by_tokenizers([whole], tmp_path / "tokenizer.json", 400, max_token_length=5)
    answer = ask(study.with_texts([whole]), "check")
    assert not answer.differs, answer.sentences
    assert "the trainer makes no token of more than 4 symbols" in " ".join(answer.sentences)


def test_the_check_question_accepts_a_table_that_lacks_rare_characters(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    whole = (OWN / "chinese.txt").read_text(encoding="utf-8") * 2
    other = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    other.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    other.train_from_iterator(
        [whole],
        tokenizers.trainers.BpeTrainer(
            vocab_size=300, limit_alphabet=40, special_tokens=["[UNK]"], show_progress=False
        ),
    )
    other.save(str(tmp_path / "tokenizer.json"))
    answer = ask(open_study(tmp_path / "tokenizer.json").with_texts([whole]), "check")
    assert not answer.differs, answer.sentences
    assert answer.sentences[0] == "The trainer left out the characters that the table does not have."


def test_the_check_question_finds_the_pattern_of_a_file_that_names_no_pattern(tmp_path: Path) -> None:
    """If the question used the pattern that fits the tokens best, it would wrongly report an error in one merge."""
    whole = (OWN / "code.txt").read_text(encoding="utf-8") * 2 + PROSE.read_text(encoding="utf-8")
    study = train([whole], "o200k", merges=300)
    study.save(tmp_path / "it.tiktoken")
    answer = ask(open_study(tmp_path / "it.tiktoken").with_texts([whole]), "check")
    assert not answer.differs, answer.sentences


def test_the_check_question_finds_mistakes_in_a_table_of_integers(tmp_path: Path) -> None:
    chance = random.Random(4)
    np.save(tmp_path / "it.npy", np.array([chance.randrange(6) for _ in range(600)], np.uint16))
    recipe = Recipe(base="characters", base_symbols="integers", pattern="none", vocab_size=None, merges=12)
    study = train(files(str(tmp_path / "it.npy")), recipe)
    assert not ask(study, "check").differs
    pairs = study.history.pairs()
    base = len(study.history.alphabet)
    late = next(row for row, pair in enumerate(pairs) if row > 3 and max(pair) < base)
    wrong = History.from_pairs(recipe, study.history.alphabet, [pairs[late]])
    assert study.texts is not None
    assert ask(Study.of(wrong).with_texts(study.texts), "check").differs
