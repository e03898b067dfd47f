"""Tests of SentencePiece models, which are trained with each of several options.

The program and the SentencePiece library give the same ids.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import FORMATS, open_table, write_history
from bpe_core.formats.sentencepiece_fields import FieldValues, Kind, ScoredPiece, bytes_field, read, varint_field
from bpe_core.formats.sentencepiece_text import packed
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from tests.core.formats.hugging_face_tokenizers import albert, sentencepiece_model
from tests.core.formats.test_kinds_of_tokenizer_json import lines
from tests.machine_code import machine_code

sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")

FOUND_FIRST = (",", ".", "(", "of", "the▁", "▁▁", "<sep>", "é")
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "user-defined symbols": {"user_defined_symbols": FOUND_FIRST},
    "user-defined symbols, no map": {"user_defined_symbols": FOUND_FIRST, "normalization_rule_name": "identity"},
    "bytes": {"byte_fallback": True},
    "blanks behind": {"treat_whitespace_as_suffix": True},
    "no blank before": {"add_dummy_prefix": False},
    "all blanks": {"remove_extra_whitespaces": False},
    "over blanks": {"split_by_whitespace": False},
    "over scripts": {"split_by_unicode_script": False, "split_by_number": False},
    "digits alone": {"split_digits": True, "allow_whitespace_only_pieces": True},
    "folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "spaces in symbols": {"user_defined_symbols": ("  ", "a  b", " of", "\t")},
    "control symbols": {"control_symbols": ("<mask>", "<s2>"), "unk_piece": "[UNK]", "pad_id": 3},
    "all at once": {
        "user_defined_symbols": FOUND_FIRST,
        "treat_whitespace_as_suffix": True,
        "split_by_whitespace": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
        "normalization_rule_name": "nfkc",
    },
}


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("options", OPTIONS)
def test_a_sentencepiece_model_with_any_option_keeps_its_ids_when_opened_and_written(kind: str, options: str) -> None:
    data = sentencepiece_model(kind, **OPTIONS[options])
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    opened = FORMATS["sentencepiece"].open(data, "trained.model")
    tokenizer = Tokenizer(opened.history)
    samples = [*lines(), "\n".join(lines())[:20_000]]
    ids, offsets = tokenizer.encode_batch(samples)
    numbers = opened.numbers_of(ids.tolist())
    file = io.BytesIO()
    FORMATS["sentencepiece"].write(opened.history, file)
    again = sentencepiece.SentencePieceProcessor(model_proto=file.getvalue())
    for place, text in enumerate(samples):
        theirs = library.encode(text)
        assert numbers[offsets[place] : offsets[place + 1]] == again.encode(text) == theirs, text
        assert tokenizer.file_ids(text, listed=True) == theirs, text
        own = ids[offsets[place] : offsets[place + 1]]
        assert tokenizer.decode(own, way="library") == library.decode(theirs) == again.decode(theirs), text
        if place % 20 == 0:
            assert opened.numbers_of(plain_ids(opened.history, text[:200])) == library.encode(text[:200]), text
    chance = Random(kind + options)
    for _ in range(50):
        row = opened.numbers_of(chance.sample(range(opened.history.index_count), 9))
        row = [number for number in row if number >= 0]
        assert tokenizer.decode(opened.history.indices_of(row), way="library") == library.decode(row)


@pytest.mark.parametrize("options", [{"remove_extra_whitespaces": False}, {"treat_whitespace_as_suffix": True},
                                     {"remove_extra_whitespaces": False, "treat_whitespace_as_suffix": True},
                                     {}, {"add_dummy_prefix": False}])  # fmt: skip
def test_a_text_that_normalization_makes_empty_gets_the_same_ids_as_in_sentencepiece(options: dict[str, bool]) -> None:
    samples = [
        "",
        " ",
        "  ",
        "\x01",
        "\x01\x02",
        " \x01",
        "\x01 ",
        "\u3000\x01\t",
        "▁",
        "\x01▁",
        "\x01a\x02",
        "a \x01 ",
    ]
    check(sentencepiece_model("unigram", **options), samples)
    check(
        sentencepiece_model("bpe", user_defined_symbols=("  ", "\x01\x01"), **options), [*samples, "\x01\x01", " \t  "]
    )


RULES = {"é": "e  e", "ß": "  ", "ü": "", "\u3000": " ", "the": "▁", "of the house ": "ab  "}


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
def test_custom_normalization_rules_that_insert_several_spaces_are_applied_as_in_sentencepiece(
    kind: str, prefix: bool, tmp_path: Path
) -> None:
    rows = ("\t".join(" ".join(f"{ord(character):X}" for character in text) for text in row) for row in RULES.items())
    (tmp_path / "rules.tsv").write_text("\n".join(rows))
    chosen = {"normalization_rule_tsv": str(tmp_path / "rules.tsv"), "add_dummy_prefix": prefix}
    check(sentencepiece_model(kind, **chosen), [*lines()[::4], "é ß  é", "xé of the house  y", "ßxß", "a ßthe ß"])


@pytest.mark.parametrize("option", [{}, {"byte_fallback": True}, {"treat_whitespace_as_suffix": True}])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
def test_a_model_with_removed_and_unused_pieces_gives_the_same_ids_as_sentencepiece(
    kind: str, option: dict[str, bool]
) -> None:
    """A character that occurs only in longer pieces can be joined to such a piece. Alone it is unknown."""
    chance, left = Random(kind), list[ScoredPiece]()
    stored = read(data := sentencepiece_model(kind, **option), "trained.model")
    for piece in stored.pieces:
        chosen = piece.kind != Kind.NORMAL or chance.random() < 0.8
        left += [piece] if chosen else [piece._replace(kind=Kind.UNUSED)] * chance.randrange(2)
    # A better score than that of their parts.
    left += [ScoredPiece(text, 9.0, Kind.NORMAL) for text in ("theof", "eqz")]
    samples = [*lines()[::4], "theofthe theqz", "theof" * 30]
    check(b"".join(piece.message() for piece in left) + bytes_after_pieces(stored, data), samples)


@pytest.mark.parametrize(("unused", "used"), [("b▁", "▁"), ("▁", "b")])
def test_a_model_whose_unused_pieces_contain_spaces_gives_the_same_ids_as_in_sentencepiece(
    unused: str, used: str
) -> None:
    scores = {used: -2.0, "b": 0.0, "bc": 3.0, "abc": -6.0, "▁a": -1.5, "c": -9.0}
    pieces = [ScoredPiece("<unk>", 0.0, Kind.UNKNOWN), ScoredPiece(unused, -1.0, Kind.UNUSED)]
    pieces += [ScoredPiece(text, score, Kind.NORMAL) for text, score in scores.items()]
    data = b"".join(piece.message() for piece in pieces) + bytes_field(2, varint_field(3, 2))
    check(data, ["bb abc b", "x abc", "x x bx", "b ab"])


@pytest.mark.parametrize("chosen", [(0, 0, 0), (1, 1, 1), (1, 0, 1), (0, 1, 0)])
def test_decoded_text_is_denormalized_by_the_rules_of_the_sentencepiece_model(chosen: tuple[int, int, int]) -> None:
    """By default, a model's denormalizer puts a space before the text and replaces each space by `▁`."""
    changes = bytes_field(2, packed({"e": "é", "t": "  ", "\u2047": ""}))
    spec = b"".join(varint_field(field, value) for field, value in enumerate(chosen, 3) if not value)
    check(sentencepiece_model("bpe") + bytes_field(5, changes + spec), ["the tree \0e", ""])


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_pieces_with_a_score_of_minus_zero_are_joined_as_in_sentencepiece(kind: str) -> None:
    chance = Random(kind)
    stored = read(data := sentencepiece_model(kind), "trained.model")
    changed = [
        piece._replace(score=chance.choice([0.0, -0.0, piece.score])) if piece.kind == Kind.NORMAL else piece
        for piece in stored.pieces
    ]
    check(b"".join(piece.message() for piece in changed) + bytes_after_pieces(stored, data), lines()[::4])


