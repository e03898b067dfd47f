"""The normalizer and the pre-tokenizer of Hugging Face's tokenizers.

This module writes them from a recipe, and reads them into a recipe.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats.base import about
from bpe_core.formats.json_reading import Object, list_in, number_of, object_in, objects_in, text_in
from bpe_core.formats.patterns import PROBE, oniguruma_expression_of, pattern_choices
from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.text import decoding
from bpe_core.text.decoding import Decoder, LlamaBytes, LlamaSpaces, LlamaWords, SentencePiece, SpaceDecoder, blank_sign
from bpe_core.text.preparation.expressions import Expression, may_match_nothing, translated
from bpe_core.text.preparation.normalizers import (
    BertNormalizer,
    BytesShown,
    Lowercase,
    Normalizer,
    Replace,
    UnicodeForm,
)
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece
from bpe_core.text.preparation.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizer,
    Split,
    WhitespaceSplit,
)
from bpe_core.text.preparation.steps import (
    Step,
    as_json,
    is_known,
    is_normalizer,
    is_pre_tokenizer,
    preparing,
    read_step,
)
from bpe_core.text.preparation.whole_texts import nearest

PUNCTUATION = r"[!-/:-@\[-`{-~]"
LINES = r"[^\n]*\n|[^\n]+"
BLANKS = r"\s+"
MOST_STEPS = 100


def normalizer_of(recipe: Recipe) -> Object | None:
    return _sequence([_written(step) for step in nearest(_changes_of(recipe))], "normalizers")


def _changes_of(recipe: Recipe) -> list[Step]:
    steps: list[Step] = [step for step in recipe.preparation if is_normalizer(step)]
    if recipe.clean_text and recipe.unicode_form:  # recipes that clean the text first
        steps.append(BertNormalizer(True, False, False, False))
    if recipe.unicode_form:
        steps.append(UnicodeForm(recipe.unicode_form))
    if recipe.clean_text or recipe.strip_accents or recipe.pattern == "bert":
        clean = recipe.clean_text and not recipe.unicode_form
        steps.append(BertNormalizer(clean, recipe.pattern == "bert", recipe.strip_accents, recipe.lowercase))
    elif recipe.lowercase:
        steps.append(Lowercase())
    if recipe.strip_ascii_punctuation:
        steps.append(Replace(PUNCTUATION, True, ""))
    if recipe.strip_marks:
        steps.append(Replace(_set_expression(recipe.strip_marks), True, ""))
    return steps


def _decoding_json(step: Decoder) -> Object:
    if isinstance(step, decoding.ByteLevel):
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return decoding.as_json(step) | ({"split": True} if isinstance(step, decoding.Metaspace) else {})


def _written(step: Step) -> Object:
    if isinstance(step, BytesShown):
        return {"type": "ByteLevel"}
    if isinstance(step, ByteLevel):
        said = {"add_prefix_space": step.add_prefix_space, "trim_offsets": True, "use_regex": step.use_regex}
        return {"type": "ByteLevel", **said}
    return as_json(step)


def _set_expression(marks: str) -> str:
    return "(?:" + "|".join(map(re.escape, marks)) + ")"


def pre_tokenizer_of(recipe: Recipe) -> Object | None:
    steps: list[Step] = [step for step in recipe.preparation if is_pre_tokenizer(step)]
    if recipe.unit == "line":
        steps.append(Split(LINES, True, "Isolated"))
    if recipe.pattern == "whitespace":
        steps.append(Split(BLANKS, True, "Removed"))
    elif recipe.pattern == "bert":
        steps.append(BertPreTokenizer())
    elif recipe.pattern != "none":
        steps.append(Split(oniguruma_expression_of(recipe), True, "Isolated"))
    if recipe.base == "bytes" and not any(isinstance(step, BytesShown | ByteLevel) for step in recipe.preparation):
        steps.append(ByteLevel(add_prefix_space=False, use_regex=False))
    if recipe.marker == "prefix":
        steps.append(Metaspace(recipe.marker_text, "always", split=False))
    return _sequence([_written(step) for step in steps], "pretokenizers")


def marks_in(expression: str) -> str:
    """Return the punctuation marks in an expression that `_set_expression` wrote.

    Return an empty string for any other expression.
    """
    if not (expression.startswith("(?:") and expression.endswith(")")):
        return ""
    marks = re.sub(r"\\(.)", r"\1", expression[3:-1], flags=re.DOTALL)[::2]
    return marks if _set_expression(marks) == expression else ""


def _sequence(steps: list[Object], key: str) -> Object | None:
    if len(steps) > 1:
        return {"type": "Sequence", key: steps}
    return steps[0] if steps else None


_OF_OTHERS = (SentencePiece, LlamaBytes, LlamaWords, LlamaSpaces)


def decoder_of(recipe: Recipe) -> Object | None:
    """Return the decoder of a recipe as an object for a tokenizer.json.

    Return None if the decoder only puts spaces between tokens. If a tokenizer.json cannot describe the decoder, return
    the most similar operations.
    """
    chosen: tuple[Decoder, ...] = recipe.decoding
    is_other = any(isinstance(step, _OF_OTHERS) for step in chosen)
    steps = recipe.usual_decoding if is_other or not chosen else chosen
    if steps == (SpaceDecoder(),):
        return None
    return _sequence([_decoding_json(step) for step in steps], "decoders")


class Entry(NamedTuple):
    """An added token of a file, with the id that the file gives it."""

    said: int  # the id in the file
    token: AddedToken


@dataclass
class TextPreparation:
    """The normalizer and the pre-tokenizer that were read from a file."""

    choices: dict[str, Any] = field(default_factory=lambda: {"pattern": "none"})  # choices of a recipe
    byte_level: bool = False
    prefix: str = ""  # the marker before each word
    # the character that represents a blank inside words, where it is an ordinary character otherwise
    blank_sign: str = ""
    cuts: bool = False  # the operations that split, where no pattern can say it
    changes: bool = False  # the operations before splitting
    sign: str = ""  # the character that represents blanks in words
    entries: list[Entry] = field(default_factory=list)  # the added tokens
    # what the tokens become that are searched for in the changed text
    changed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def may_make(self, token: str) -> bool:
        """Return whether the operations can change a text so that the token appears in its words."""
        in_bytes = self.byte_level and not token.isascii()
        return self.changes or in_bytes or (self.sign != "" and self.sign in token)


def read_steps(whole: Object, name: str, *, shows_bytes: bool = False) -> TextPreparation:
    """Read how a file normalizes and splits texts.

    If choices of a recipe describe the normalizer exactly, the result contains these choices. Otherwise it contains
    operations. The pre-tokenizer is read in the same way. If `shows_bytes` is true, the characters of the file's tokens
    represent bytes. Only operations can describe a pre-tokenizer that makes such characters.
    """
    preparation = TextPreparation()
    changes = _steps(whole, "normalizer", "normalizers", preparation, name)
    cuts = _steps(whole, "pre_tokenizer", "pretokenizers", preparation, name)
    preparation.changes = bool(changes)
    preparation.sign = next((step.replacement for step in cuts if isinstance(step, Metaspace)), "")
    preparation.entries = _entries(whole, name)
    tokens = [entry.token for entry in preparation.entries]
    preparation.changed = {token.content: _changed(token.content, changes) for token in tokens if token.normalized}
    preparation.notes += _steps_with_wrong_offsets(changes, cuts)
    if not shows_bytes and changes and isinstance(changes[-1], BytesShown):  # splitting begins with this operation
        changes.pop()
        cuts.insert(0, ByteLevel(add_prefix_space=False, use_regex=False))
        in_bytes = dict.fromkeys(token.content for token in tokens if _is_other_in_bytes(token))
        preparation.notes += about(in_bytes, _IN_BYTES)
    preparation.byte_level = any(isinstance(step, BytesShown | ByteLevel) for step in (*changes, *cuts))
    by_pattern = None if preparation.byte_level and shows_bytes else _pattern_of(cuts, preparation)
    by_choices = _choices_of(changes, by_pattern)
    if by_pattern and by_pattern["pattern"] == "bert" and (by_choices is None or any(map(_depends_on_spaces, tokens))):
        # BERT's pre-tokenizer sets Chinese characters apart itself, which fits BERT's normalizer only
        by_pattern = None
        by_choices = _choices_of(changes, by_pattern)
    preparation.choices |= by_pattern or {}
    preparation.choices |= by_choices or {}
    steps = (*(changes if by_choices is None else ()), *(cuts if by_pattern is None else ()))
    preparation.cuts = by_pattern is None
    if steps:
        preparation.choices["preparation"] = steps
    if not preparation.prefix:
        preparation.blank_sign = blank_sign(steps)
    preparation.choices["decoding"] = _decoding(whole, preparation, name)
    return preparation


_IN_BYTES = "added tokens are matched in the bytes by the file's library, but in the text by this program: {}"


_GONE = (
    "added tokens become empty in the normalized text, so the file's library finds them between all characters and "
    "ids can differ: {}"
)


_ALIKE = (
    "added tokens are equal to another added token after normalization. The file's library chooses one of them at "
    "random, so ids can differ: {}"
)


def about_changed_tokens(changed: Mapping[str, str]) -> list[str]:
    """Return sentences about added tokens that become empty, or equal to another added token, when they are normalized.

    `changed` maps each token that is searched for in the normalized text to its normalized text.
    """
    often = Counter(changed.values())
    return [
        *about([token for token, new in changed.items() if not new], _GONE),
        *about([token for token, new in changed.items() if new and often[new] > 1], _ALIKE),
    ]


def _steps_with_wrong_offsets(changes: list[Step], cuts: list[Step]) -> list[str]:
    """Return a warning for each operation that inserts text where its pattern matches an empty string.

    After such an operation, the later operations of the library `tokenizers` use wrong offsets, so its ids can differ.
    `changes` are the operations of the normalizer, and `cuts` are those of the pre-tokenizer.
    """
    by_places = any(isinstance(step, ByteLevel | Metaspace) for step in cuts)
    puts = [
        step.pattern[:80]
        for place, step in enumerate(changes, 1)
        if isinstance(step, Replace) and step.content and (by_places or place < len(changes))
        if any(start == stop for start, stop in Expression.of(step.pattern, step.is_regex).spans(PROBE))
    ]
    return [f"{_WHERE_NOTHING_WAS}: {pattern}" for pattern in puts]


_WHERE_NOTHING_WAS = (
    "After a replacement of an empty match, the file's library changes the wrong characters, so ids can differ"
)


def _changed(token: str, changes: list[Step]) -> str:
    return preparing(tuple(changes)).changed(TracedPiece.bare(token)).text


def _depends_on_spaces(token: AddedToken) -> bool:
    """Return whether a token can match different texts if spaces are put around Chinese characters.

    BERT's normalizer puts these spaces into the text before the search for the token.
    """
    if not token.normalized or token.single_word:
        return token.normalized
    return " " in _changed(token.content, [BertNormalizer(True, True, False, False)])


def _is_other_in_bytes(token: AddedToken) -> bool:
    beside = token.single_word or token.lstrip or token.rstrip
    return token.normalized and (beside or BytesShown().changed(TracedPiece.bare(token.content)).text != token.content)


def _decoding(whole: Object, preparation: TextPreparation, name: str) -> tuple[Decoder, ...]:
    steps: list[Decoder] = []
    for step in _flat(object_in(whole, "decoder", name), "decoders", name):
        if not decoding.is_decoder(step):
            kind = str(step.get("type"))[:40]
            preparation.notes.append(
                f"The file decodes by an operation that this program does not support, so texts can differ: {kind}."
            )
            continue
        try:
            steps.append(decoding.decoder_in(step))
        except RecipeError as error:
            raise FormatError(f"{name}: {error}") from error
    if not whole.get("decoder"):
        return (SpaceDecoder(),)
    return tuple(steps) or (decoding.Fuse(),)


def _entries(whole: Object, name: str) -> list[Entry]:
    """Return the added tokens in the order of the file. Entries without text are skipped."""
    entries = []
    for where, item in objects_in(whole, "added_tokens", name, "added token"):
        if not isinstance(item.get("content"), str):
            raise FormatError(f"{where}: the text of the token is missing.")
        content = text_in(item, "content", where)
        said = number_of(item.get("id"), f"{where}: its id")
        sides = {side: item.get(side) is True for side in ("single_word", "lstrip", "rstrip", "normalized")}
        if content:
            entries.append(Entry(said, AddedToken(content, **sides, special=item.get("special") is not False)))
    return entries


def _steps(whole: Object, key: str, several: str, preparation: TextPreparation, name: str) -> list[Step]:
    steps: list[Step] = []
    for step in _flat(object_in(whole, key, name), several, name):
        kind = text_in(step, "type", name)
        if key == "normalizer" and kind == ByteLevel.__name__:
            step = {"type": BytesShown.__name__}
        elif kind == "Precompiled" and not step.get("precompiled_charsmap"):
            continue
        if not is_known(step):
            does = "changes" if key == "normalizer" else "splits"
            sentence = f"The file {does} text by an operation that this program does not support, so ids can differ"
            preparation.notes.append(f"{sentence}: {kind[:40] or 'unnamed'}.")
            continue
        try:
            parsed = read_step(step)
        except RecipeError as error:
            raise FormatError(f"{name}: {error}") from error
        if not isinstance(parsed, Normalizer if key == "normalizer" else PreTokenizer):
            raise FormatError(f'{name}: "{key}" holds {kind[:40]}, which does not belong there.')
        if isinstance(parsed, Split | Replace) and parsed.is_regex:
            preparation.notes += [f"{said}: {parsed.pattern[:80]}" for said in _found_otherwise(parsed.pattern)]
        steps.append(parsed)
    return steps


def _found_otherwise(expression: str) -> Iterator[str]:
    if any(name in expression for name in _BY_OLDER_TABLE):
        yield _CLUSTERS
    if r"\R" in expression and ("(?<=" in expression or "(?<!" in expression):
        yield _LINE_BREAKS


_BY_OLDER_TABLE = (r"\X", "Pictographic", "ExtPict")
_CLUSTERS = "The file's library uses older tables of visible characters, so ids can differ where the pattern uses"
_LINE_BREAKS = (
    "In a lookbehind the file's library matches line breaks (\\R) differently, so ids can differ where the pattern uses"
)


def _flat(step: Object, key: str, name: str) -> Iterator[Object]:
    waiting = [step] if step else []
    taken = 0
    while waiting:
        first = waiting.pop(0)
        taken += 1
        if not isinstance(first, dict) or taken > MOST_STEPS:
            raise FormatError(f'{name}: "{key}" must be a list of at most {MOST_STEPS} objects.')
        if first.get("type") == "Sequence":
            waiting = list_in(first, key, name) + waiting
        else:
            yield first


# --- What choices say -------------------------------------------------------------------


def _choices_of(steps: list[Step], by_pattern: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the recipe choices that change texts exactly as the given operations do.

    Return None if no choices do this.
    """
    said: dict[str, Any] = {}
    chinese = False
    for step in steps:
        if isinstance(step, UnicodeForm) and step.form in ("NFC", "NFKC"):
            said["unicode_form"] = step.form
        elif isinstance(step, Lowercase):
            said |= {"lowercase": True, "final_sigma": False}
        elif isinstance(step, BertNormalizer):
            chinese |= step.handle_chinese_chars
            accents = step.lowercase if step.strip_accents is None else step.strip_accents
            said |= {"clean_text": True} if step.clean_text else {}
            said |= {"strip_accents": True} if accents else {}
            said |= {"lowercase": True, "final_sigma": False} if step.lowercase else {}
        elif isinstance(step, Replace) and step.is_regex and not step.content and step.pattern == PUNCTUATION:
            said["strip_ascii_punctuation"] = True
        elif isinstance(step, Replace) and step.is_regex and not step.content and marks_in(step.pattern):
            said["strip_marks"] = marks_in(step.pattern)
        else:
            return None
    pattern = (by_pattern or {}).get("pattern", "none")
    if chinese != (pattern == "bert"):
        return None
    if not steps:
        return said
    # Choices are applied in one fixed order: writing them as operations must give the operations that were read.
    try:
        recipe = Recipe(**said, pattern="bert" if chinese else "none")
    except RecipeError:
        return None
    return said if _simplified(steps) == _simplified(_changes_of(recipe)) else None


