"""The operations that prepare a text, and the splitter that applies them.

The operations have the same names as in Hugging Face's tokenizers.

The module reads operations from JSON and writes them to JSON.

>>> work = WordSplitter((read_step({"type": "Lowercase"}), read_step({"type": "Digits", "individual_digits": False})))
>>> [word.text for word in work.words(work.changed(TracedPiece.whole("Route 66")))]
['route ', '66']
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, get_args

from bpe_core.errors import BpeError, RecipeError
from bpe_core.text.characters import FORMS, raw_bytes
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.normalizers import (
    LARGEST,
    BytesShown,
    Normalizer,
    Precompiled,
    Replace,
    UnicodeForm,
    check_growth,
)
from bpe_core.text.preparation.pieces import BEHAVIORS, AddedToken, TracedPiece
from bpe_core.text.preparation.pre_tokenizers import ByteLevel, CharDelimiterSplit, Metaspace, PreTokenizer, Split
from bpe_core.text.stand_ins import byte_of_stand_in

Step = AddedToken | Normalizer | PreTokenizer

_PLAIN: dict[str, type[Step]] = {kind.__name__: kind for kind in get_args(Step) if kind is not UnicodeForm}
_AMONG = {"behavior": BEHAVIORS, "prepend_scheme": ("always", "first", "never")}
_BEHAVIORS = {name.lower(): name for name in BEHAVIORS}
MOST_STEPS = 100_000  # added tokens are operations, too
LONGEST_TEXT = 100_000  # characters of a pattern
LONGEST_LENGTH = 1_000_000


def is_one_of(kinds: Mapping[str, type[Any]], values: Mapping[str, Any]) -> bool:
    kind = values.get("type")
    return isinstance(kind, str) and kind in kinds


def is_known(values: Mapping[str, Any]) -> bool:
    return values.get("type") in FORMS or is_one_of(_PLAIN, values)


def read_step(values: object) -> Step:
    """Make the operation that a JSON object describes. Raise RecipeError if no such operation is supported."""
    kind = values.get("type") if isinstance(values, dict) else None
    if kind in FORMS:
        return UnicodeForm(kind)
    step: Step = build_step(_PLAIN, values)
    try:
        _check(step)
    except BpeError as error:
        raise RecipeError(f"The operation {type(step).__name__}: {error}") from error
    return step


def build_step(kinds: Mapping[str, type[Any]], values: object) -> Any:
    """Make an instance of a dataclass from a JSON object.

    The value "type" of the object names the dataclass. The other values of the object become the fields.

    `kinds` maps the name of each type to its class. Raise RecipeError if the object fits no class.
    """
    kind = values.get("type") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(kind, str):
        raise RecipeError('An operation must be an object that says its "type".')
    if kind not in kinds:
        raise RecipeError(f"This program knows no operation named {kind[:40]!r} here.")
    given = _defaults(kind, values)
    return kinds[kind](**{field.name: _value(kind, field, given) for field in dataclasses.fields(kinds[kind])})


def _defaults(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an operation's settings in a file to the names and values of this program.

    A setting that the file leaves out is also missing in the result.
    """
    given = dict(values)
    pattern = given.get("pattern")
    if kind in ("Split", "Replace"):
        if not isinstance(pattern, dict) or len(pattern) != 1 or next(iter(pattern)) not in ("String", "Regex"):
            raise RecipeError(f'The operation {kind}: its "pattern" must be an object with a "String" or a "Regex".')
        ((way, given["pattern"]),) = pattern.items()
        given["is_regex"] = way == "Regex"
    if kind == "Metaspace" and "prepend_scheme" not in given and given.get("add_prefix_space") is False:
        given["prepend_scheme"] = "never"
    if isinstance(given.get("behavior"), str):
        given["behavior"] = _BEHAVIORS.get(given["behavior"].replace("_", "").lower(), given["behavior"])
    return given


