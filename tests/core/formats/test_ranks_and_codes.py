"""Tests of formats from which merges are recovered: ranks of tiktoken, codes of subword-nmt and pairs of minbpe."""

from __future__ import annotations

import base64
import io
import itertools
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS
from bpe_core.formats.tiktoken_ranks import read_ranks
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.core.formats.samples import (
    content,
    encode,
    files,
    languages,
    learn_preset,
    same_merges,
    texts,
    write_and_open,
)
from tests.core.learning import train
from tests.core.plain_training import join_pair
from tests.shared import ROOT

SIGNS = [b" ", b"\n", b"=", b"==", b"A===", b"-1", b"+", b" 7\n", b"IQ== 33\n", b"YWI= 256\n", b"99999999999", b"\xe9"]
TIKTOKEN, CODES, MINBPE = FORMATS["tiktoken"], FORMATS["subword-nmt"], FORMATS["minbpe"]

# --- tiktoken ---------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["gpt2", "cl100k", "o200k"])
def test_tiktoken_loads_our_ranks_file_with_the_same_ids(preset: str, tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    history = learn_preset(preset)
    path = tmp_path / "ours.tiktoken"
    path.write_bytes(content(history, "tiktoken"))
    ranks = {base64.b64decode(line.split()[0]): int(line.split()[1]) for line in path.read_bytes().splitlines()}
    theirs = tiktoken.Encoding(
        "ours", pat_str=NAMED_PATTERNS[preset].expression, mergeable_ranks=ranks, special_tokens={"<|end|>": len(ranks)}
    )
    for text in texts():
        assert encode(history, text) == theirs.encode_ordinary(text), text[:80]


@pytest.mark.parametrize("preset", ["gpt2", "cl100k"])
def test_merges_are_recovered_exactly_from_tiktoken_ranks(preset: str) -> None:
    history = learn_preset(preset)
    back = write_and_open(history, "tiktoken")
    assert same_merges(back.history, history)
    assert back.history.numbers is None


def test_a_ranks_file_is_opened_without_loading_other_formats_and_operations_on_texts(tmp_path: Path) -> None:
    ranks = tmp_path / "table.tiktoken"
    ranks.write_bytes(content(learn_preset("gpt2"), "tiktoken"))
    program = f"import sys, bpe_core; bpe_core.open({str(ranks)!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    unwanted = ("formats.merges_pair", "formats.transformers_beside", "text.decoding", "text.preparation.normalizers")
    assert {f"bpe_core.{name}" for name in unwanted}.isdisjoint(done.stdout.split())


def test_ranks_learned_by_rustbpe_are_opened_with_the_ids_of_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    rustbpe = pytest.importorskip("rustbpe", reason="the package rustbpe is not installed")
    expression = NAMED_PATTERNS["gpt2"].expression
    learner = rustbpe.Tokenizer()
    learner.train_from_iterator(iter([languages()]), 700, pattern=expression)
    learned_ranks = {bytes(token): rank for token, rank in learner.get_mergeable_ranks()}
    theirs = tiktoken.Encoding("theirs", pat_str=expression, mergeable_ranks=learned_ranks, special_tokens={})
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in learned_ranks.items()]
    opened = TIKTOKEN.open(b"".join(lines), "theirs.tiktoken")
    assert opened.history.recipe.pattern == "gpt2"
    for text in texts():
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode_ordinary(text), text[:80]


def ranks(*tokens: bytes, start: int = 256) -> bytes:
    """Return a ranks file with all bytes and then the tokens, whose ranks begin at `start`."""
    every = [bytes([byte]) for byte in range(256)]
    numbered = [*enumerate(every), *enumerate(tokens, start)]
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in numbered)


def test_a_token_that_no_merge_of_a_ranks_file_makes_is_reported_and_used_only_for_whole_words() -> None:
    opened = TIKTOKEN.open(ranks(b"xyz", b"ab"), "odd.tiktoken")
    assert len(opened.history) == 1
    assert any("“xyz”" in note and "whole word" in note for note in opened.notes)
    cut = Tokenizer(opened.history).encode
    assert [opened.numbers_of(cut(text)) for text in ("xyz", "xyzab")] == [[256], [120, 121, 122, 257]]


