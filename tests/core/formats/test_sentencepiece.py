"""Tests of SentencePiece models: the library loads our models with the same ids, and we load its models."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.errors import FormatError, OutputError, TooLarge
from bpe_core.formats import FORMATS, open_table, sentencepiece_fields
from bpe_core.formats.sentencepiece_fields import bytes_field, float_field, varint, varint_field
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.verification import sampling
from bpe_core.verification.checking import prepare_export
from tests.core.formats.samples import content, encode, languages, learn_preset, same_merges, texts, write_and_open
from tests.machine_code import machine_code
from tests.shared import text_of

MODEL = FORMATS["sentencepiece"]


def model(**changes: object) -> bytes:
    return content(learn_preset("sentencepiece-like", vocab_size=None, **changes), "sentencepiece")


@pytest.mark.parametrize(("unknown", "form"), [("bytes", ""), ("unk", ""), ("bytes", "NFKC")])
def test_sentencepiece_loads_our_exported_model_with_the_same_ids(unknown: str, form: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    history = learn_preset("sentencepiece-like", vocab_size=None, unknown=unknown, unicode_form=form)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content(history, "sentencepiece"))
    for text in texts():
        ours = encode(history, text)
        if unknown == "unk":  # `can_hold` says that several unknown characters in a row become one
            ours = [id for i, id in enumerate(ours) if id != 0 or i == 0 or ours[i - 1] != 0]
        assert ours == theirs.encode(text), text[:80]


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_a_model_trained_by_sentencepiece_keeps_its_ids_when_opened(byte_fallback: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(languages()[:40_000].split("\n")),
        model_writer=trained,
        model_type="bpe",
        vocab_size=2_000,
        character_coverage=0.999,
        byte_fallback=byte_fallback,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    theirs = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    assert MODEL.recognizes(trained.getvalue())
    opened = MODEL.open(trained.getvalue(), "theirs.model")
    unknown = theirs.unk_id()
    for text in texts()[:15]:  # only plain texts, because notes report the differences in hard texts
        plain = " ".join(text.split())
        ours = opened.numbers_of(encode(opened.history, plain))
        if not byte_fallback:
            ours = [id for i, id in enumerate(ours) if id != unknown or i == 0 or ours[i - 1] != unknown]
        assert ours == theirs.encode(plain), plain[:80]


def test_verification_leaves_out_text_that_a_format_cannot_hold_and_still_succeeds() -> None:
    """The verification leaves out two lines of the text.

    One contains the sign for blanks. The other has combining marks in an order that the model does not normalize.
    """
    history = learn_preset("sentencepiece-like", vocab_size=None)
    rare = "the ▁ sign\no\u0302\u0301\u0323 in the middle\nthe last line"
    assert [MODEL.is_beyond(history, line) for line in rare.split("\n")] == [False, True, False]
    verification = prepare_export(history, "table.model", text=rare).verification
    assert verification.agrees, verification.differences
    assert sum("The check leaves" in sentence for sentence in verification.cannot_hold) == 2
    table = learn_preset("words", merges=20, lowercase=True, marker="glued")
    verification = prepare_export(table, "tokenizer.json", text="Στην αρχή ΗΤΑΝ Ο ΛΟΓΟΣ\nthe end").verification
    assert verification.agrees, verification.differences


@pytest.mark.parametrize("unknown", ["bytes", "unk"])
def test_an_exported_sentencepiece_model_is_read_back_with_its_recipe_choices(unknown: str) -> None:
    changes = {"unknown": unknown, "lowercase": True, "strip_marks": "“”", "unicode_form": ""}
    history = learn_preset("sentencepiece-like", vocab_size=None, **changes)
    back = write_and_open(history, "sentencepiece")
    assert same_merges(back.history, history)
    for choice in ("base", "marker", "unknown", "pattern", "lowercase", "strip_marks", "unicode_form"):
        assert getattr(back.history.recipe, choice) == getattr(history.recipe, choice), choice


@pytest.mark.parametrize(
    ("preset", "changes", "sentence"),
    [
        ("gpt2", {}, "this table starts from bytes"),
        ("words", {}, "put ▁ before each word"),
        ("words", {"marker": "prefix", "marker_text": "_"}, "put ▁ before each word"),
        ("words", {"marker": "prefix", "pattern": "english"}, "split only at spaces"),
    ],
)
def test_recipes_that_sentencepiece_cannot_express_are_refused(
    preset: str, changes: dict[str, str], sentence: str
) -> None:
    with pytest.raises(OutputError, match=sentence):
        content(learn_preset(preset, merges=5, **changes), "sentencepiece")


# --- Damage -----------------------------------------------------------------------------


def piece(text: str, score: float = 0.0, kind: int = 1) -> bytes:
    return bytes_field(1, bytes_field(1, text.encode()) + float_field(2, score) + varint_field(3, kind))


BPE_KIND = bytes_field(2, varint_field(3, 2))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b"\x0a\xff\xff\xff\xff\x07" + b"a" * 40,
            r"odd, byte 0: a field claims 2,147,483,647 bytes, but only 40 bytes follow",
        ),
        (piece("<unk>", kind=2)[:-1], r"odd, byte 0: a field claims"),
        (b"\x0a" + b"\xff" * 40, r"odd, byte 1: a number does not end"),
        (b"\x0b" + b"a" * 20, r"odd, byte 0: a field has the unknown kind 3"),
        (b"\x00\x01", r"odd, byte 0: a field has the number 0"),
        (b"\x08\x01", r"odd, byte 0: the field 1 must be a message"),
        (piece("a", float("nan")) + BPE_KIND, r"odd, byte 0: a piece has no text, no finite score"),
        (piece("a", kind=9) + BPE_KIND, r"odd, byte 0: a piece has no text"),
        (piece("") + BPE_KIND, r"odd, byte 0: a piece has no text"),
        (piece("a") + piece("a") + BPE_KIND, r"odd, piece 1: the text 'a' occurs twice"),
        (piece("a") + piece("a\0b") + BPE_KIND, r"odd: a piece holds a zero byte"),
        (piece("a") + bytes_field(2, varint_field(3, 5)), r"odd holds a model of the kind 5"),
        (piece("a") + bytes_field(2, varint_field(3, 2) + varint_field(35, 1)), r"some bytes have no piece"),
        (
            bytes_field(1, bytes_field(1, b"\xff") + float_field(2, 0)) + BPE_KIND,
            r"odd, byte 4: the bytes from byte 1 on are not UTF-8",
        ),
    ],
)
def test_a_damaged_sentencepiece_model_is_refused_with_the_offset_of_the_damage(data: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        MODEL.open(data, "odd")


STRANGE_KIND = bytes_field(2, varint_field(3, 5))


def different_pieces(count: int) -> bytes:
    """Return the bytes of `count` pieces as a model stores them. All pieces have different texts."""
    first = "0000000"
    before, behind = piece(first).split(first.encode())
    return b"".join(before + b"%07x" % number + behind for number in range(count))


HOSTILE: dict[str, Callable[[], bytes]] = {  # half a million fields, of files that may have a hundred times as many
    "fields of no meaning": lambda: piece("<unk>", kind=2) + b"\x20\x00" * 500_000,
    "a trainer of nothing else": lambda: piece("<unk>", kind=2) + bytes_field(2, b"\x08\x01" * 500_000),
    "a piece of nothing else": lambda: piece("<unk>", kind=2) + bytes_field(1, b"\x0a\x01a" * 500_000) + BPE_KIND,
    "pieces of another kind of model": lambda: different_pieces(500_000) + STRANGE_KIND,
    "the same piece again and again": lambda: piece("<unk>", kind=2) + piece("a") * 500_000 + BPE_KIND,
}


@pytest.mark.parametrize("made", HOSTILE.values(), ids=HOSTILE)
def test_a_sentencepiece_model_with_millions_of_fields_is_refused(made: Callable[[], bytes]) -> None:
    with pytest.raises((FormatError, TooLarge), match=r"too many for a SentencePiece model|of the kind 5|twice"):
        MODEL.open(made(), "odd")


SOUND = [
    piece("<unk>", kind=2),
    piece("a"),
    piece("b\0"),
    piece("é"),
    piece("ab"),
    piece("a" * 200),
    piece("日"),
    BPE_KIND,
]


@given(st.permutations(SOUND), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2))
def test_parsing_sentencepiece_pieces_in_one_batch_gives_the_same_result_as_parsing_them_individually(
    parts: list[bytes], changes: list[tuple[int, int]]
) -> None:
    """Some pieces are long, and random bytes of the data are changed."""
    data = bytearray(b"".join(parts))
    for place, byte in changes:
        data[place % len(data)] = byte
    results: list[object] = []
    for by_kernels in (True, False):
        with machine_code(is_used=by_kernels):
            try:
                stored = sentencepiece_fields.read(bytes(data), "odd")
                results.append((stored.kind, [*stored.pieces]))
            except (FormatError, TooLarge) as error:
                results.append(str(error))
    assert results[0] == results[1]


PIECES = st.dictionaries(
    st.text("ab▁é", min_size=1, max_size=6), st.tuples(st.integers(-9, 0), st.sampled_from([1, 1, 1, 1, 3, 4, 5]))
)
BYTES = [piece(f"<0x{byte:02X}>", kind=6) for byte in range(256)]


@given(
    pieces=PIECES,
    joins=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=15),
    has_bytes=st.booleans(),
    texts=st.lists(st.text("ab é", max_size=12)),
)
def test_opening_a_sentencepiece_model_with_and_without_kernels_gives_equal_tables(
    pieces: dict[str, tuple[int, int]], joins: list[tuple[int, int]], has_bytes: bool, texts: list[str]
) -> None:
    """In a trained model, every piece can be joined from earlier pieces. In other models, some pieces cannot."""
    if joins:
        known = [*"ab▁é"]
        for left, right in joins:
            known.append(known[left % len(known)] + known[right % len(known)])
        pieces = {text: (-rank, 1) for rank, text in enumerate(known)}
    made = (piece(text, score, kind) for text, (score, kind) in pieces.items())
    data = b"".join([piece("<unk>", kind=2), *(BYTES * has_bytes), *made])
    data += bytes_field(2, varint_field(3, 2) + varint_field(35, has_bytes))
    results: list[object] = []
    for by_kernels in (True, False):
        with machine_code(is_used=by_kernels):
            table = MODEL.open(data, "odd")
            history, tokenizer = table.history, Tokenizer(table.history)
            joining = history.joining and history.joining.to_dict
            numbers = history.numbers_of(range(history.index_count)).tolist()
            ids = [tokenizer.encode(text) for text in texts]
            results.append((history.alphabet, history.pairs(), joining, numbers, table.notes, ids))
    assert results[0] == results[1]


def test_a_sentencepiece_model_of_a_terabyte_is_refused() -> None:
    class Endless(bytes):
        def __len__(self) -> int:
            return 2**40

    with pytest.raises(TooLarge, match=r"odd has 1,099,511,627,776 bytes"):
        MODEL.open(Endless(piece("a")), "odd")


def test_sentencepiece_pieces_that_no_merge_makes_are_reported() -> None:
    pieces = [piece("<unk>", kind=2), piece("▁"), *(piece(letter) for letter in "abc"), piece("abc", -1)]
    opened = MODEL.open(b"".join(pieces) + BPE_KIND, "odd")
    assert any("“abc”" in note and "no text is split into it" in note for note in opened.notes)


def test_negative_varints_of_protocol_buffers_have_ten_bytes() -> None:
    assert len(varint(-1)) == 10
    assert struct.unpack("<f", float_field(2, -1.5)[1:]) == (-1.5,)


def test_the_sentencepiece_library_loads_an_extended_or_trimmed_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user-defined symbol stays when a model is trimmed, because it is not a learned token."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    monkeypatch.setattr(sampling, "WANTED_WORDS", 500)
    path, corpus = tmp_path / "old.model", tmp_path / "corpus.txt"
    corpus.write_text(text_of("prose")[:1_500])
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text_of("poem")[:1_500].splitlines()), model_writer=file, model_type="bpe",
            vocab_size=120, user_defined_symbols=["<sep>"], minloglevel=2,
        )  # fmt: skip
    old = sentencepiece.SentencePieceProcessor(model_file=str(path))
    size, text = old.get_piece_size(), f"{text_of('prose')[1_500:1_700]}<sep>"
    on = ["--corpus", str(corpus), "-o"]
    assert run(["extend", str(path), "--by", "15", *on, str(tmp_path / "new.model")]) == 0
    assert run(["trim", str(path), "--down-to", "100", "--ids", "keep", *on, str(tmp_path / "small.model")]) == 0
    new, small = (
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{name}.model")) for name in ("new", "small")
    )
    assert new.get_piece_size() == size + 15
    assert [new.id_to_piece(id) for id in range(size)] == [old.id_to_piece(id) for id in range(size)]
    assert len(new.encode(text)) < len(old.encode(text)) <= len(small.encode(text))
    assert small.decode(small.encode(text)) == new.decode(new.encode(text)) == old.decode(old.encode(text))
    kept = [id for id in range(small.get_piece_size()) if not small.is_unused(id)]
    assert len(kept) == 100
    assert [small.id_to_piece(id) for id in kept] == [old.id_to_piece(id) for id in kept]
    assert old.piece_to_id("<sep>") in kept
    pairs = ",".join(str(id) for id in range(size) if len(old.id_to_piece(id)) == 2)
    assert run(["trim", str(path), "--remove", pairs, "--needed", "hide", *on, str(tmp_path / "steps.model")]) == 0
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "steps.model"))
    steps = open_table(tmp_path / "steps.model")
    assert steps.history.joining is not None
    assert steps.history.joining.hidden
    assert steps.numbers_of(Tokenizer(steps.history).encode(text)) == theirs.encode(text)
