"""The decoding of tokens by the same operations that a library uses.

The operations have the same names as in Hugging Face's tokenizers.

>>> steps = decoders_of([{"type": "WordPiece", "prefix": "##", "cleanup": True}])
>>> text_of(steps, ["low", "##er", "."])
'lower.'
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any, ClassVar, get_args

from bpe_core.errors import RecipeError
from bpe_core.support.wording import count_text
from bpe_core.text.preparation import normalizers, pre_tokenizers
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.normalizers import Precompiled
from bpe_core.text.preparation.pieces import TracedPiece
from bpe_core.text.preparation.steps import MOST_STEPS, Step, build_step, is_one_of, json_of, preparing
from bpe_core.text.preparation.whole_texts import Marks, WholeTexts
from bpe_core.text.stand_ins import byte_of_stand_in

BLANK = "▁"
UNKNOWN_SHOWN = " \u2047 "  # the text of the unknown token in SentencePiece, if a model does not say it
_BYTE = re.compile(r"<0x([0-9A-Fa-f+][0-9A-Fa-f])>")
_CLEANED = [(" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m")]
_CLEANED += [(" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")]
_EACH_BYTE = "replace each byte"
codecs.register_error(_EACH_BYTE, lambda error: ("\ufffd", getattr(error, "start", 0) + 1))


def _cleaned(text: str) -> str:
    return reduce(lambda whole, rule: whole.replace(*rule), _CLEANED, text)


def _byte_of(token: str) -> int | None:
    match = _BYTE.fullmatch(token)
    return int(match[1], 16) if match else None


# SentencePiece reads <0x0a>, in small letters, as a text
_CAPITAL_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
_NO_BYTES: dict[str, int] = {}


@dataclass(frozen=True)
class SpaceDecoder:
    """The decoder for files that name no decoder. It puts a space between tokens."""

    words: ClassVar[str] = "A space separates tokens."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        return [" ".join(tokens)]


@dataclass(frozen=True)
class ByteLevel:
    words: ClassVar[str] = "Byte characters become the bytes that they represent."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        known = byte_of_stand_in()
        parts = (
            bytes(map(known.__getitem__, token)) if known.keys() >= set(token) else token.encode() for token in tokens
        )
        return [b"".join(parts).decode(errors="replace")]


@dataclass(frozen=True)
class ByteFallback:
    words: ClassVar[str] = "Tokens such as <0x41> become their bytes."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        texts: list[str] = []
        for is_byte, run in groupby(tokens, key=lambda token: _byte_of(token) is not None):
            if not is_byte:
                texts += run
                continue
            data = bytes(byte for token in run if (byte := _byte_of(token)) is not None)
            try:
                texts.append(data.decode())
            except UnicodeDecodeError:
                texts += ["\ufffd"] * len(data)
        return texts


@dataclass(frozen=True)
class Fuse:
    words: ClassVar[str] = "All tokens become one text."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        return ["".join(tokens)]


@dataclass(frozen=True)
class Replace:
    pattern: str
    is_regex: bool
    content: str

    @property
    def words(self) -> str:
        return f"In each token “{self.pattern}” becomes “{self.content}”."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        if not self.is_regex:
            return [token and token.replace(self.pattern, self.content) for token in tokens]
        return [token and self._replaced(token) for token in tokens]

    def _replaced(self, token: str) -> str:
        parts = []
        end = 0
        for start, stop in Expression.of(self.pattern, self.is_regex).spans(token):
            parts += [token[end:start], self.content]
            end = stop
        return "".join([*parts, token[end:]])


@dataclass(frozen=True)
class Strip:
    content: str
    start: int
    stop: int

    @property
    def words(self) -> str:
        return (
            f"“{self.content}” is left out at most {count_text(self.start, 'time')} at the beginning of the text, and "
            f"at most {count_text(self.stop, 'time')} at the end."
        )

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        return [self._stripped(token) for token in tokens]

    def _stripped(self, token: str) -> str:
        first = min(self.start, len(token) - len(token.lstrip(self.content)))
        last = min(self.stop, len(token) - len(token.rstrip(self.content)))
        return token[first : max(first, len(token) - last)]


@dataclass(frozen=True)
class WordPiece:
    prefix: str = "##"
    cleanup: bool = True

    @property
    def words(self) -> str:
        return f"A space is put before each token that does not begin with “{self.prefix}”."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        after = [
            token.removeprefix(self.prefix) if token.startswith(self.prefix) else f" {token}" for token in tokens[1:]
        ]
        joined = [*tokens[:1], *after]
        return list(map(_cleaned, joined)) if self.cleanup else joined


@dataclass(frozen=True)
class BPEDecoder:
    suffix: str = "</w>"

    @property
    def words(self) -> str:
        return f"“{self.suffix}” becomes a space, and at the end of the text it is left out."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        last = len(tokens) - 1
        return [token.replace(self.suffix, "" if place == last else " ") for place, token in enumerate(tokens)]


@dataclass(frozen=True)
class Metaspace:
    replacement: str = BLANK
    prepend_scheme: str = "always"

    @property
    def words(self) -> str:
        first = "" if self.prepend_scheme == "never" else ", and is removed from the first token"
        return f"“{self.replacement}” becomes a space{first}."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        return [token.replace(self.replacement, " " if place else first) for place, token in enumerate(tokens)]


@dataclass(frozen=True)
class CTC:
    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    @property
    def words(self) -> str:
        return f"Of equal tokens in a row only the first is kept, and “{self.pad_token}” is left out."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            texts = [_cleaned(token).replace(self.word_delimiter_token, " ") for token in texts]
        return [token for token in texts if token]


@dataclass(frozen=True)
class SentencePiece:
    """A decoder that gives the same results as SentencePiece. Control symbols have no text."""

    unknown: str
    unknown_shown: str = UNKNOWN_SHOWN
    drops_blank: bool = True  # the blank at the beginning, which the library added
    drops_blanks: bool = True  # all blanks at the beginning
    map: str = ""  # a map of characters that is applied last
    has_bytes: bool = True  # so that <0x41> is a byte, and no text
    prefix_behind: bool = False  # the last operations
    one_blank_behind: bool = False
    shows_blanks_behind: bool = False

    @property
    def words(self) -> str:
        return (
            f"“{self.unknown}” becomes “{self.unknown_shown}”. “{BLANK}” becomes a space, and is left out at the "
            "beginning."
        )

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        texts: list[str] = []
        at_first, dropped = True, False  # whether the blank at the beginning may still come, and whether it came
        byte_of = _CAPITAL_BYTES.get if self.has_bytes else _NO_BYTES.get
        for is_byte, run in groupby(tokens, key=lambda token: byte_of(token) is not None):
            if is_byte:
                data = bytes(byte for token in run if (byte := byte_of(token)) is not None)
                texts.append(data.decode(errors=_EACH_BYTE))
                continue
            for token in run:
                at_first = at_first and not dropped and not any(texts)
                dropped = False
                if token == self.unknown:
                    token = self.unknown_shown
                elif token in silent:
                    token = ""
                else:
                    if at_first and (self.drops_blank or self.drops_blanks) and token.startswith(BLANK):
                        token = token[1:]
                        dropped = not self.drops_blanks
                    token = token.replace(BLANK, " ")
                texts.append(token)
        whole = "".join(texts)
        return [preparing(self._behind).changed(TracedPiece.bare(whole)).text if self.map else whole]

    @property
    def _behind(self) -> tuple[Step, ...]:
        marks = Marks(self.prefix_behind, self.one_blank_behind, self.shows_blanks_behind)
        return WholeTexts(Precompiled(self.map, longest=True), marks).steps


@dataclass(frozen=True)
class LlamaBytes:
    """A decoder of bytes that gives the same results as llama.cpp. It returns added tokens as the file writes them."""

    as_text: str = ""  # the added tokens that could be read as bytes, one a line

    words: ClassVar[str] = "Byte characters become the bytes that they represent, except in added tokens."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        known = byte_of_stand_in()
        shown = frozenset(self.as_text.split("\n"))
        parts = (
            token.encode() if token in shown or not known.keys() >= set(token) else bytes(map(known.__getitem__, token))
            for token in tokens
        )
        return [b"".join(parts).decode(errors="replace")]


@dataclass(frozen=True)
class LlamaWords:
    """A decoder of BERT's tokens that gives the same results as llama.cpp.

    It also puts a space before the first word.
    """

    as_text: str = ""  # the added tokens that are not special, one a line
    prefix: str = "##"

    @property
    def words(self) -> str:
        return f"A space is put before each word, and “{self.prefix}” is left out."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        shown = {*silent, *self.as_text.split("\n")}
        return [token if token in shown else self._in_word(token) for token in tokens]

    def _in_word(self, token: str) -> str:
        return token.removeprefix(self.prefix) if token.startswith(self.prefix) else f" {token}"


@dataclass(frozen=True)
class LlamaSpaces:
    """A decoder that, like llama.cpp, removes some spaces from a decoded text."""

    words: ClassVar[str] = "Spaces before . , ! ? and around ' are removed."

    def became(self, tokens: list[str], silent: Collection[str]) -> list[str]:
        text = _BEFORE_SIGNS.sub("", "".join(tokens))
        return [_BEFORE_ENDINGS.sub("", text.replace(" ' ", "'"))]


_BEFORE_SIGNS = re.compile(r" (?=[?!.,])")
_BEFORE_ENDINGS = re.compile(r" (?='(?:s|m|re|ve))")


Decoder = (
    SpaceDecoder | ByteLevel | ByteFallback | Fuse | Replace | Strip | WordPiece | BPEDecoder | Metaspace | CTC
    | SentencePiece | LlamaBytes | LlamaWords | LlamaSpaces
)  # fmt: skip
KINDS: dict[str, type[Decoder]] = {kind.__name__: kind for kind in get_args(Decoder)}


def decoders_of(values: object) -> tuple[Decoder, ...]:
    if not isinstance(values, list | tuple) or len(values) > MOST_STEPS:
        raise RecipeError(f"The decoding must be a list of at most {MOST_STEPS:,} operations.")
    return tuple(value if isinstance(value, Decoder) else decoder_in(value) for value in values)


def decoder_in(value: object) -> Decoder:
    """Make the decoding operation that a JSON object describes. Raise RecipeError if no such operation is supported."""
    step: Decoder = build_step(KINDS, value)
    if isinstance(step, Replace):
        Expression.of(step.pattern, step.is_regex)
    elif isinstance(step, SentencePiece) and step.map:
        _ = Precompiled(step.map, longest=True).table
    elif isinstance(step, Strip | Metaspace) and len(getattr(step, "content", "x")) != 1:
        raise RecipeError("The sign that decoding removes at the ends must be one character.")
    return step


def is_decoder(value: dict[str, Any]) -> bool:
    return is_one_of(KINDS, value)


def as_json(step: Decoder) -> dict[str, Any]:
    return json_of(step)


def text_of(steps: Iterable[Decoder], tokens: Sequence[str], silent: Collection[str] = ()) -> str:
    """Decode tokens with the operations in `steps`. Each token is given as the tokenizer file writes it.

    The tokens in `silent` have no text.
    """
    texts = list(tokens)
    for step in steps:
        texts = step.became(texts, silent)
    return "".join(texts)


def blank_sign(steps: tuple[Step, ...]) -> str:
    """Return the character with which these operations replace blanks.

    Return an empty string if they replace no blanks.
    """
    for step in steps:
        if isinstance(step, pre_tokenizers.Metaspace):
            return step.replacement
        if isinstance(step, normalizers.Replace) and step.pattern == " " and len(step.content) == 1:
            return step.content
    return ""


def writes_bytes(steps: tuple[Step, ...]) -> bool:
    """Return whether these operations turn a text into characters that represent its bytes."""
    return any(isinstance(step, normalizers.BytesShown | pre_tokenizers.ByteLevel) for step in steps)


def puts_blank_before(steps: tuple[Step, ...]) -> bool:
    """Return whether these operations put a blank before a text that does not begin with a blank."""
    return any(
        isinstance(step, normalizers.Prepend)
        or (isinstance(step, pre_tokenizers.Metaspace) and step.prepend_scheme != "never")
        for step in steps
    )
