"""Tests of files with merge priorities, which may differ from the order in which the merges were learned.

The program and the library of each file give the same ids.
"""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.history.joining import NO_PRIORITY, MergePriorities, PairRows
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.compiled_methods import CompiledPriorities
from bpe_core.segmenting.cutting import GivenWords
from bpe_core.segmenting.neighbours import by_all_texts
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.verification.checking import prepare_export
from tests.core.formats.samples import content, learn_preset, lines, texts

TIKTOKEN = FORMATS["tiktoken"]
GPT2 = NAMED_PATTERNS["gpt2"].expression


def random_texts(number: int, seed: int = 1) -> list[str]:
    """Return texts of random Unicode characters with many blanks."""
    rng = random.Random(seed)
    planes = [(32, 127), (9, 14), (32, 33), (0x80, 0x3000), (0x3000, 0xD800), (0xE000, 0x10000), (0x10000, 0x20000)]
    return ["".join(chr(rng.randrange(*rng.choice(planes))) for _ in range(rng.randrange(30))) for _ in range(number)]


def samples() -> list[str]:
    return [*lines()[::4], *(text[:200] for text in texts()), *random_texts(100)]


@pytest.fixture(scope="module")
def odd_ranks() -> dict[bytes, int]:
    """Return ranks in an order that no training gives, with some whole words that no merge makes."""
    tokens = written(learn_preset("gpt2"))
    rng = random.Random(3)
    later = tokens[300:] + [text.encode() for text in (" lighthouse", " harbour", "ὀλίγος", "xylophone")]
    rng.shuffle(later)
    return {token: rank for rank, token in enumerate(tokens[:300] + later)}


def ranks_file(ranks: dict[bytes, int]) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


@pytest.fixture(scope="module")
def odd_table(odd_ranks: dict[bytes, int]) -> OpenedTable:
    return TIKTOKEN.open(ranks_file(odd_ranks) + b"= %d\n" % len(odd_ranks), "odd.tiktoken")


def test_encoding_with_ranks_in_any_order_gives_the_ids_of_tiktoken(
    odd_ranks: dict[bytes, int], odd_table: OpenedTable
) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    named = odd_table.history
    named.recipe = named.recipe.with_changes(pattern="gpt2")  # the file does not name its pattern
    theirs = tiktoken.Encoding("odd", pat_str=GPT2, mergeable_ranks=odd_ranks, special_tokens={})
    tokenizer = Tokenizer(named)
    for text in samples():
        assert odd_table.numbers_of(tokenizer.encode(text)) == theirs.encode_ordinary(text), text
    assert any("is empty" in note for note in odd_table.notes)
    assert content(named, "tiktoken") == ranks_file(odd_ranks)


def encode_plainly(word: bytes, history: History, at: int) -> list[int]:
    """Return the ids of a word by applying the rule of merge priorities pair by pair."""
    joined, base, whole = JoinedWords(history), len(history.alphabet), written(history)
    limit = base + at
    if history.joining is not None and history.joining.whole_words and word in whole[:limit]:
        return [whole.index(word)]
    ids = [history.alphabet.id_of_piece[bytes([byte])] for byte in word]
    while True:
        met = [(joined.find(left << 32 | right), i) for i, (left, right) in enumerate(pairwise(ids))]
        candidates = [(pair, i) for pair, i in met if pair is not None and pair[1] < limit]
        if not candidates:
            return ids
        (_, token), place = min(candidates, key=lambda candidate: (candidate[0][0], candidate[1]))
        ids[place : place + 2] = [token]