def _value(kind: str, field: dataclasses.Field[Any], given: Mapping[str, Any]) -> Any:
    value = given.get(field.name, field.default)
    wanted = str(field.type)
    least = int(field.name == "length")
    if value is None and wanted.endswith("None"):
        return None
    if wanted.startswith("bool"):
        is_right = isinstance(value, bool)
    elif wanted == "int":
        is_right = type(value) is int and least <= value <= LONGEST_LENGTH
    else:
        is_right = isinstance(value, str)
    if not is_right:
        raise RecipeError(f'The operation {kind}: its "{field.name}" is missing or has the wrong type.')
    if isinstance(value, str):
        if field.name in _AMONG and value not in _AMONG[field.name]:
            raise RecipeError(f'The operation {kind}: "{field.name}" must be one of {", ".join(_AMONG[field.name])}.')
        longest = LARGEST if field.name == "precompiled_charsmap" else LONGEST_TEXT
        if len(value) > longest or (
            not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)
        ):
            raise RecipeError(
                f'The operation {kind}: its "{field.name}" is too long, or holds half of a surrogate pair.'
            )
    return value


def _check(step: Step) -> None:
    if isinstance(step, Split | Replace):
        Expression.of(step.pattern, step.is_regex)
    elif isinstance(step, Precompiled):
        _ = step.table
    elif isinstance(step, Metaspace | CharDelimiterSplit):
        sign = step.replacement if isinstance(step, Metaspace) else step.delimiter
        if len(sign) != 1:
            what = "sign for spaces" if isinstance(step, Metaspace) else "delimiter"
            raise RecipeError(f"the {what} must be one character.")


def as_json(step: Step) -> dict[str, Any]:
    if isinstance(step, UnicodeForm):
        return {"type": step.form}
    return json_of(step)


def json_of(step: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"type": type(step).__name__, **dataclasses.asdict(step)}
    if "is_regex" in values:
        values["pattern"] = {"Regex" if values.pop("is_regex") else "String": values["pattern"]}
    return values


def is_normalizer(step: Step) -> bool:
    return isinstance(step, Normalizer)


def is_pre_tokenizer(step: Step) -> bool:
    return isinstance(step, PreTokenizer)


def is_added(step: Step, content: str) -> bool:
    """Return whether `step` is a search for the added token with the text `content`."""
    return isinstance(step, AddedToken) and step.content == content


def has_no_options(step: Step) -> bool:
    """Return whether a step is the search for a special token, with all options of this search at their defaults."""
    return isinstance(step, AddedToken) and step == AddedToken(step.content)


def steps_of(values: object) -> tuple[Step, ...]:
    if not isinstance(values, list | tuple) or len(values) > MOST_STEPS:
        raise RecipeError(f"The preparation must be a list of at most {MOST_STEPS:,} operations.")
    return tuple(value if isinstance(value, Step) else read_step(value) for value in values)


def without_other_tokens(steps: tuple[Step, ...], tokens: Collection[str]) -> tuple[Step, ...]:
    return tuple(step for step in steps if not isinstance(step, AddedToken) or step.content in tokens)


def _sort_key(step: Step) -> int:
    """Return 0 if a step searches for an added token, 1 if it is a normalizer, and 2 if it is a pre-tokenizer.

    The steps of a recipe must be in the order of these numbers.
    """
    if isinstance(step, AddedToken):
        return 0
    return 1 if is_normalizer(step) else 2


def check_steps(steps: tuple[Step, ...], tokens: Collection[str], *, changed: bool, split: bool) -> None:
    """Raise RecipeError if the operations do not fit the recipe.

    The operations must be in the right order. If `changed` is true, other choices of the recipe normalize the text, so
    no operation may normalize it. If `split` is true, a pattern splits the text, so no operation may split it. Each
    named special token must be one of `tokens`.
    """
    if changed and any(map(is_normalizer, steps)):
        raise RecipeError("The preparation normalizes the text, and so do other choices of the recipe; keep only one.")
    if split and any(map(is_pre_tokenizer, steps)):
        raise RecipeError(
            'The preparation splits the text, and so does the pattern of the recipe; choose "none" as the pattern.'
        )
    if len(without_other_tokens(steps, tokens)) < len(steps):
        raise RecipeError(
            "The preparation names a special token that the recipe does not have. Add the token to the special tokens "
            "of the recipe."
        )
    places = [_sort_key(step) for step in steps]
    if places != sorted(places):
        raise RecipeError(
            "The operations of a preparation must come in this order: added tokens, normalizers, pre-tokenizers."
        )
    shown = [i for i, step in enumerate(steps) if isinstance(step, BytesShown | ByteLevel)]
    later = steps[shown[0] + 1 :] if shown else ()
    if len(shown) > 1 or any(is_normalizer(step) or isinstance(step, Metaspace) for step in later):
        raise RecipeError(
            "The preparation turns text into bytes twice, or changes the text after that; this program can do neither."
        )


