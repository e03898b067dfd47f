"""The tokenizer section of a GGUF file, as llama.cpp reads it.

The section lists the tokens of a SentencePiece, GPT-2 or BERT tokenizer.

The tokens of GPT-2, Gemma 4 and BERT are read like a tokenizer.json with the same content. All other tokens are read
like a SentencePiece .model. But before that, llama.cpp splits a text at user-defined tokens, and puts a space before
each part.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from bpe_core.errors import FormatError, damage_error
from bpe_core.formats.base import IN_WORDS, LONGEST, PIECES, Beside, Opened, ReadOnly, about
from bpe_core.formats.byte_level import is_byte_level
from bpe_core.formats.gguf_names import kinds_by_name
from bpe_core.formats.gguf_patterns import BY_NAME, CLEANING
from bpe_core.formats.gguf_section import LARGEST_HEAD, MARK, NAMES, Section, read_section
from bpe_core.formats.hugging_face_text import read_steps
from bpe_core.formats.json_bpe import JsonBpe
from bpe_core.formats.json_model import JsonModel
from bpe_core.formats.json_reading import LARGEST_NUMBER, Object
from bpe_core.formats.json_wordpiece import JsonWordPiece
from bpe_core.formats.sentencepiece_fields import BPE, MARKER, UNIGRAM, FieldValues, Kind, Pieces
from bpe_core.formats.sentencepiece_model import bpe_history, most_probable_history
from bpe_core.formats.sentencepiece_text import packed
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.support.wording import count_text
from bpe_core.text.preparation.pieces import AddedToken

BEGINS = "▁"  # the sign before BERT's tokens that begin a word
CONTINUES = "##"
_SPECIAL = (Kind.UNKNOWN, Kind.CONTROL)
_JINA = ("jina-v2-de", "jina-v2-es", "jina-v2-code")
_WITH_MASK = ("nomic-bert-moe", "jina-bert-v3")
_IN_LINES = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
_PHI_LEAVES = ("<unk>", "<s>", "<|endoftext|>")  # the tokens after which Phi-3 removes blanks
_DEFAULTS = {"bert": 100, "t5": 2}  # the id of the unknown token


class Tokens:
    """The lists of tokens in a tokenizer section, and facts that are computed from these lists."""

    def __init__(self, section: Section, name: str) -> None:
        self.section = section
        self.name = name
        texts = self._list("tokens", str)
        if not texts:
            raise FormatError(f"{name} is a GGUF file without a tokenizer; open a GGUF file of a language model.")
        self.texts = [text or f"[EMPTY_{number}]" for number, text in enumerate(texts)]
        kinds = self._list("token_type", int)
        scores = self._list("scores", float)
        if len(set(self.texts)) < len(texts) or any(len(row) not in (0, len(texts)) for row in (kinds, scores)):
            raise damage_error(
                f"{name} is damaged: it lists {count_text(len(texts), 'token')}, but "
                f"{count_text(len(set(self.texts)), 'different text')}, "
                f"{count_text(len(kinds), 'kind')} and {count_text(len(scores), 'score')}."
            )
        known = {*Kind}
        stated = [Kind(kind) if kind in known else Kind.NORMAL for kind in kinds or [0] * len(texts)]
        self.kinds, self._doubtful = kinds_by_name(self.texts, stated, section)
        self.scores = scores or [0.0] * len(texts)

    def _list(self, key: str, kind: type) -> list[Any]:
        value = self.section.get(key, [])
        kinds = (int, float) if kind is float else kind
        if not isinstance(value, list) or not all(isinstance(item, kinds) for item in value):
            raise FormatError(f'{self.name}: "tokenizer.ggml.{key}" must be a list of {kind.__name__}.')
        return value

    def flag(self, key: str, otherwise: bool) -> bool:
        value = self.section.get(key, otherwise)
        if not isinstance(value, bool):
            raise FormatError(f'{self.name}: "tokenizer.ggml.{key}" must be true or false.')
        return value

    @property
    def unknown(self) -> str:
        number = self.section.get("unknown_token_id", _DEFAULTS.get(self.section["model"]))
        return self.texts[number] if isinstance(number, int) and 0 <= number < len(self.texts) else ""

    @property
    def map(self) -> bytes:
        """Return the normalizer's map of characters as bytes, in the binary form of a SentencePiece .model."""
        return bytes(value & 0xFF for value in self._list("precompiled_charsmap", int))

    @property
    def notes(self) -> list[str]:
        said = "tokens have names that llama.cpp always treats as special: {}"
        return about(self._doubtful, f"{said}. This program treats such a token as special only if the file says so")

    def refuse_missing_bytes(self) -> None:
        lacking = set(BYTE_TEXTS).difference(self.texts)
        if lacking:
            raise FormatError(f"{self.name}: {len(lacking)} of the 256 bytes have no token, such as {min(lacking)}.")

    @property
    def merges(self) -> list[str]:
        return self._list("merges", str)

    @property
    def found_first(self) -> list[str]:
        """Return the tokens that are searched for in a text before the text is normalized."""
        return [text for text, kind in zip(self.texts, self.kinds, strict=True) if kind == Kind.USER_DEFINED]

    @cached_property
    def sides(self) -> dict[str, dict[str, bool]]:
        """Return the tokens that absorb the spaces before or after them when they are found in a text.

        Each token is mapped to `{"lstrip": True}` for the spaces before it, or to `{"rstrip": True}` for the spaces
        after it. llama.cpp chooses these tokens by the name of the model.
        """
        name, architecture, pre = (str(self.section.get(key, "")) for key in (*NAMES, "pre"))
        if any(part in pre for part in _JINA) or any(part in architecture for part in _WITH_MASK):
            return {"<mask>": {"lstrip": True}}
        if "phi-3" in name.lower() or "phi3" in name.lower():
            kinds = zip(self.texts, self.kinds, strict=True)
            texts = {text for text, kind in kinds if kind in (*_SPECIAL, Kind.USER_DEFINED)}.difference(_PHI_LEAVES)
            return {text: {"rstrip": True} for text in texts}
        return {"[MASK]": {"lstrip": True}} if "modern-bert" in name.lower() else {}

    def added(self, *, but: str = "") -> list[Object]:
        kinds = zip(self.texts, self.kinds, strict=True)
        return [
            {
                "id": number,
                "content": text,
                "special": kind in _SPECIAL,
                "normalized": False,
                **self.sides.get(text, {}),
            }
            for number, (text, kind) in enumerate(kinds)
            if (kind in _SPECIAL or kind == Kind.USER_DEFINED) and text != but
        ]