def test_encoding_by_merge_priorities_at_a_step_uses_only_tokens_learned_up_to_this_step(
    odd_table: OpenedTable,
) -> None:
    history = odd_table.history
    words = [b"the harbour", b" lighthouse", "ὀλίγος".encode(), b"theirthemthere" * 5, b"a" * 60]
    cut = JoinedWords(history).cut
    segmentation = Tokenizer(history).segmentation("the harbour and the lighthouse")
    given = GivenWords(history.recipe, b"".join(words), np.cumsum([0, *map(len, words)]))
    compiled = CompiledPriorities(JoinedWords(history), given)
    for at in (0, 1, 20, 100, 101, 300, len(history)):
        for word in words:
            word_cut = cut(word, at)
            assert list(word_cut.ids) == encode_plainly(word, history, at)
            assert word_cut.since <= at < word_cut.until
            for moment in {word_cut.since, min(word_cut.until - 1, len(history))}:
                assert cut(word, moment).ids == word_cut.ids
        ids, starts = compiled.ids_of_texts(given.data, given.starts, at)
        assert [part.tolist() for part in np.split(ids, starts[1:-1])] == [
            encode_plainly(word, history, at) for word in words
        ]
        assert compiled.ids(given.text, at).tolist() == ids.tolist()
        tokens = segmentation.tokens(at).ids.tolist()
        assert tokens == Tokenizer(history).encode("the harbour and the lighthouse", at=at)


@given(
    words=st.lists(st.text("abxyé", max_size=9).map(str.encode), max_size=6),
    left_out=st.sets(st.sampled_from(sorted({*"abxyé".encode()}))),
    rows=st.permutations([(97, 98, 256), (256, 97, 257), (98, 97, 258), (0xC3, 0xA9, 259)]),
)
def test_kernels_and_plain_python_join_the_same_tokens_if_some_tokens_and_pairs_are_excluded(
    words: list[bytes], left_out: set[int], rows: list[Any]
) -> None:
    pairs = [(97, 98), (256, 97), (98, 97), (0xC3, 0xA9)]
    joining = MergePriorities(pairs=PairRows(*np.array(rows).T), left_out=tuple(left_out))
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs, joining)
    plain = JoinedWords(history)
    given_words = GivenWords(history.recipe, b"".join(words), np.cumsum([0, *map(len, words)]))
    assert plain.is_plain
    for at in (0, 2, 4):
        compiled = CompiledPriorities(plain, given_words)
        ids, starts = compiled.ids_of_texts(given_words.data, given_words.starts, at)
        expected = [plain.cut(word, at).ids for word in words]
        assert [ids[start:stop].tolist() for start, stop in pairwise(starts)] == expected


@given(
    halves=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
    priorities=st.lists(st.integers(NO_PRIORITY, 3), min_size=9, max_size=9),
)
def test_kernels_and_plain_python_find_the_same_token_for_a_pair(
    halves: list[tuple[int, int]], priorities: list[int]
) -> None:
    """Several tokens may have the text of a pair.

    The token with the best priority is found. If priorities are equal, it is the oldest token.
    """
    tokens = [97, 98, *range(256, 256 + len(halves))]
    pairs = [(tokens[left % born], tokens[right % born]) for born, (left, right) in enumerate(halves, 2)]
    joining = MergePriorities(priorities=np.array([NO_PRIORITY] * 256 + priorities[: len(pairs)]))
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs, joining)
    plainly, by_machine_code = by_all_texts(history, joining), JoinedWords(history).by_text.found
    for pair in product(tokens, repeat=2):
        assert by_machine_code(*pair) == plainly(*pair)


def test_merge_priorities_are_saved_in_sessions_and_json_and_refused_by_other_formats(
    odd_table: OpenedTable, tmp_path: Path
) -> None:
    history = odd_table.history
    run = SavedRun(1, history.recipe, history=history, state="ended")
    write_session(SavedSession(history.recipe, runs=(run,)), tmp_path / "odd.bpex")
    kept = read_session(tmp_path / "odd.bpex").runs[0].history
    assert kept is not None
    assert history.joining is not None
    assert kept.joining is not None
    assert kept.joining.to_dict == history.joining.to_dict
    as_json = FORMATS["json"].open(content(history, "json"), "odd.json").history
    assert as_json.joining is not None
    assert as_json.joining.to_dict == history.joining.to_dict
    assert Tokenizer(as_json).encode(texts()[0]) == Tokenizer(history).encode(texts()[0])
    with pytest.raises(OutputError, match="cannot store merge priorities"):
        prepare_export(history, "odd.csv")
    for wrong in ({}, {**history.joining.to_dict, "priorities": [0]}, {**history.joining.to_dict, "found_first": [-1]}):
        with pytest.raises(FormatError, match="merge priorities are damaged"):
            MergePriorities.from_dict(wrong, len(history.alphabet), history.first_special, "odd")
    assert replace(history.joining).before(256).to_dict["priorities"] == history.joining.to_dict["priorities"][:256]