def test_the_normalization_map_of_a_sentencepiece_model_keeps_zero_bytes() -> None:
    data, changes = (
        sentencepiece_model("char", normalization_rule_name="identity"),
        {"e": "é", "th": "a", "a\u0300": "à"},
    )
    check(data + bytes_field(3, bytes_field(2, packed(changes))), ["\0e", "th\0th", "\0\0the", "a\0\u0300"])


def bytes_after_pieces(stored: FieldValues, data: bytes) -> bytes:
    return data[len(b"".join(piece.message() for piece in stored.pieces)) :]


def check(data: bytes, samples: Sequence[str]) -> None:
    """Check that this program, with and without kernels, and the exported model give SentencePiece's ids."""
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    opened, file = FORMATS["sentencepiece"].open(data, "changed.model"), io.BytesIO()
    ids, offsets = Tokenizer(opened.history).encode_batch(samples)
    numbers = opened.numbers_of(ids.tolist())
    FORMATS["sentencepiece"].write(opened.history, file)
    again = sentencepiece.SentencePieceProcessor(model_proto=file.getvalue())
    for place, text in enumerate(samples):
        theirs = library.encode(text)
        assert numbers[offsets[place] : offsets[place + 1]] == theirs == again.encode(text), text
        assert opened.numbers_of(plain_ids(opened.history, text)) == theirs, text
    tokenizer, chance = Tokenizer(opened.history), Random(0)
    for _ in range(20):
        row = chance.choices(range(library.get_piece_size()), k=12)
        decoded = library.decode(row)
        assert tokenizer.decode(opened.history.indices_of(row), way="library") == decoded == again.decode(row), row