def _as_json(model: JsonModel, whole: Object, name: str) -> tuple[History, list[str]]:
    steps = read_steps(whole, name, shows_bytes=model.shows_bytes)
    history, notes = model.open(whole, whole["model"], steps, name)
    return history, [*notes]


def bytes_history(tokens: Tokens) -> tuple[History, list[str]]:
    name = tokens.name
    asked = tokens.section.get("pre", "default")
    if asked in _IN_LINES:
        return lines_history(tokens)
    splitting = BY_NAME.get(asked)
    if splitting is None:
        raise FormatError(
            f"{name} splits texts with the pre-tokenizer {str(asked)[:40]!r}, which this program does not know. Open "
            "the "
            "tokenizer.json of the model that this file was made from."
        )
    cuts = [_split(expression) for expression in splitting.expressions]
    cuts.append({"type": "ByteLevel", "add_prefix_space": False, "use_regex": False})
    model = {
        "vocab": {text: number for number, text in enumerate(tokens.texts)},
        "merges": tokens.merges,
        "ignore_merges": splitting.whole_words,
    }
    whole = {
        "normalizer": {"type": "NFC"} if tokens.flag("normalizer.nfc", False) else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts},
        "decoder": _decoders([{"type": "LlamaBytes", "as_text": "\n".join(_tokens_like_bytes(tokens))}], asked),
        "added_tokens": tokens.added(),
        "model": model,
    }
    history, notes = _as_json(JsonBpe(), whole, name)
    leaves_out = history.joining is not None and bool(history.joining.left_out)
    return history, [*notes, *[_APART] * leaves_out, _NEWER]


def _decoders(steps: list[Object], splitting: object) -> Object:
    """Return the operations of a decoder, with one operation added if llama.cpp removes spaces from decoded texts.

    `splitting` is the pre-tokenizer of the file, which decides this.
    """
    cleaning: list[Object] = [{"type": "LlamaSpaces"}] * (splitting in CLEANING)
    return {"type": "Sequence", "decoders": steps + cleaning}


def _tokens_like_bytes(tokens: Tokens) -> list[str]:
    """Return the added tokens that could also be read as byte characters."""
    added = (token["content"] for token in tokens.added())
    return [text for text in added if not text.isascii() and is_byte_level(text)]


