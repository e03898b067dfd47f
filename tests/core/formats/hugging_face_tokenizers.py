"""Small tokenizers of the kinds that published models use, trained by the library `tokenizers`."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from bpe_core.formats.sentencepiece_fields import FieldValues, Kind, read
from tests.core.formats.samples import lines, texts

Whole = dict[str, Any]
Step = dict[str, Any]

O200K_LIKE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)  # like newer Mistral files
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PHRASES = r" ?[^(\s|[.,!?…。，、।۔،])]+"  # Bloom's


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> Step:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def split_at(text: str, behavior: str) -> Step:
    return {"type": "Split", "pattern": {"String": text}, "behavior": behavior, "invert": False}


def by_bytes(*, blank: bool = False, cuts: bool = False) -> Step:
    return {"type": "ByteLevel", "add_prefix_space": blank, "trim_offsets": True, "use_regex": cuts}


def replace_step(pattern: str, new: str, *, regex: bool = False) -> Step:
    return {"type": "Replace", "pattern": {"Regex" if regex else "String": pattern}, "content": new}


def digits(*, alone: bool) -> Step:
    return {"type": "Digits", "individual_digits": alone}


def as_bert(*, lowercase: bool) -> Step:
    chosen = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": lowercase}
    return {"type": "BertNormalizer", **chosen}


def metaspace(scheme: str = "always", *, cuts: bool = True) -> Step:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cuts}


def added_token(number: int, content: str, *, special: bool = True, normalized: bool = False, **how: bool) -> Step:
    sides = {"single_word": False, "lstrip": False, "rstrip": False}
    return {"id": number, "content": content, **sides, "normalized": normalized, "special": special, **how}


def in_sequence(steps: list[Step], key: str) -> Step | None:
    return {"type": "Sequence", key: steps} if len(steps) > 1 else steps[0] if steps else None


@cache
def training_texts() -> tuple[str, ...]:
    return tuple(text[:400] for text in (*lines()[:40], *texts()[:14]))


def _steps(whole: Whole, changes: list[Step], cuts: list[Step]) -> Whole:
    whole["normalizer"] = in_sequence(changes, "normalizers")
    whole["pre_tokenizer"] = in_sequence(cuts, "pretokenizers")
    return whole


def bpe(
    changes: list[Step], cuts: list[Step], *, bytes_first: bool = True, specials: tuple[str, ...] = (), **model: Any
) -> Whole:
    """Make a BPE tokenizer with the normalizers `changes` and the pre-tokenizers `cuts`.

    With `bytes_first`, its alphabet contains all byte characters. Otherwise it contains only characters of the texts.
    """
    import tokenizers

    blank = tokenizers.Tokenizer(tokenizers.models.BPE(**model))
    made = tokenizers.Tokenizer.from_str(json.dumps(_steps(json.loads(blank.to_str()), changes, cuts)))
    how = {key: model[key] for key in ("end_of_word_suffix", "continuing_subword_prefix") if key in model}
    made.train_from_iterator(
        training_texts(),
        tokenizers.trainers.BpeTrainer(
            vocab_size=900,
            limit_alphabet=1_000 if bytes_first else 200,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet() if bytes_first else [],
            special_tokens=list(specials),
            show_progress=False,
            **how,
        ),
    )
    whole: Whole = json.loads(made.to_str())
    return whole


def unigram(changes: list[Step], cuts: list[Step], *specials: str) -> Whole:
    import tokenizers

    blank = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made = tokenizers.Tokenizer.from_str(json.dumps(_steps(json.loads(blank.to_str()), changes, cuts)))
    made.train_from_iterator(
        training_texts(),
        tokenizers.trainers.UnigramTrainer(
            vocab_size=800, special_tokens=[*specials, "<unk>"], unk_token="<unk>", show_progress=False
        ),
    )
    whole: Whole = json.loads(made.to_str())
    return whole


def unigram_over_bytes() -> Whole:
    """Make a Unigram tokenizer whose pieces consist of byte characters. It has no unknown token."""
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.pre_tokenizer, made.decoder = tokenizers.pre_tokenizers.ByteLevel(), tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=800, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(training_texts(), trainer)
    whole: Whole = json.loads(made.to_str())
    return whole


def wordpiece(changes: list[Step], cuts: list[Step]) -> Whole:
    import tokenizers

    blank = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    made = tokenizers.Tokenizer.from_str(json.dumps(_steps(json.loads(blank.to_str()), changes, cuts)))
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=900, limit_alphabet=200, special_tokens=specials, show_progress=False
    )
    made.train_from_iterator(training_texts(), trainer)
    whole: Whole = json.loads(made.to_str())
    return whole


@cache
def sentencepiece_model(kind: str = "bpe", **choices: Any) -> bytes:
    """Return the bytes of a model trained by SentencePiece."""
    import sentencepiece

    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(training_texts()),
        model_writer=made,
        model_type=kind,
        vocab_size=1_700 if kind in ("bpe", "unigram") else 600,
        character_coverage=0.98,
        hard_vocab_limit=kind == "bpe",
        minloglevel=2,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in choices.items()},  # type: ignore[arg-type]
    )
    return made.getvalue()


def with_tokens_after_all(whole: Whole, *tokens: tuple[str, dict[str, bool]]) -> Whole:
    """Add tokens whose ids come after all other ids, and return the tokenizer."""
    first = len(whole["model"]["vocab"])
    whole["added_tokens"] += [added_token(first + place, text, **how) for place, (text, how) in enumerate(tokens)]
    return whole


def qwen() -> Whole:
    return with_tokens_after_all(
        bpe([{"type": "NFC"}], [split(QWEN), by_bytes()]), ("<|im_start|>", {}), ("<tool>", {"special": False})
    )


def deepseek() -> Whole:
    cuts = [split("[\r\n]"), split(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+")]
    cuts += [split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"), split("[一-龥ࠀ-一가-퟿]+")]
    return bpe([], [*cuts, digits(alone=True), by_bytes()])


def deepseek_3() -> Whole:
    return bpe([], [split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), by_bytes()])


def phi() -> Whole:
    runs = [(" " * length, {"special": False, "normalized": True}) for length in range(31, 1, -1)]
    runs += [("\t" * length, {"special": False, "normalized": True}) for length in range(9, 1, -1)]
    return with_tokens_after_all(bpe([], [by_bytes(cuts=True)]), ("<|endoftext|>", {}), *runs)


def gpt_neox() -> Whole:
    runs = [(" " * length, {"special": False, "normalized": True}) for length in range(24, 1, -1)]
    return with_tokens_after_all(
        bpe([{"type": "NFC"}], [by_bytes(cuts=True)], specials=("<|endoftext|>", "<|padding|>")), *runs
    )


def starcoder() -> Whole:
    return bpe([], [digits(alone=True), by_bytes(cuts=True)], specials=("<|endoftext|>", "<fim_prefix>"))


def bloom() -> Whole:
    return bpe([], [split(PHRASES), by_bytes()], specials=("<unk>", "<s>", "</s>", "<pad>"))


def falcon() -> Whole:
    cuts = [{"type": "Punctuation", "behavior": "Contiguous"}, by_bytes(cuts=True), digits(alone=False)]
    return bpe([], [*cuts, split("[0-9][0-9][0-9]")], specials=(">>TITLE<<", "<|endoftext|>"))


def roberta() -> Whole:
    whole = bpe([], [by_bytes(blank=True, cuts=True)], specials=("<s>", "<pad>", "</s>", "<unk>"))
    return with_tokens_after_all(whole, ("<mask>", {"lstrip": True}))


def whisper() -> Whole:
    times = [(f"<|{time / 50:.2f}|>", {"special": False}) for time in range(40)]
    return with_tokens_after_all(bpe([], [by_bytes(cuts=True)]), ("<|endoftext|>", {}), ("<|en|>", {}), *times)


def clip() -> Whole:
    changes = [{"type": "NFC"}, replace_step(r"\s+", " ", regex=True), {"type": "Lowercase"}]
    cuts = [split(CLIP, "Removed", invert=True), by_bytes()]
    whole = bpe(changes, cuts, end_of_word_suffix="</w>", specials=("<|startoftext|>", "<|endoftext|>"))
    import tokenizers

    for stand_in in tokenizers.pre_tokenizers.ByteLevel.alphabet():
        whole["model"]["vocab"].setdefault(stand_in + "</w>", len(whole["model"]["vocab"]))
    whole["model"]["unk_token"] = "<|endoftext|>"
    return whole


def mistral_nemo() -> Whole:
    whole = bpe([], [split(O200K_LIKE), by_bytes()], specials=("<unk>", "<s>", "[INST]"))
    whole["model"]["ignore_merges"] = True
    return whole


def command_r() -> Whole:
    return bpe([{"type": "NFC"}], [digits(alone=True), by_bytes(cuts=True)], specials=("<PAD>", "<UNK>"))


def bert() -> Whole:
    return wordpiece([as_bert(lowercase=True)], [{"type": "BertPreTokenizer"}])


def bert_cased() -> Whole:
    return wordpiece([as_bert(lowercase=False)], [{"type": "BertPreTokenizer"}])


def wordpiece_of_signs() -> Whole:
    """Make a WordPiece tokenizer for words that can begin with the continuing prefix, such as `##.`."""
    return wordpiece([{"type": "NFD"}, {"type": "StripAccents"}], [{"type": "Whitespace"}])


def by_scripts() -> Whole:
    return bpe([], [{"type": "UnicodeScripts"}, digits(alone=True), by_bytes()])


def characters_of_words() -> Whole:
    """Make a tokenizer like `CharBPETokenizer` of the library `tokenizers`."""
    changes: list[Step] = [{"type": "NFKC"}, as_bert(lowercase=True)]
    return bpe(changes, [{"type": "BertPreTokenizer"}], bytes_first=False, specials=("<unk>",),
               unk_token="<unk>", end_of_word_suffix="</w>")  # fmt: skip


def bert_like() -> Whole:
    """Make a BPE tokenizer with the normalizer and pre-tokenizer of BERT."""
    changes: list[Step] = [as_bert(lowercase=True)]
    return bpe(
        changes, [{"type": "BertPreTokenizer"}], bytes_first=False, specials=("[UNK]", "[CLS]"), unk_token="[UNK]"
    )


def xlm_roberta() -> Whole:
    changes = [precompiled()]
    cuts = [{"type": "WhitespaceSplit"}, metaspace()]
    return with_tokens_after_all(unigram(changes, cuts, "<s>", "<pad>", "</s>"), ("<mask>", {"lstrip": True}))


def t5() -> Whole:
    sentinels: list[tuple[str, dict[str, bool]]] = [(f"<extra_id_{place}>", {}) for place in range(9, -1, -1)]
    return with_tokens_after_all(
        unigram([precompiled()], [{"type": "WhitespaceSplit"}, metaspace()], "<pad>", "</s>"), *sentinels
    )


def t5_newer() -> Whole:
    return unigram([precompiled(), replace_step(" {2,}", "▁", regex=True)], [metaspace()], "<pad>", "</s>")


def albert() -> Whole:
    changes = [replace_step("``", '"'), replace_step("''", '"'), {"type": "NFKD"}, {"type": "StripAccents"}]
    changes += [{"type": "Lowercase"}, precompiled(), replace_step(" {2,}", " ", regex=True)]
    whole = unigram(changes, [metaspace()], "<pad>", "[CLS]", "[SEP]")
    return with_tokens_after_all(whole, ("[MASK]", {"lstrip": True}))


def deberta() -> Whole:
    changes = [{"type": "Strip", "strip_left": True, "strip_right": True}, precompiled()]
    return unigram([*changes, replace_step(" {2,}", " ", regex=True)], [metaspace()], "[PAD]", "[CLS]", "[SEP]")


def precompiled() -> Step:
    table = fields_of_model().map
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}


# --- Converted from SentencePiece -------------------------------------------------------


def fields_of_model(kind: str = "bpe", **choices: Any) -> FieldValues:
    return read(sentencepiece_model(kind, **choices), "trained.model")


def convert_sentencepiece(changes: list[Step], cuts: list[Step], **choices: Any) -> Whole:
    """Convert a SentencePiece model for `tokenizers`, with the normalizers `changes` and the pre-tokenizers `cuts`.

    If a piece can be divided into two pieces in several ways, each way becomes a merge, the best way first.
    """
    fields = fields_of_model(byte_fallback=True, normalization_rule_name="identity", **choices)
    vocabulary = {piece.text: number for number, piece in enumerate(fields.pieces)}
    scores = {piece.text: piece.score for piece in fields.pieces}
    pairs = [
        (text[:cut], text[cut:])
        for text in vocabulary
        for cut in range(1, len(text))
        if text[:cut] in vocabulary and text[cut:] in vocabulary
    ]
    pairs.sort(key=lambda pair: (scores["".join(pair)], *map(len, pair)), reverse=True)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": vocabulary,
        "merges": [list(pair) for pair in pairs],
    }
    return _steps(_around(fields, model), changes, cuts)


def _around(fields: FieldValues, model: Whole) -> Whole:
    specials = [
        added_token(number, piece.text, special=piece.kind != Kind.USER_DEFINED)
        for number, piece in enumerate(fields.pieces)
        if piece.kind in (Kind.UNKNOWN, Kind.CONTROL, Kind.USER_DEFINED)
    ]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": specials,
            "post_processor": None, "decoder": None, "model": model}  # fmt: skip


def llama_2() -> Whole:
    return convert_sentencepiece([{"type": "Prepend", "prepend": "▁"}, replace_step(" ", "▁")], [])


def mistral() -> Whole:
    """Make a tokenizer like the tokenizers in newer files of Mistral."""
    return convert_sentencepiece([], [metaspace("first", cuts=False)])


def llama_of_transformers_5() -> Whole:
    """Make a Llama tokenizer without an unknown token, although some bytes have no token."""
    whole = convert_sentencepiece([], [metaspace("first", cuts=False)])
    whole["model"]["unk_token"] = None
    return whole


def unigram_of_bytes() -> Whole:
    """Make a Unigram tokenizer from SentencePiece with byte pieces for unknown characters."""
    fields = fields_of_model("unigram", byte_fallback=True, normalization_rule_name="identity")
    model = {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
             "vocab": [[piece.text, piece.score] for piece in fields.pieces]}  # fmt: skip
    return _steps(_around(fields, model), [replace_step(" {2,}", "▁", regex=True)], [metaspace()])


def without_bytes() -> Whole:
    """Make a Llama tokenizer of transformers 5 without its byte tokens."""
    whole = llama_of_transformers_5()
    model = whole["model"]
    lacking = {f"<0x{byte:02X}>" for byte in range(256)}
    model["vocab"] = {text: number for text, number in model["vocab"].items() if text not in lacking}
    return whole


def gemma() -> Whole:
    runs = [*("\n" * length for length in (1, 2, 3)), "▁▁", "▁▁▁", "<start_of_turn>"]
    choices = {"add_dummy_prefix": False, "split_by_whitespace": False, "remove_extra_whitespaces": False}
    return convert_sentencepiece(
        [replace_step(" ", "▁")], [split_at(" ", "MergedWithPrevious")], user_defined_symbols=tuple(runs), **choices
    )


def word_level() -> Whole:
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.WordLevelTrainer(vocab_size=500, special_tokens=["<unk>"], show_progress=False)
    made.train_from_iterator([*training_texts(), "##signs ##"], trainer)
    whole: Whole = json.loads(made.to_str())
    return whole


KINDS: dict[str, Callable[[], Whole]] = {
    kind.__name__.replace("_", " "): kind
    for kind in (qwen, deepseek, deepseek_3, phi, gpt_neox, starcoder, bloom, falcon, roberta, whisper, clip,
                 mistral_nemo, command_r, bert, bert_cased, characters_of_words, xlm_roberta, t5, t5_newer, albert,
                 deberta, llama_2, mistral, llama_of_transformers_5, unigram_of_bytes, without_bytes, gemma,
                 word_level, unigram_over_bytes, wordpiece_of_signs, by_scripts)
}  # fmt: skip