def test_the_why_command_gives_an_earlier_merge_as_the_reason_in_a_sentencepiece_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trained.model").write_bytes(sentencepiece_model("bpe"))
    assert run(["why", "everyone, rights of all", "--merges", str(tmp_path / "trained.model"), "--all"]) == 0
    assert "one of the two was merged with another token before" in capsys.readouterr().out


def test_byte_pieces_in_lowercase_are_decoded_as_in_sentencepiece() -> None:
    stored = read(data := sentencepiece_model("unigram", byte_fallback=True), "trained.model")
    behind = bytes_after_pieces(stored, data)
    data = b"".join(piece.message() for piece in [*stored.pieces, ScoredPiece("<0x0a>", -1.0, Kind.NORMAL)]) + behind
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    history = FORMATS["sentencepiece"].open(data, "changed.model").history
    for text in ("a<0x0a>b", "\n <0x0a><0x0A>é☃"):
        ids = library.encode(text)
        assert Tokenizer(history).decode(history.indices_of(ids), way="library") == library.decode(ids)


@pytest.mark.parametrize("change", [-3.0, -1.6468, -0.0535, 0.5, 2.8997])
def test_ties_between_splits_around_user_defined_symbols_are_resolved_as_in_sentencepiece(change: float) -> None:
    samples = [
        before * times + " " * blanks for before in ("of", "é,", "") for times in range(4) for blanks in range(12)
    ]
    check_with_scores(change, samples)


@pytest.mark.parametrize("change", [-200_000.0, -30_000.0])
def test_a_sum_of_scores_is_reset_beyond_100_000_as_in_sentencepiece(change: float) -> None:
    """Usual scores reach this sum in texts of a hundred thousand characters. The changed scores reach it sooner."""
    check_with_scores(change, ["\n".join(lines())[:3_000], "no " * 500, "é" * 500])


def plain_ids(history: History, text: str) -> list[int]:
    with machine_code(is_used=False):
        return Tokenizer(history).encode(text)


def check_with_scores(change: float, samples: list[str]) -> None:
    """Check the ids of a model after `change` is added to the scores of its pieces."""
    data = sentencepiece_model("unigram", **OPTIONS["all at once"])
    stored = read(data, "trained.model")
    pieces = [
        piece._replace(score=float(np.float32(piece.score + change))) if piece.kind == Kind.NORMAL else piece
        for piece in stored.pieces
    ]
    check(b"".join(piece.message() for piece in pieces) + bytes_after_pieces(stored, data), samples)


@pytest.mark.parametrize("name", ["all.json", "all.csv", "all.bpex"])
@pytest.mark.parametrize("sums", ["32 bits", "64 bits"])
def test_scores_of_an_opened_unigram_model_are_saved_exactly(name: str, sums: str, tmp_path: Path) -> None:
    data = sentencepiece_model("unigram", **OPTIONS["all at once"])
    form = "sentencepiece" if sums == "32 bits" else "tokenizer.json"
    history = FORMATS[form].open(data if sums == "32 bits" else json.dumps(albert()).encode(), "given").history
    assert history.recipe.sums == sums
    if name == "all.bpex":
        run = SavedRun(1, history.recipe, history=history)
        write_session(SavedSession(history.recipe, runs=(run,)), tmp_path / name)
        (kept,) = read_session(tmp_path / name).runs
        back = kept.history
    else:
        write_history(history, tmp_path / name)
        back = open_table(tmp_path / name).history
    assert back is not None
    assert back.recipe.with_changes(name="") == history.recipe.with_changes(name="")
    assert back.scores is not None
    assert history.scores is not None
    assert np.array_equal(back.scores.at(0), history.scores.at(0))
    assert back.scores.at(0).dtype == history.scores.at(0).dtype


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word"])
def test_the_unknown_token_keeps_its_id_in_a_model_with_byte_pieces(kind: str) -> None:
    data = sentencepiece_model(kind, byte_fallback=True)
    theirs, opened = sentencepiece.SentencePieceProcessor(model_proto=data), FORMATS["sentencepiece"].open(data, "x")
    ids = [theirs.unk_id(), 5, theirs.unk_id()]
    assert Tokenizer(opened.history).decode(opened.history.indices_of(ids), way="library") == theirs.decode(ids)