def lines_history(tokens: Tokens) -> tuple[History, list[str]]:
    """Return the history of Gemma 4's tokenizer, and notes about it.

    The merges of this tokenizer join characters and bytes within a line. In a line, `▁` replaces each space.
    """
    model = {
        "vocab": {text: number for number, text in enumerate(tokens.texts)},
        "merges": tokens.merges,
        "byte_fallback": True,
    }
    blanks = {"type": "Replace", "pattern": {"String": MARKER}, "content": " "}
    whole = {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": MARKER},
        "pre_tokenizer": _split(r"[^\n]+|\n+"),
        "decoder": _decoders([blanks, {"type": "ByteFallback"}, {"type": "Fuse"}], tokens.section.get("pre", "gemma4")),
        "added_tokens": tokens.added(),
        "model": model,
    }
    tokens.refuse_missing_bytes()
    return _as_json(JsonBpe(), whole, tokens.name)


def words_history(tokens: Tokens) -> tuple[History, list[str]]:
    """Return the history of a BERT model's tokens, and notes about it.

    The recipe of the history has a normalizer, which changes texts in the same way as llama.cpp. If the normalizer
    removes accents, it also shortens each Hangul syllable to its first consonant.
    """
    lowercase = tokens.flag("normalizer.lowercase", True)
    changes: list[Object] = [_replace(_BLANKS, " "), _replace(r"[\p{Cc}\p{Cf}\p{Co}\x{fffd}]", "")]
    if tokens.flag("normalizer.strip_accents", lowercase):
        leading = {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(packed(_first_consonants())).decode(),
        }
        changes += [leading, {"type": "NFD"}, _replace(r"\p{M}", "")]
    changes += [{"type": "Lowercase"}] if lowercase else []
    alone = {token["content"] for token in tokens.added()} | {tokens.unknown}
    pieces = [text.removeprefix(BEGINS) if text.startswith(BEGINS) else CONTINUES + text for text in tokens.texts]
    vocabulary = {
        text if text in alone else piece: number
        for number, (text, piece) in enumerate(zip(tokens.texts, pieces, strict=True))
    }
    model = {
        "type": "WordPiece",
        "vocab": vocabulary,
        "unk_token": tokens.unknown,
        "continuing_subword_prefix": CONTINUES,
        "max_input_chars_per_word": LARGEST_NUMBER,
    }
    whole = {
        "normalizer": {"type": "Sequence", "normalizers": changes},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, _split(_SIGNS), _split(_IDEOGRAPHS)],
        },
        "decoder": _decoders([{"type": "LlamaWords", "as_text": "\n".join(tokens.found_first)}], "default"),
        "added_tokens": tokens.added(),
        "model": model,
    }
    history, notes = _as_json(JsonWordPiece(), whole, tokens.name)
    begins = f"A {BEGINS} in a text begins a word in llama.cpp. In this program it is an ordinary character."
    return history, [*notes, begins, _NEWER]


_APART = "Symbols on both sides of a byte without a token can merge here, but never in llama.cpp."
_BLANKS_TAKEN = (
    "Special tokens include the spaces next to them: all kinds of spaces in this program, but only ASCII spaces in "
    "llama.cpp."
)
_NEWER = "llama.cpp may split letters, digits and signs newer than Unicode 15 differently."
_MARKERS = f"llama.cpp may split a {MARKER} in a text, or a text with nothing but spaces, differently."
_BLANKS = r"[\x09-\x0d\x85\p{Z}]"
_SIGNS = r"[\p{P}$+<=>^`|~]"
_IDEOGRAPHS = (
    r"[\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{20000}-\x{2a6df}\x{2a700}-\x{2b73f}"
    r"\x{2b740}-\x{2b81f}\x{2b920}-\x{2ceaf}\x{2f800}-\x{2fa1f}]"
)