# --- tokenizer.json ---------------------------------------------------------------------

JSON = FORMATS["tokenizer.json"]


def train_tokenizer(*, blanks_part: bool = False, alphabet: bool = True, **model: Any) -> dict[str, Any]:
    """Return a small tokenizer as a JSON object, after the library `tokenizers` trained it.

    If `blanks_part` is true, white space separates the words and is removed. Otherwise words are split by GPT-2's
    pattern and consist of bytes.
    """
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    pre = tokenizers.pre_tokenizers
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(**model))
    at_blanks = pre.Split(tokenizers.Regex(r"\s+"), "removed")
    by_bytes = [pre.Split(tokenizers.Regex(GPT2), "isolated"), pre.ByteLevel(False, use_regex=False)]
    is_clip = alphabet and blanks_part
    tokenizer.pre_tokenizer = pre.Sequence(
        [at_blanks, by_bytes[1]] if is_clip else [at_blanks] if blanks_part else by_bytes
    )
    suffix = model.get("end_of_word_suffix")
    tokenizer.train_from_iterator(
        [text[:400] for text in (*lines()[:40], *texts()[:14])],
        tokenizers.trainers.BpeTrainer(
            vocab_size=900,
            limit_alphabet=1_000 if alphabet else 150,
            initial_alphabet=pre.ByteLevel.alphabet() if alphabet else [],
            special_tokens=[model["unk_token"]] if "unk_token" in model else [],
            show_progress=False,
            **({"end_of_word_suffix": suffix} if suffix else {}),
        ),
    )
    whole: dict[str, Any] = json.loads(tokenizer.to_str())
    if is_clip:
        for stand_in in pre.ByteLevel.alphabet():
            whole["model"]["vocab"].setdefault(stand_in + suffix, len(whole["model"]["vocab"]))
    return whole


def shuffle_merges(whole: dict[str, Any]) -> None:
    random.Random(5).shuffle(whole["model"]["merges"])


def as_llama_3(whole: dict[str, Any]) -> None:
    """Replace the merges by all ways to divide a token into two tokens, as transformers does for Llama 3.

    Also add words that no merge makes.
    """
    model = whole["model"]
    number = model["vocab"]
    for word in ("Ġlighthouse", "Ġharbour", "Ġunmade"):
        number.setdefault(word, len(number))
    model["ignore_merges"] = True
    model["merges"] = [
        [token[:cut], token[cut:]]
        for token in sorted(number, key=number.__getitem__)
        for cut in range(1, len(token))
        if token[:cut] in number and token[cut:] in number
    ]


@pytest.mark.parametrize(
    ("choices", "change", "is_joined"),
    [
        ({}, shuffle_merges, True),
        ({}, as_llama_3, True),
        ({"alphabet": False}, None, True),  # some bytes have no token
        ({"alphabet": False, "blanks_part": True}, None, True),  # some characters divide words, too
        ({"alphabet": False, "blanks_part": True, "unk_token": "[UNK]", "fuse_unk": True}, None, True),
        ({"blanks_part": True, "unk_token": "<|end|>", "end_of_word_suffix": "</w>"}, None, False),  # as CLIP's
    ],
    ids=["any order", "Llama 3", "bytes left out", "characters left out", "unknown joined", "CLIP"],
)
def test_a_tokenizer_of_the_tokenizers_library_is_opened_with_the_same_ids_and_saved_in_a_session(
    choices: dict[str, Any], change: Callable[[dict[str, Any]], None] | None, is_joined: bool, tmp_path: Path
) -> None:
    whole = train_tokenizer(**choices)
    if change is not None:
        change(whole)
    import tokenizers

    data = json.dumps(whole).encode()
    opened = JSON.open(data, "theirs.json")
    assert (opened.history.joining is not None) == is_joined
    theirs, tokenizer = tokenizers.Tokenizer.from_buffer(data), Tokenizer(opened.history)
    for text in samples():
        mine = opened.numbers_of(tokenizer.encode(text, allowed_special="all"))
        assert mine == theirs.encode(text, add_special_tokens=False).ids, text
    file = io.BytesIO()
    JSON.write(opened.history, file)
    written_back = json.loads(file.getvalue())["model"]
    kept = ("merges", "ignore_merges", "fuse_unk", "end_of_word_suffix")
    assert {name: written_back[name] for name in kept} == {name: whole["model"][name] for name in kept}
    run = SavedRun(1, opened.history.recipe, history=opened.history, state="ended")
    write_session(SavedSession(run.recipe, runs=(run,)), tmp_path / "theirs.bpex")
    kept_history = read_session(tmp_path / "theirs.bpex").runs[0].history
    assert kept_history is not None
    assert Tokenizer(kept_history).encode(texts()[1]) == tokenizer.encode(texts()[1])