def _simplified(steps: list[Step]) -> list[Step]:
    """Return the operations, with a simpler form of BERT's normalizer.

    If this normalizer changes nothing, it is left out. If it only changes letters to lower case, it is replaced
    by `Lowercase`.
    """
    expanded: list[Step] = []
    for step in steps:
        if isinstance(step, BertNormalizer):
            accents = step.lowercase if step.strip_accents is None else step.strip_accents
            step = BertNormalizer(step.clean_text, step.handle_chinese_chars, accents, step.lowercase)
            if step == BertNormalizer(False, False, False, True):
                step = Lowercase()
            elif step == BertNormalizer(False, False, False, False):
                continue
        expanded.append(step)
    return expanded


def _pattern_of(steps: list[Step], preparation: TextPreparation) -> dict[str, Any] | None:
    said: dict[str, Any] = {}
    waiting = list(steps)
    if waiting and waiting[-1] == ByteLevel(add_prefix_space=False, use_regex=False):
        waiting.pop()
        if any(isinstance(step, ByteLevel) for step in waiting):  # words of bytes that represent bytes
            return None
    if waiting and waiting[0] == Split(LINES, True, "Isolated"):
        said["unit"] = "line"
        waiting.pop(0)
    if len(waiting) == 2 and waiting[0] == Split(BLANKS, True, "Removed"):
        last = waiting[1]
        if isinstance(last, Metaspace) and last.prepend_scheme == "always" and not last.split:
            preparation.prefix = last.replacement
            preparation.notes.append(marker_in_texts(last.replacement))
            return {**said, "pattern": "whitespace"}
    if len(waiting) > 1:
        return None
    own = _pattern_of_step(waiting[0]) if waiting else {}
    if own and own["pattern"] not in ("whitespace", "bert"):
        own["older_unicode"] = True
    return None if own is None else {"pattern": "none", **said, **own}


def marker_in_texts(marker: str) -> str:
    return f"The file's library marks words with {marker}, so it may split texts that hold this character differently."


def _pattern_of_step(step: Step) -> dict[str, Any] | None:
    if isinstance(step, WhitespaceSplit) or step == Split(BLANKS, True, "Removed"):
        return {"pattern": "whitespace"}
    if isinstance(step, BertPreTokenizer):
        return {"pattern": "bert"}
    if step == ByteLevel(add_prefix_space=False, use_regex=True):
        return {"pattern": "gpt2"}
    if isinstance(step, Split) and step.is_regex and (step.behavior, step.invert) in _KEEPING:
        choices, _ = pattern_choices(step.pattern)
        if choices["pattern"] == CUSTOM_PATTERN:
            return choices if step.behavior == "Isolated" and _means_the_same(step.pattern) else None
        return choices if choices["pattern"] not in ("none", "whitespace", "bert") else None
    return None


# Operations with patterns that match every text
_KEEPING = (("Isolated", False), ("Isolated", True), ("Removed", True))


def _means_the_same(expression: str) -> bool:
    if translated(expression) != f"(?m){expression}" or "$" in expression or "^" in expression.replace("[^", ""):
        return False
    return not may_match_nothing(expression)