def _first_consonants() -> dict[str, str]:
    """Return the first consonant of each Hangul syllable. llama.cpp drops the other parts of a syllable."""
    return {chr(code): chr(0x1100 + (code - 0xAC00) // 588) for code in range(0xAC00, 0xD7A4)}


def _replace(pattern: str, by: str) -> Object:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}


def _split(pattern: str) -> Object:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def scored_history(tokens: Tokens) -> tuple[History, list[str]]:
    """Return the history of a SentencePiece model that joins pieces by their scores, and notes about it.

    Characters without a token become bytes.
    """
    tokens.refuse_missing_bytes()
    bytes_ = set(BYTE_TEXTS)
    kinds = {Kind.USER_DEFINED: Kind.CONTROL, Kind.UNUSED: Kind.NORMAL}
    pairs = zip(tokens.texts, tokens.kinds, strict=True)
    kept = np.array([Kind.BYTE if text in bytes_ else kinds.get(kind, kind) for text, kind in pairs], np.uint8)
    pieces = Pieces(LaidTexts.of(tokens.texts), np.array(tokens.scores, np.float64), kept)
    stored = FieldValues(pieces, BPE, byte_fallback=True, prefix=tokens.flag("add_space_prefix", True), one_blank=False)
    history, notes = bpe_history(stored, tokens.name)
    return _with_added_tokens(history, tokens), notes


def probable_history(tokens: Tokens) -> tuple[History, list[str]]:
    """Return the history of a SentencePiece model that splits a text into its most probable pieces, and notes
    about it.
    """
    others = {
        number: score if kind == Kind.UNUSED else 0.0
        for number, (kind, score) in enumerate(zip(tokens.kinds, tokens.scores, strict=True))
        if kind in (Kind.USER_DEFINED, Kind.UNUSED)
    }
    kinds = {Kind.USER_DEFINED: Kind.CONTROL, Kind.UNKNOWN: Kind.CONTROL}
    kept = [Kind.UNKNOWN if text == tokens.unknown else kinds.get(kind, kind)
            for text, kind in zip(tokens.texts, tokens.kinds, strict=True)]  # fmt: skip
    pieces = Pieces(LaidTexts.of(tokens.texts), np.array(tokens.scores, np.float64), np.array(kept, np.uint8))
    one_blank = tokens.flag("remove_extra_whitespaces", False)
    stored = FieldValues(
        pieces, UNIGRAM, map=tokens.map, prefix=one_blank or tokens.flag("add_space_prefix", False), one_blank=one_blank
    )
    history, notes = most_probable_history(stored, tokens.name, others, "64 bits")
    return _with_added_tokens(history, tokens), [*notes, _MARKERS]


def _with_added_tokens(history: History, tokens: Tokens) -> History:
    """Add to the recipe the tokens that llama.cpp finds by special rules. Return the history.

    Some of these tokens are searched for before the text is normalized. Others absorb the spaces before or after
    them.
    """
    alone = tokens.found_first
    also = [text for text in history.recipe.special_tokens if text in tokens.sides and text not in alone]
    also += [tokens.unknown] * (history.recipe.unknown == "unk")  # a special token, too
    added = [AddedToken(text, special=text not in alone, **tokens.sides.get(text, {})) for text in (*alone, *also)]
    if added:
        history.recipe = history.recipe.with_changes(preparation=(*added, *history.recipe.preparation))
    return history


READERS: dict[str, Callable[[Tokens], tuple[History, list[str]]]] = {
    "llama": scored_history,
    "gpt2": bytes_history,
    "gemma4": lines_history,
    "bert": words_history,
    "t5": probable_history,
}


class GgufTokenizer(ReadOnly):
    name = "gguf"
    tables = frozenset({IN_WORDS, LONGEST, PIECES})
    enough = LARGEST_HEAD

    why_only_read = "GGUF files can only be read, because they hold a whole language model. Choose another format."

    def recognizes(self, data: bytes) -> bool:
        return data.startswith(MARK)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        section = read_section(data, name)
        kind = section.get("model")
        reader = READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            known = ", ".join(READERS)
            raise FormatError(f"{name} holds a tokenizer of the kind {str(kind)[:40]!r}; this program reads {known}.")
        tokens = Tokens(section, name)
        history, notes = reader(tokens)
        return history, [*notes, *_about_special_tokens(tokens), *tokens.notes, *[_BLANKS_TAKEN] * bool(tokens.sides)]


def _about_special_tokens(tokens: Tokens) -> Iterable[str]:
    """Return a sentence about the special tokens that llama.cpp always finds in a text.

    The sentence concerns only models of the kind `llama`. It names the special tokens whose text consists of two other
    tokens. This program finds such a token only on request. The result is empty if there are no such tokens.
    """
    known = set(tokens.texts)
    special = [text for text, kind in zip(tokens.texts, tokens.kinds, strict=True) if kind in _SPECIAL]
    made = [text for text in special if any(text[:cut] in known and text[cut:] in known for cut in range(1, len(text)))]
    return about(
        made if tokens.section["model"] == "llama" else (),
        "special tokens are matched by llama.cpp without any option, but stay text in this program: {}",
    )