# --- SentencePiece ----------------------------------------------------------------------

MODEL = FORMATS["sentencepiece"]
BLANKS = [
    "",
    " ",
    "   ",
    " a  b ",
    "▁",
    " ▁ a ▁ ▁",
    "two\n\nlines\tand\r\n more  \n",
    "<sep><unk></s> ab<0x41> ｆｕｌｌ ①",
]


@pytest.mark.parametrize(
    ("choices", "is_joined"),
    [
        (dict(byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False), False),
        (dict(user_defined_symbols=["<sep>", "ing", "é"], control_symbols=["<end>"]), True),
        (
            dict(
                byte_fallback=True,
                normalization_rule_name="identity",
                remove_extra_whitespaces=False,
                add_dummy_prefix=False,
                split_by_whitespace=False,
                user_defined_symbols=["\n", "\n\n", "▁▁", "▁▁▁"],
            ),
            True,
        ),
        (dict(byte_fallback=True, normalization_rule_name="nmt_nfkc_cf"), False),
    ],
    ids=["as Llama 2's", "as it is usual", "as Gemma's", "folded case"],
)
def test_a_model_trained_by_sentencepiece_is_opened_with_the_same_ids_and_spans(
    choices: dict[str, Any], is_joined: bool, tmp_path: Path
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    trained_model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text[:400] for text in (*lines()[:60], *texts()[:14])]),
        model_writer=trained_model,
        model_type="bpe",
        vocab_size=1_700,
        character_coverage=0.98,
        minloglevel=2,
        **choices,
    )
    data = trained_model.getvalue()
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    assert MODEL.recognizes(data)
    opened = MODEL.open(data, "theirs.model")
    assert (opened.history.joining is not None) == is_joined
    written_back = sentencepiece.SentencePieceProcessor(model_proto=written_with_numbers(opened))
    run = SavedRun(1, opened.history.recipe, history=opened.history, state="ended")
    write_session(SavedSession(run.recipe, runs=(run,)), tmp_path / "theirs.bpex")
    kept = read_session(tmp_path / "theirs.bpex").runs[0].history
    assert kept is not None
    tokenizer, after = Tokenizer(opened.history), Tokenizer(kept)
    for text in [*samples(), *BLANKS]:
        ids = theirs.encode(text)
        assert opened.numbers_of(tokenizer.encode(text)) == ids == written_back.encode(text), text
        assert opened.numbers_of(after.encode(text)) == ids
    pieces = range(theirs.vocab_size())
    assert [theirs.id_to_piece(id) for id in pieces] == [written_back.id_to_piece(id) for id in pieces]
    text = " Wide  words\n"
    spans = tokenizer.spans(text)
    assert [start for start, _, _ in spans] == sorted(start for start, _, _ in spans)
    assert spans[-1][1] <= len(text)


def written_with_numbers(opened: OpenedTable) -> bytes:
    file = io.BytesIO()
    MODEL.write(opened.history, file)
    return file.getvalue()