def test_a_token_listed_before_its_parts_in_a_ranks_file_is_reported_and_still_usable() -> None:
    opened = TIKTOKEN.open(ranks(b"abc", b"bc"), "odd.tiktoken")
    assert [Tokenizer(opened.history).token_bytes(merge.index) for merge in opened.history] == [b"bc", b"abc"]
    assert any("“abc”" in note and "not in the order of merges" in note for note in opened.notes)
    assert opened.numbers_of(Tokenizer(opened.history).encode("abc")) == [256]


def test_a_ranks_file_with_gaps_keeps_the_ids_of_its_tokens() -> None:
    opened = TIKTOKEN.open(ranks(b"ab", start=1000), "odd.tiktoken")
    assert opened.numbers_of(Tokenizer(opened.history).encode("ab")) == [1000]
    assert any("744" in note for note in opened.notes)


def test_exporting_a_table_as_ranks_reports_two_merges_that_make_the_same_text() -> None:
    """The training learns both a+bc and ab+c, because each pair is the most frequent at its step."""
    recipe = Recipe.preset("gpt2", merges=4, min_frequency=1, ties="lowest-ids")
    history = train(Corpus.from_texts(["abc abc abd abd bc bc bc bc bce bce"]), recipe)
    sentences = " ".join(TIKTOKEN.can_hold(history))
    assert ("cannot be recovered" in sentences or "same text" in sentences) == (
        not same_merges(write_and_open(history, "tiktoken").history, history)
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"IQ== 0\nIg==\n", r"odd, line 2: there must be a token in base64"),
        (b"IQ== 0\nIg= 1\n", r"odd, line 2: 'Ig=' is not base64"),
        (b"IQ== 0\nIg== -1\n", r"odd, line 2: '-1' is not a rank"),
        (b"IQ== 0\nIg== 99999999999\n", r"odd, line 2: '99999999999' is not a rank"),
        (b"IQ== 0\nIQ== 1\n", r"odd, line 2: the token b'!' has another rank"),
        (b"IQ== 0\nIg== 0\n", r"odd: the rank 0 is given to b'!' and to b'\"'"),
        (b"IQ== 0\nIg== 1\n", r"odd: 254 of the 256 bytes have no rank"),
        (b"IQ== 0\n 1\n", r"odd, line 2"),
    ],
)
def test_a_damaged_ranks_file_is_refused_with_a_line_number(data: bytes, sentence: str) -> None:
    assert TIKTOKEN.recognizes(data)
    with pytest.raises(FormatError, match=sentence):
        TIKTOKEN.open(data, "odd")


def test_a_ranks_file_with_its_lines_in_reverse_order_is_read_as_the_same_ranks() -> None:
    lines = ranks(b"ab", b"abc").splitlines(keepends=True)
    assert list(read_ranks(b"".join(reversed(lines)), "odd")) == list(read_ranks(b"".join(lines), "odd"))


def outcome(data: bytes) -> list[tuple[bytes, int]] | str:
    """Return the tokens and ranks of a file in order, or the sentence that refuses the file."""
    try:
        return [*read_ranks(data, "odd").items()]
    except FormatError as error:
        return str(error)


@given(
    longer=st.sets(st.binary(min_size=2, max_size=9), max_size=12),
    step=st.integers(1, 1_000),
    shuffled=st.randoms(use_true_random=False),
)
def test_all_tokens_of_a_ranks_file_are_read_in_ascending_order(
    longer: set[bytes], step: int, shuffled: random.Random
) -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), *sorted(longer)]
    shuffled.shuffle(tokens)
    in_order = [(token, step * place) for place, token in enumerate(tokens)]
    rows = [base64.b64encode(token) + b" %d\n" % rank for token, rank in in_order]
    shuffled.shuffle(rows)
    assert outcome(b"".join(rows)) == in_order


@example(place=0, length=0, into=b"")
@given(place=st.integers(0, 10**6), length=st.integers(0, 3), into=st.binary(max_size=3) | st.sampled_from(SIGNS))
def test_reading_all_lines_at_once_gives_what_reading_each_line_gives(place: int, length: int, into: bytes) -> None:
    sound = ranks(b"ab", b"abc", b"\xff\xfe\xfd\xfc", b"abcd ")
    start = place % len(sound)
    data = sound[:start] + into + sound[start + length :]
    by_lines = data.removesuffix(b"\n").replace(b"\n", b"\r\n") + b"\n"  # a line of this kind is never read at once
    assert outcome(data) == outcome(by_lines)


# --- subword-nmt ------------------------------------------------------------------------