MOST_KNOWN = 1 << 16  # pieces
LONGEST_KNOWN = 64  # characters of a piece


class WordSplitter:
    def __init__(self, steps: Sequence[Step], *, shows_bytes: bool = False) -> None:
        """Store the operations. If `shows_bytes` is true, words keep the printable characters that represent bytes."""
        self._shows_bytes = shows_bytes
        self._changes = [step for step in steps if isinstance(step, Normalizer)]
        self.cuts = tuple(step for step in steps if isinstance(step, PreTokenizer))
        self.wants_places = any(isinstance(step, Metaspace) and step.prepend_scheme == "first" for step in self.cuts)
        self._known: dict[str, tuple[str, ...]] = {}  # the words of each part after the first cut

    def changed(self, piece: TracedPiece) -> TracedPiece:
        length = len(piece.text)
        for step in self._changes:
            piece = step.changed(piece)
            check_growth(length, len(piece.text))
        return piece

    def words(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        """Split a normalized text into words.

        If the text is split between bytes, a word may begin or end inside a character.
        """
        return self._words((piece,), 0)

    def texts_of_words(self, text: str, first: int = 0) -> Iterable[str]:
        """Split a normalized text into words, and return them without offsets.

        The text begins at character number `first` of the original text.
        """
        if self.wants_places:
            return (word.text for word in self._words((TracedPiece.whole(text, first),), 0))
        if len(self.cuts) > 1:
            return self._texts_by_parts(text)
        (cut,) = self.cuts
        if isinstance(cut, Split) or (isinstance(cut, ByteLevel) and not self._shows_bytes):
            return cut.texts(text)
        return (word.text for word in self._words((TracedPiece.bare(text),), 0))

    def _texts_by_parts(self, text: str) -> Iterator[str]:
        """Split a normalized text into words by several operations.

        The first operation splits the text into parts. The words of each part are cached.
        """
        known = self._known
        cut = self.cuts[0]
        if isinstance(cut, Split):
            parts: Iterable[str] = cut.texts(text)
            in_bytes = False
        else:
            pieces = list(cut.cut(TracedPiece.bare(text)))
            parts = [piece.text for piece in pieces]
            in_bytes = any(piece.is_in_bytes for piece in pieces)
        for part in parts:
            words = known.get(part)
            if words is None:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                piece = TracedPiece.bare(part)
                words = tuple(word.text for word in self._words((piece.in_bytes() if in_bytes else piece,), 1))
                if len(part) <= LONGEST_KNOWN:
                    known[part] = words
            yield from words

    def _words(self, pieces: Iterable[TracedPiece], done: int) -> Iterator[TracedPiece]:
        """Split pieces by all splitting operations, but leave out the first `done` operations."""
        for step in self.cuts[done:-1]:
            pieces = chain.from_iterable(map(step.cut, pieces))
        words = chain.from_iterable(map(self._split_last, pieces))
        if self._shows_bytes:
            return words
        return (as_bytes(word) if word.is_in_bytes else word for word in words)

    def _split_last(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        """Split a piece by the last operation.

        This operation may turn words into byte characters. If the byte characters would immediately be turned back into
        text, the words are yielded as ordinary text instead.
        """
        last = self.cuts[-1]
        if isinstance(last, ByteLevel) and not (piece.is_in_bytes or self._shows_bytes):
            return last.plain_words(piece)
        return last.cut(piece)


@lru_cache(maxsize=16)
def preparing(steps: tuple[Step, ...], *, shows_bytes: bool = False) -> WordSplitter:
    return WordSplitter(steps, shows_bytes=shows_bytes)


def as_bytes(word: TracedPiece) -> TracedPiece:
    """Return the ordinary text that a word of byte characters represents.

    Each character of the word represents a byte of UTF-8. A byte that is not part of a whole character is escaped.
    """
    known = byte_of_stand_in()
    text = bytes(known[stand_in] for stand_in in word.text).decode(errors="surrogateescape")
    if word.is_bare:
        return TracedPiece.bare(text)
    ends = accumulate((len(raw_bytes(character)) for character in text), initial=0)
    return TracedPiece(text, [word.sources[end] for end, _ in zip(ends, text, strict=False)], word.stop)