def words_of_all_languages(number: int) -> list[str]:
    words = sorted(set(languages().split()))
    return words[:: len(words) // number]


@pytest.mark.parametrize("marker", ["glued", "symbol"])
def test_subword_nmt_loads_our_codes_and_splits_words_as_this_program_does(marker: str) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe", reason="the package subword-nmt is not installed")
    history = learn_preset("words", marker=marker, ties="largest-text")
    theirs = apply_bpe.BPE(io.StringIO(content(history, "subword-nmt").decode(), newline="\n"), separator="")
    ours = Tokenizer(history)
    for word in words_of_all_languages(1_000):
        raw = word.encode()
        pieces = [raw[start:stop].decode() for start, stop, _ in ours.spans(word) if stop > start]
        assert pieces == [piece for piece in theirs.segment_tokens([word]) if piece], word


@pytest.mark.parametrize("version", ["", "#version: 0.1\n"])
def test_codes_of_the_first_subword_nmt_releases_are_read_without_a_version_line(version: str) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe", reason="the package subword-nmt is not installed")
    text = version + "e </w>\nt h\nth e</w>\nl o\nlo w\nn g\ni ng\ning </w>\n"
    theirs = apply_bpe.BPE(io.StringIO(text), separator="")
    opened = CODES.open(text.encode(), "old.bpe")
    assert len(opened.notes) == 1
    for word in ("the", "low", "then", "e", "he", "thing", "ring", "inge", "lothe"):
        ends = [stop for _, stop, _ in Tokenizer(opened.history).spans(word)]
        pieces = [word[start:stop] for start, stop in itertools.pairwise([0, *ends]) if stop > start]
        assert pieces == theirs.segment_tokens([word])


def test_subword_nmt_codes_without_a_version_are_read_as_newer_codes_if_tokens_contain_the_end_marker() -> None:
    text = "e n</w>\nt h\nth en</w>\n"
    without_version, counted = CODES.open(text.encode(), "x"), CODES.open(text.replace("\n", " 7\n").encode(), "x")
    assert "says no version" in without_version.notes[1]
    older = CODES.open(f"#version: 0.1\n{text}".encode(), "x")
    assert "says version 0.1" in older.notes[1]
    assert len(encode(older.history, "then")) == 1
    assert "says no version" not in " ".join(counted.notes)
    assert len(encode(without_version.history, "then")) == len(encode(counted.history, "then")) == 1


def test_codes_learned_by_subword_nmt_split_words_as_subword_nmt_does() -> None:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe", reason="the package subword-nmt is not installed")
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    words = languages()[:30_000]
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(words), codes, 200, min_frequency=2)
    theirs = apply_bpe.BPE(io.StringIO(codes.getvalue()), separator="")
    opened = CODES.open(codes.getvalue().encode(), "theirs.codes")
    ours = Tokenizer(opened.history)
    for word in sorted(set(words.split())):
        raw = word.encode()
        pieces = [raw[start:stop].decode() for start, stop, _ in ours.spans(word)]
        assert pieces == theirs.segment_tokens([word]), word


@pytest.mark.parametrize("marker", ["glued", "symbol"])
def test_exported_subword_nmt_codes_are_read_back_and_still_split_words_in_the_same_way(marker: str) -> None:
    history = learn_preset("words", marker=marker, ties="largest-text")
    back = write_and_open(history, "subword-nmt").history
    ours, theirs = Tokenizer(history), Tokenizer(back)
    for word in words_of_all_languages(500):
        assert [span[:2] for span in ours.spans(word)] == [span[:2] for span in theirs.spans(word)]


def test_exporting_subword_nmt_codes_requires_characters_and_a_word_end_marker() -> None:
    with pytest.raises(OutputError, match="merge characters"):
        content(learn_preset("gpt2"), "subword-nmt")
    with pytest.raises(OutputError, match="mark the end of each word"):
        content(learn_preset("words"), "subword-nmt")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"#version: 0.2\nl o w\n", r"odd, line 2: there must be two tokens"),
        (b"#version: 0.2\nl o\nlow x\n", r"odd, line 3: the merge uses “low”, but no earlier merge makes this token"),
        (b"#version: 0.2\nl \xff\n", r"odd, line 2: the bytes from byte 3 on are not UTF-8; .* iconv -f"),
        (b"#version: 0.2\nl " + b"o" * 2_000_000 + b"\n", r"odd, line 2: 2,000,002 bytes are too many"),
    ],
)
def test_damaged_subword_nmt_codes_are_refused_with_a_line_number(data: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        CODES.open(data, "odd")


# --- minbpe -----------------------------------------------------------------------------


def minbpe_encode(model: bytes, text: str) -> list[int]:
    """Encode a text as the format describes: the earliest listed pair in the text is joined first."""
    lines = model.decode().split("\n")
    assert lines[0] == "minbpe v1"
    specials = int(lines[2])
    pairs = [tuple(map(int, line.split())) for line in lines[3 + specials :] if line]
    rank = {pair: 256 + i for i, pair in enumerate(pairs)}
    ids: list[int] = []
    for word in regex.findall(lines[1], text) if lines[1] else [text]:
        piece = list(word.encode())
        while len(piece) > 1:
            best = min(itertools.pairwise(piece), key=lambda pair: rank.get(pair, 2**40))
            if best not in rank:
                break
            piece = join_pair(piece, best, rank[best])
        ids += piece
    return ids


@pytest.mark.parametrize("preset", ["gpt2", "raw-bytes"])
def test_the_minbpe_algorithm_gives_the_same_ids_as_the_program_for_an_exported_file(preset: str) -> None:
    history = learn_preset(preset, merges=100)
    model = content(history, "minbpe")
    for text in texts()[::3]:
        text = text[:1_000]
        assert encode(history, text) == minbpe_encode(model, text), text[:80]


def test_a_minbpe_file_is_read_back_with_its_pattern_and_special_tokens() -> None:
    history = learn_preset("cl100k", special_tokens=("<|end|>", "<|more|>"))
    back = write_and_open(history, "minbpe", "table.model")
    assert same_merges(back.history, history)
    assert back.history.numbers is None
    assert (back.history.recipe.pattern, back.history.recipe.special_tokens) == ("cl100k", ("<|end|>", "<|more|>"))
    numbers, file = np.append(np.arange(history.first_special), (100_257, 100_276)), io.BytesIO()
    MINBPE.write(history.numbered(numbers), file)
    again = MINBPE.open(file.getvalue(), "gaps.model")
    assert again.history.numbers is not None
    assert again.history.numbers.tolist() == numbers.tolist()


def test_an_exported_minbpe_vocab_file_lists_the_bytes_and_the_merges() -> None:
    contents = files(learn_preset("gpt2"), "minbpe", "table.model")
    lines = contents["table.vocab"].decode().split("\n")
    assert lines[10] == "[<0x0A>] 10"
    assert lines[256].endswith(" 256")
    assert "][" in lines[256]
    assert "-> [" in lines[256]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"minbpe v2\n\n0\n", r"odd, line 1"),
        (b"minbpe v1\n", r"odd, line 2: the file was truncated"),
        (b"minbpe v1\n\n7\n", r"odd, line 4: the file was truncated"),
        (b"minbpe v1\n\n99999999999\n", r"odd, line 3: '99999999999' is not a whole number"),
        (b"minbpe v1\n\n1\n<a>\n", r"odd, line 4: this line must hold a special token"),
        (b"minbpe v1\n\n0\n104 300\n", r"odd, line 4: the step merges the token 300, which does not exist yet"),
        (b"minbpe v1\n\n0\n-1 3\n", r"odd, line 4: '-1 3' is not a pair of ids"),
        (b"minbpe v1\n\n0\n97 98\n97 98\n", r"odd, line 5: the step merges the same pair as merge 1"),
        (b"minbpe v1\n\n0\n256 97\n", r"odd, line 4: the step merges the token 256, which does not exist yet"),
    ],
)
def test_a_damaged_minbpe_file_is_refused_with_a_line_number(data: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        MINBPE.open(data, "odd")


def test_a_minbpe_pattern_that_cannot_be_read_is_reported() -> None:
    opened = MINBPE.open(b"minbpe v1\n(((\n0\n97 98\n", "odd")
    assert any("cannot read the file's pattern" in note for note in opened.notes)
    assert opened.history.recipe.pattern == "none"


def test_a_minbpe_file_whose_tokens_double_in_length_is_refused_before_it_fills_the_memory() -> None:
    """Forty lines that each double the last token would make a token of a million megabytes."""
    doubling = b"97 97\n" + b"".join(b"%d %d\n" % (id, id) for id in range(256, 296))
    with pytest.raises(FormatError, match=r"odd, line 34: the token of this step would be longer than"):
        MINBPE.open(b"minbpe v1\n\n0\n" + doubling, "odd")
