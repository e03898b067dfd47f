"""Hugging Face's tokenizer.json: one object with everything from normalizer to special tokens."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import bert_vocabulary, byte_level, json_reading, limitations, unigram_vocabulary
from bpe_core.formats.base import NO_NUMBER, Beside, Format, Opened, Peer, complete_numbers, recipe_from
from bpe_core.formats.byte_level import stand_ins, vocabulary_by_number, written_tokens
from bpe_core.formats.hugging_face_text import (
    TextPreparation,
    about_changed,
    decoder_of,
    normalizer_of,
    pre_tokenizer_of,
    read_steps,
)
from bpe_core.formats.json_reading import Object
from bpe_core.formats.limitations import about, listed, same_text
from bpe_core.formats.patterns import likely_pattern, sampled
from bpe_core.formats.sentencepiece_fields import Kind, ScoredPiece
from bpe_core.formats.vocabulary_model import Style, build, joined_in_order, unknown_bytes
from bpe_core.formats.written_merges import WrittenMerges, halves
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.recipes.parts import LARGEST_VOCABULARY, UNKNOWN_TOKEN
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import ids_looked_for
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.text.decoding import usual_decoding
from bpe_core.text.normalization import normalize
from bpe_core.text.preparation.normalizers import BytesShown, Precompiled
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece
from bpe_core.text.preparation.pre_tokenizers import ByteLevel
from bpe_core.text.preparation.steps import preparing, those_of
from bpe_core.text.preparation.whole_texts import nearest
from bpe_core.text.specials import parts_of
from bpe_core.text.splitting import Splitter


class JsonModel(ABC):
    """One kind of "model" in a tokenizer.json: what a method writes there and reads."""

    kind: ClassVar[str]  # as the file calls it
    shows_bytes: ClassVar[bool] = True  # whether its tokens are made of the characters that represent bytes

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.marker == "prefix" and (len(recipe.marker_text) > 1 or recipe.pattern != "whitespace"):
            return [
                "tokenizer.json puts a marker before words only if it is one character and spaces part the words; "
                f"here it is {recipe.marker_text!r}, and the pattern is {recipe.pattern}."
            ]
        return []

    def spelled(self, history: History) -> tuple[str, ...]:
        return ()

    def does_otherwise(self, history: History) -> list[str]:
        return []

    def made_by_changes(self, history: History) -> list[str]:
        """Return the tokens that a text becomes where it spells them once it is changed, and here does not."""
        return []

    def is_beyond(self, history: History, text: str) -> bool:
        recipe = history.recipe
        tokens = (*self.spelled(history), *self.made_by_changes(history)) if recipe.normalizes else ()
        parts = parts_of(text, recipe.special_tokens) if tokens else ()
        changed = [normalize(part, recipe) for part, is_special in parts if not is_special]
        return any(token in part for token in tokens for part in changed)

    @abstractmethod
    def numbers(self, history: History) -> Int64s:
        """Return the number of each of our ids."""

    @abstractmethod
    def written(self, history: History) -> Object:
        """Return what the file holds."""

    @abstractmethod
    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        """Read a model, with what was understood of how the file changes and splits a text."""


class Added(NamedTuple):
    number: int  # as the file's library gives it
    said: int  # by the file
    can_be_piece: bool  # so that words can hold it, too: it is found between words only, or texts are changed
    is_lost: bool = False  # a later one has its number, so that the file's library finds that only


def added_in(
    whole: Object, vocabulary: dict[str, int], name: str, steps: TextPreparation, size: int | None = None
) -> dict[str, Added]:
    """Return the added tokens of a file.

    Its library keeps the numbers of the vocabulary and counts on from the vocabulary's size, whatever the file says. It
    passes over a token without text; of one that is there twice the number counts once, and how it is found last.
    """
    found: dict[str, Added] = {}
    behind = len(vocabulary) if size is None else size
    for where, item in json_reading.objects_in(whole, "added_tokens", name, "added token"):
        if not isinstance(item.get("content"), str):
            raise FormatError(f"{where}: its text is missing.")
        content = json_reading.text_in(item, "content", where)
        said = json_reading.number_of(item.get("id"), f"{where}: its id")
        if content:
            number = found[content].number if content in found else vocabulary.get(content, behind)
            behind += content not in found and content not in vocabulary
            can_be_piece = content in vocabulary and (steps.may_write(content) or item.get("single_word") is True)
            found[content] = Added(number, said, can_be_piece)
    last = {token.number: content for content, token in found.items()}
    return {content: token._replace(is_lost=last[token.number] != content) for content, token in found.items()}


def specials_of(added: Mapping[str, Added], unknown: str) -> dict[str, int]:
    """Return the added tokens with their numbers, without the one for what is unknown."""
    return {text: token.number for text, token in added.items() if text != unknown and not token.is_lost}


def with_unknown(vocabulary: dict[str, int], added: Mapping[str, Added], unknown: str) -> dict[str, int]:
    """Return the vocabulary with the number of what is unknown, which can be an added token only."""
    return vocabulary | {unknown: added[unknown].number} if unknown in added else vocabulary


def about_unknown(vocabulary: dict[str, int], added: Mapping[str, Added], unknown: str) -> list[str]:
    if not unknown or unknown in vocabulary:
        return []
    told = "that added token" if unknown in added else "a token without a number"
    return [
        f"The vocabulary lacks {unknown!r}, which stands for what is unknown: the file's library refuses a text that "
        f"has some, and here it is {told}."
    ]


def about_added(added: Mapping[str, Added], vocabulary: dict[str, int]) -> list[str]:
    """Report added tokens that are numbered in another way than the file says."""
    others = [text for text, token in added.items() if token.number != token.said]
    numbers = set(vocabulary.values()) if added else set()
    shared = [text for text, token in added.items() if text not in vocabulary and token.number in numbers]
    lost = [text for text, token in added.items() if token.is_lost]
    return [
        *about(lost, "added tokens are found in no text, as a later one has their number in the file's library: {}"),
        *about(others, "added tokens are numbered as the file's library does it, and not as the file says: {}"),
        *about(shared, "added tokens share their number with another token of the vocabulary, as in its library: {}"),
    ]


def recipe_of(name: str, whole: Object, specials: dict[str, int], unknown: str, choices: dict[str, Any]) -> Recipe:
    """Return the recipe of a file's choices; what represents the unknown may be looked for in texts, too."""
    steps = those_of(choices.pop("preparation", ()), (*specials, unknown))
    added = {item["content"] for item in json_reading.list_in(whole, "added_tokens", name)}
    if unknown and unknown in added.difference(step.content for step in steps if isinstance(step, AddedToken)):
        steps = (AddedToken(unknown), *steps)
    recipe = recipe_from(name, name="tokenizer.json", special_tokens=tuple(specials), preparation=steps, **choices)
    return recipe.with_changes(decoding=()) if recipe.decoding == usual_decoding(recipe) else recipe


class JsonBpe(JsonModel):
    kind = "BPE"
    shows_bytes = False

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        marker = repr(recipe.marker_text)
        if recipe.marker == "symbol":
            return [f"tokenizer.json can glue {marker} to the end of a word, but not have it as a symbol of its own."]
        if recipe.marker == "prefix" and recipe.base == "bytes":
            return [f"tokenizer.json has no place for the word marker {marker} on bytes."]
        return super().impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        recipe, joining = history.recipe, history.joining
        found = []
        if joining is not None and joining.found_first:
            texts = listed([history.alphabet.symbols[id].text for id in joining.found_first])
            found.append(f"This format's model cannot look for tokens before it joins any, such as {texts}.")
        if joining is not None and joining.pairs is None:
            found.append(
                "This table joins whatever makes a token; the file lists all such pairs, of which equals have an order."
            )
        if self._joins_unknown(history):
            found.append(
                f"A character that is unknown becomes {recipe.unknown_text!r} here before pairs are joined, and is "
                "joined with its neighbours then."
            )
        if recipe.marker == "continuation":
            found.append(
                f"The {recipe.marker_text} before tokens inside a word is only shown here; the file leaves it out."
            )
        if recipe.marker == "glued" and recipe.unknown == "bytes":
            found.append(
                "An unknown character at the end of a word becomes bytes together with its marker in this format."
            )
        return found

    def _joins_unknown(self, history: History) -> bool:
        """Whether pairs are joined with a token that is written like the unknown one."""
        if history.recipe.base != "characters" or history.alphabet.unknown_id is None:
            return False
        texts = written_tokens(history)
        joined = np.unique(joined_in_order(history)).tolist()
        return any(texts[id] == texts[history.alphabet.unknown_id] for id in joined)

    def numbers(self, history: History) -> Int64s:
        return complete_numbers(history, history.alphabet.unknown_id)  # which a file can name without having it

    def written(self, history: History) -> Object:
        recipe, joining = history.recipe, history.joining
        texts = written_tokens(history)
        unknown = history.alphabet.unknown_id
        drops = joining is not None and unknown in joining.left_out
        unknown_text = texts[unknown] if unknown is not None and not drops else None
        numbers, lacking = self.numbers(history), unknown_bytes(history)
        numbers[lacking] = NO_NUMBER
        return {
            "type": self.kind,
            "dropout": None,
            "unk_token": recipe.unknown_text if lacking else unknown_text,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": recipe.marker_text if recipe.marker == "glued" else None,
            "fuse_unk": joining is not None and joining.joins_unknown,
            "byte_fallback": recipe.base == "characters" and recipe.unknown == "bytes",
            "ignore_merges": joining is not None and joining.whole_words,
            "vocab": vocabulary_by_number(history, numbers, texts),
            "merges": [[texts[left], texts[right]] for left, right in joined_in_order(history).tolist()],
        }

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        if not isinstance(model.get("merges"), list):
            raise FormatError(f'{name}: "merges" is missing or no list; a BPE model cannot be used without it.')
        if json_reading.text_in(model, "continuing_subword_prefix", name):
            raise FormatError(
                f"{name} tells tokens inside a word from those that begin one "
                f"({model['continuing_subword_prefix']!r}); this program does not read such BPE models."
            )
        vocabulary, shared = _vocabulary(model, name)
        merges = _merges(model, name)
        added = added_in(whole, vocabulary, name, steps)
        style = _style(model, steps, vocabulary, added, name)
        stands_alone = style.byte_level or style.byte_fallback  # then nothing in a text is unknown
        unknown = "" if stands_alone else style.unknown
        specials = specials_of(added, unknown)
        pieces = {text for text, token in added.items() if token.can_be_piece} if style.whole_words else ()
        numbers = with_unknown(vocabulary, added, unknown)
        built = build(numbers, merges, specials, style, name + ", merge {}", pieces)
        if style.byte_level and not (steps.byte_level or steps.cuts):
            steps.choices["pattern"] = likely_pattern(
                [byte_level.read(text) or b"" for text in sampled(list(vocabulary))]
            )
        choices = _choices(steps, style, len(built.pairs))
        recipe = recipe_of(name, whole, specials, unknown, choices)
        history = History.from_pairs(recipe, built.alphabet, built.pairs, built.joining)
        notes = steps.notes + built.notes + about_added(added, vocabulary) + shared
        notes += about_unknown(vocabulary, added, unknown) if unknown in added else []
        if model.get("dropout"):
            notes.append("The file leaves out merges at random (dropout); here every merge is applied.")
        if (style.unknown_bytes or not stands_alone) and style.unknown in {*merges.left, *merges.right}:
            notes.append(
                f"The file's library joins {style.unknown!r} with its neighbours also where it means what is unknown; "
                "here that stays alone, so ids can differ."
            )
        if style.marker == "glued" and style.byte_fallback:
            notes.append(
                "An unknown character at the end of a word becomes bytes together with its marker in the file's "
                "library; here without it, so ids can differ."
            )
        if style.drops_unknown:
            notes.append("The file leaves out characters that it does not know; so it is done here.")
        return history.numbered(built.numbers), notes


def _vocabulary(model: Object, name: str) -> tuple[dict[str, int], list[str]]:
    sharing: list[str] = []
    found = json_reading.vocabulary_of(json_reading.object_in(model, "vocab", name), name, sharing)
    return found, about(
        sharing, "tokens have the number of another one, which the file's library can take for them: {}"
    )


def _merges(model: Object, name: str) -> WrittenMerges:
    items = json_reading.list_in(model, "merges", name)
    columns = _columns_at_once(items) or _columns(items, name)
    return WrittenMerges(*columns, range(1, len(items) + 1))


def _columns_at_once(items: list[Any]) -> tuple[list[str], list[str]] | None:
    """Return the left and the right tokens where all is sound; None where each merge must be looked at by itself."""
    if set(map(type, items)) == {str}:
        return halves(items) if json_reading.are_whole(items) else None
    lefts, rights = json_reading.columns_of(items) or ([], [])
    both = [*lefts, *rights]
    return (lefts, rights) if both and json_reading.are_whole(both) and all(both) else None


def _columns(items: list[Any], name: str) -> tuple[list[str], list[str]]:
    lefts, rights = [], []
    for place, item in enumerate(items, start=1):
        parts = item.split(" ") if isinstance(item, str) else item
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise FormatError(f"{name}, merge {place:,}: there must be two tokens, not {str(item)[:80]!r}.")
        left, right = parts
        if not (left.isascii() and right.isascii()):
            json_reading.whole_text(left + right, f"{name}, merge {place:,}: its tokens")
        lefts.append(left)
        rights.append(right)
    return lefts, rights


def _style(
    model: Object, steps: TextPreparation, vocabulary: dict[str, int], specials: Collection[str], name: str
) -> Style:
    suffix = json_reading.text_in(model, "end_of_word_suffix", name)
    unknown = json_reading.text_in(model, "unk_token", name)
    fallback = model.get("byte_fallback") is True and set(BYTE_TEXTS).issubset(vocabulary)
    is_cut = steps.cuts or steps.choices["pattern"] != "none"  # then the file does say how texts become words
    looks_so = not (is_cut or suffix or fallback) and all(stand_in in vocabulary for stand_in in "ĠĊĀ")
    byte_level = steps.byte_level or looks_so
    if byte_level and not steps.byte_level:
        steps.notes.append("Its tokens look like bytes, although no step of the file says so; here they are bytes.")
    ends = (sign + suffix for sign in stand_ins())
    lacks = byte_level and not vocabulary.keys() >= {*stand_ins(), *ends}
    unknown_bytes = lacks and unknown in specials and not (fallback or suffix or model.get("fuse_unk") is True)
    if (lacks and (fallback or unknown) and not unknown_bytes) or lacks_bytes(model, vocabulary):
        steps.notes.append(LACKS_BYTES)
    return Style(
        byte_level=byte_level,
        marker="glued" if suffix else "prefix" if steps.prefix else "none",
        marker_text=suffix or steps.prefix,
        unknown=unknown,
        byte_fallback=fallback,
        blank=steps.blank_sign if not byte_level else "",
        whole_words=model.get("ignore_merges") is True,
        joins_unknown=model.get("fuse_unk") is True and bool(unknown) and not (fallback or byte_level),
        drops_unknown=not (unknown or fallback or byte_level),
        unknown_bytes=unknown_bytes,
    )


LACKS_BYTES = "The file has no token for some of the bytes that it turns texts into, so ids can differ."


def lacks_bytes(model: Object, vocabulary: Collection[str]) -> bool:
    """Whether only some of the tokens are there that bytes become where nothing else represents them."""
    return model.get("byte_fallback") is True and 0 < len(set(BYTE_TEXTS).intersection(vocabulary)) < len(BYTE_TEXTS)


def _choices(steps: TextPreparation, style: Style, merges: int) -> dict[str, Any]:
    choices: dict[str, Any] = {**steps.choices, "merges": merges}
    choices |= {"marker": style.marker, "marker_text": style.marker_text}
    if style.byte_level:
        choices |= {"base": "bytes"} | ({"unknown_text": style.unknown} if style.unknown_bytes else {})
    else:
        choices |= {"base": "characters", "unknown": "bytes" if style.byte_fallback else "unk"}
        choices |= {"unknown_text": style.unknown} if style.unknown and not style.byte_fallback else {}
    if style.marker != "none" and choices["pattern"] == "none" and not steps.cuts:
        choices["pattern"] = "whitespace"
        steps.notes.append("The file marks words but does not split text; here spaces part the words.")
    return choices


LONGEST_WORD = 100  # where the file does not say


def _words_among(tokens: Iterable[str], recipe: Recipe) -> dict[str, str]:
    """Return the tokens that a word can begin with, and each without what marks that a word goes on."""
    words_of = Splitter(recipe.with_changes(special_tokens=())).words
    in_bytes = any(isinstance(step, ByteLevel | BytesShown) for step in recipe.preparation)  # which are split before
    found = {token: token.removeprefix(recipe.marker_text) for token in tokens}

    def can_begin(piece: str) -> bool:  # what follows can keep it together
        return any(piece in word for text in (piece, piece + "a") for word in words_of(text))

    return {token: piece for token, piece in found.items() if in_bytes or can_begin(piece)}


class JsonWordPiece(JsonModel):
    kind = "WordPiece"

    def impossible(self, history: History) -> list[str]:
        if history.recipe.lists_bytes:
            return ["tokenizer.json holds WordPiece of characters; the tokens of this table are bytes: choose rwkv."]
        return super().impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        return [f"A text that spells {text} becomes that token in this format." for text in self.spelled(history)]

    def spelled(self, history: History) -> tuple[str, ...]:
        recipe = history.recipe
        unknown = () if recipe.unknown_text in ids_looked_for(history) else (recipe.unknown_text,)
        alone = {step.content for step in recipe.preparation if isinstance(step, AddedToken) and step.single_word}
        return tuple(self._spelled_among((*unknown, *alone), history))

    def made_by_changes(self, history: History) -> list[str]:
        return self._spelled_among(history.recipe.special_tokens, history) if history.recipe.normalizes else []

    def _spelled_among(self, tokens: Iterable[str], history: History) -> list[str]:
        """Return those of the vocabulary that words can hold though here they are no pieces, as a text has them."""
        recipe = history.recipe
        words = {token: word for token, word in _words_among(tokens, recipe).items() if normalize(word, recipe) == word}
        pieces = {symbol.text.decode() for symbol in history.alphabet.symbols if symbol.kind != "unknown"}
        return [words[token] for token in words if token not in pieces and token in self.vocabulary(history)]

    def numbers(self, history: History) -> Int64s:
        return bert_vocabulary.numbers_for(history)

    def written(self, history: History) -> Object:
        recipe = history.recipe
        return {
            "type": self.kind,
            "unk_token": recipe.unknown_text,
            "continuing_subword_prefix": recipe.marker_text,
            "max_input_chars_per_word": recipe.longest_word,
            "vocab": self.vocabulary(history),
        }

    def vocabulary(self, history: History) -> dict[str, int]:
        found = bert_vocabulary.vocabulary_of(history)
        alone = set(history.recipe.special_tokens).difference(text.decode() for text in written(history))
        specials = {token: found.pop(token) for token in alone & found.keys()}
        return byte_level.with_specials(found, specials)

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        vocabulary, shared = _vocabulary(model, name)
        unknown = json_reading.text_in(model, "unk_token", name)
        marker = self.continuing(model, vocabulary, name)
        if not unknown:
            raise FormatError(f'{name}: "unk_token" is missing or empty; WordPiece models have one, such as [UNK].')
        if "" in vocabulary:
            raise FormatError(f"{name}: the token with the number {vocabulary['']:,} is empty.")
        added = added_in(whole, vocabulary, name, steps)
        specials = specials_of(added, unknown)
        if steps.prefix:
            steps.notes.append(f"The file puts {steps.prefix} before words; here words have none.")
        choices: dict[str, Any] = {
            **steps.choices,
            "method": "wordpiece",
            "base": "characters",
            "marker": "continuation" if marker else "none",
            "marker_text": marker,
            "unknown_text": unknown,
            "longest_word": self.longest_word(model, name),
            "merges": 0,
        }
        recipe = recipe_of(name, whole, specials, unknown, choices)
        can_be = {text for text, token in added.items() if token.can_be_piece}
        can_be |= {unknown} if unknown in vocabulary and unknown not in added else set()
        if marker:  # else each token can continue a word
            can_be = {text for text in (*added, unknown) if text.startswith(marker)}.union(_words_among(can_be, recipe))
        numbers = with_unknown(vocabulary, added, unknown) | specials
        history = bert_vocabulary.history_of(numbers, recipe, name, can_be & vocabulary.keys())
        notes = steps.notes + about_added(added, vocabulary) + shared
        return history, about_unknown(vocabulary, added, unknown) + notes

    def continuing(self, model: Object, vocabulary: dict[str, int], name: str) -> str:
        return json_reading.text_in(model, "continuing_subword_prefix", name)

    def longest_word(self, model: Object, name: str) -> int:
        value = model.get("max_input_chars_per_word", LONGEST_WORD)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= json_reading.LARGEST_NUMBER:
            raise FormatError(
                f'{name}: "max_input_chars_per_word" must be a whole number from 1, not {str(value)[:40]}.'
            )
        return value


class JsonWordLevel(JsonWordPiece):
    """Whole words: WordPiece of which no token continues a word."""

    kind = "WordLevel"

    def continuing(self, model: Object, vocabulary: dict[str, int], name: str) -> str:
        marker = "##"
        while any(token.startswith(marker) for token in vocabulary):
            marker += "#"
        return marker

    def longest_word(self, model: Object, name: str) -> int:
        return json_reading.LARGEST_NUMBER


class JsonUnigram(JsonModel):
    kind = "Unigram"

    def does_otherwise(self, history: History) -> list[str]:
        also = ", or a byte such as <0x41>," if history.recipe.unknown == "bytes" else ""
        return [
            f"A text that spells {text}{also} becomes that token in this format." for text in self.spelled(history)[:1]
        ]

    def made_by_changes(self, history: History) -> list[str]:
        if not history.recipe.normalizes:
            return []
        twins, pieces = unigram_vocabulary.twins_in(history), self._pieces(history)
        return [piece.text for piece in pieces if piece.kind == Kind.CONTROL and piece.text not in twins]

    def spelled(self, history: History) -> tuple[str, ...]:
        if history.recipe.unknown == "bytes":
            return UNKNOWN_TOKEN, *BYTE_TEXTS
        return (history.recipe.unknown_text,) if history.unknown_twin is None else ()

    def numbers(self, history: History) -> Int64s:
        return unigram_vocabulary.numbers_for(history)

    def written(self, history: History) -> Object:
        pieces, twins = self._pieces(history), unigram_vocabulary.twins_in(history)
        return {
            "type": self.kind,
            "unk_id": next(number for number, piece in enumerate(pieces) if piece.kind == Kind.UNKNOWN),
            "vocab": [
                [piece.text, json_reading.spelled_for_serde(twins.get(piece.text, piece.score))] for piece in pieces
            ],
            "byte_fallback": history.recipe.unknown == "bytes",
        }

    def _pieces(self, history: History) -> list[ScoredPiece]:
        pieces, twins = unigram_vocabulary.pieces_of(history), unigram_vocabulary.twins_in(history)
        while pieces[-1].kind == Kind.CONTROL and pieces[-1].text not in twins:  # the model makes none of them
            pieces.pop()
        return pieces

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        scores, texts = _scores(model, name)
        least = min(scores.values(), default=0.0)
        unknown = _unknown(model, len(texts), name)
        vocabulary = {
            text: number for number, text in enumerate(texts)
        }  # of a text that is there twice the last counts
        falls_back = model.get("byte_fallback") is True and set(BYTE_TEXTS).issubset(vocabulary)
        nothing_is = steps.byte_level and vocabulary.keys() >= set(stand_ins())
        if unknown is None and not (falls_back or nothing_is):
            raise FormatError(f'{name}: "unk_id" does not say which token means what is unknown, such as <unk>.')
        unknown_text = _free_name(vocabulary) * nothing_is if unknown is None else texts[unknown]
        if unknown is not None and vocabulary[unknown_text] != unknown:
            unknown_text = _free_name(vocabulary)
        looked_for = "" if falls_back or unknown is None else unknown_text
        added = added_in(whole, vocabulary, name, steps, len(texts))
        specials = specials_of(added, looked_for)
        others = {unknown_text, *specials, *(BYTE_TEXTS if falls_back else ())}
        plain = {**scores}
        for text in others & scores.keys():
            del plain[text]
        choices: dict[str, Any] = {
            **steps.choices,
            "method": unigram_vocabulary.method_of(plain),
            "base": "characters",
            "marker": "prefix" if steps.prefix else "none",
            "marker_text": steps.prefix,
            "unknown": "bytes" if falls_back else "unk",
            "sums": "" if steps.prefix else "64 bits",
            "merges": 0,
        }
        choices |= {} if falls_back else {"unknown_text": unknown_text}
        recipe = recipe_of(name, whole, specials, looked_for, choices)
        number = NO_NUMBER if unknown is None else unknown
        numbers = vocabulary | specials | ({} if unknown is None else {unknown_text: unknown})
        sign = steps.blank_sign
        if not steps.prefix:  # a text can spell them as well, if only when it was changed
            twins = (*specials, *(() if falls_back else (unknown_text,)))
            plain |= {text: scores[text] for text in twins if text in scores}
        history, notes = unigram_vocabulary.history_of(
            plain, numbers, number, recipe, name, sign, least, by_bytes=steps.byte_level
        )
        notes += about_added(added, vocabulary)
        twice = [text for number, text in enumerate(texts) if vocabulary[text] != number]
        notes += about(twice, "pieces are there twice, and have the number and the score of their last place: {}")
        if unknown is not None and unknown_text not in vocabulary:
            notes.append(f"Decoded texts show what is unknown as {unknown_text}, in its library as {texts[unknown]}.")
        notes += [LACKS_BYTES] if lacks_bytes(model, vocabulary) else []
        spelled = _spelled(history, unknown_text if unknown_text in vocabulary else "")
        return history, [*spelled, *steps.notes, *notes]


def _free_name(vocabulary: dict[str, int]) -> str:
    """Return what represents the unknown where nothing is unknown, so that the file has no token for it."""
    name = UNKNOWN_TOKEN
    while name in vocabulary:
        name = f"<{name}>"
    return name


def _spelled(history: History, unknown: str) -> Iterator[str]:
    """Report what the file takes for a token wherever it is spelled, though no text is searched for it."""
    if unknown not in (*ids_looked_for(history), "") and history.unknown_twin is None:
        yield f"A text that spells {unknown!r} becomes the unknown token in this file; here it stays as it is."
    if history.recipe.unknown == "bytes":
        yield "A text that spells a byte as the file does, <0x41>, becomes that byte there; here it stays as it is."


def _scores(model: Object, name: str) -> tuple[dict[str, float], list[str]]:
    """Return the score of each piece, and the pieces by number."""
    items = json_reading.list_in(model, "vocab", name)
    if len(items) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
    return _scores_at_once(items) or _scores_one_by_one(items, name)


def _scores_at_once(items: list[Any]) -> tuple[dict[str, float], list[str]] | None:
    """Return the same where all is sound; None where each piece must be looked at by itself."""
    texts, values = json_reading.columns_of(items) or ([], [])
    if not (json_reading.are_whole(texts) and all(texts) and set(map(type, values)) <= {int, float}):
        return None
    if not texts or not all(map(unigram_vocabulary.LARGEST_SCORE.__gt__, map(abs, values))):
        return None
    return dict(zip(texts, map(float, values), strict=True)), texts


def _scores_one_by_one(items: list[Any], name: str) -> tuple[dict[str, float], list[str]]:
    found: dict[str, float] = {}
    texts: list[str] = []
    for number, item in enumerate(items):
        where = f"{name}, piece {number:,}"
        if not isinstance(item, list) or len(item) != 2:
            raise FormatError(f"{where}: there must be a text and its log-probability, not {str(item)[:80]!r}.")
        text = json_reading.whole_text(item[0], f"{where}: its text")
        if not text:
            raise FormatError(f"{where}: its text is empty.")
        found[text] = unigram_vocabulary.checked_score(item[1], where)
        texts.append(text)
    return found, texts


def _unknown(model: Object, size: int, name: str) -> int | None:
    value = model.get("unk_id")
    if value is None:
        return None
    number = json_reading.number_of(value, f'{name}: "unk_id"')
    if number >= size:
        raise FormatError(f'{name}: "unk_id" is {number:,}, but the pieces go from 0 to {size - 1:,}.')
    return number


_MODEL = re.compile(rb'"model"\s*:\s*[^\s\d]')
MODELS: dict[str, JsonModel] = {  # by method
    "bpe": JsonBpe(),
    "superbpe": JsonBpe(),
    "parity": JsonBpe(),
    "wordpiece": JsonWordPiece(),
    "unigram": JsonUnigram(),
    "best": JsonUnigram(),
    "mingram": JsonUnigram(),  # whose scores put the fewest tokens first
}


class TokenizerJson(Format):
    name = "tokenizer.json"
    methods = tuple(MODELS)
    holds = "joined pairs and the tokens of WordPiece and Unigram only"
    sums = "64 bits"
    peer_name = "tokenizers"

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return _model_of(history).impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        model = _model_of(history)
        found = same_text(history) + model.does_otherwise(history) + limitations.about_longest(recipe)
        found += [
            f"A text that spells {text} once it is changed becomes that token in this format."
            for text in model.made_by_changes(history)[: limitations.LISTED]
        ]
        id_of, numbers = {text: id for id, text in enumerate(written_tokens(history))}, model.numbers(history)
        specials = enumerate(recipe.special_tokens, history.first_special)
        alike = [token for id, token in specials if numbers[id_of.get(token, id)] not in (numbers[id], NO_NUMBER)]
        found += about(alike, "special tokens are written like another token, and a text has one number here: {}")
        later = [step.content for step in recipe.preparation if isinstance(step, AddedToken) and step.normalized]
        as_text = recipe.with_changes(special_tokens=()) if later else recipe
        found += about_changed({token: normalize(token, as_text) for token in later})
        if recipe.lowercase and recipe.final_sigma:
            found.append(
                "A capital Σ at the end of a word becomes ς here, but σ by this format's lower-casing; the check "
                "leaves it out."
            )
        if recipe.marker == "prefix":
            found.append(
                f"A word that begins with {recipe.marker_text} itself gets no second one in this format; the check "
                "leaves it out."
            )
        found += limitations.about_sums(recipe, self.sums)
        if _longest_steps(recipe):
            found.append(
                "This format applies a table of characters to what reads as one character, not to the longest match; "
                "lines that become something else by that are left out of the check."
            )
        if recipe.pattern == "custom":
            found.append(
                "Your own pattern is written as it is; the other library's expressions may mean something else."
            )
        return found

    def spelled(self, history: History) -> tuple[str, ...]:
        marker = (history.recipe.marker_text,) if history.recipe.marker == "prefix" else ()
        return marker + _model_of(history).spelled(history)

    def is_beyond(self, history: History, text: str) -> bool:
        recipe, bare = history.recipe, TracedPiece.bare(text)
        if any(
            preparing((step,)).changed(bare) != preparing(tuple(nearest([replace(step, longest=False)]))).changed(bare)
            for step in _longest_steps(recipe)
        ):
            return True
        if _model_of(history).is_beyond(history, text):
            return True
        return (
            recipe.lowercase
            and recipe.final_sigma
            and "Σ" in text
            and normalize(text, recipe) != normalize(text, recipe.with_changes(final_sigma=False))
        )

    def numbers(self, history: History) -> Int64s:
        return _model_of(history).numbers(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        progress(Progress("writing", 0, len(history), "steps"))
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": _added_tokens(history, self.numbers(history)),
            "normalizer": normalizer_of(history.recipe),
            "pre_tokenizer": pre_tokenizer_of(history.recipe),
            "post_processor": None,
            "decoder": decoder_of(history.recipe),
            "model": _model_of(history).written(history),
        }
        file.write(json_reading.laid_out(whole, 2).encode())

    def recognizes(self, data: bytes) -> bool:
        # A vocabulary may hold tokens that are called so, but those have numbers.
        return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None and b'"vocab"' in data

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        whole = json_reading.parsed_object(data, name, number=json_reading.number_by_serde, counts_last=True)
        model = json_reading.object_in(whole, "model", name)
        kind = _model_in(model, name)
        history, about_model = kind.open(whole, model, read_steps(whole, name, shows_bytes=kind.shows_bytes), name)
        notes = [*about_model]
        if whole.get("post_processor"):
            notes.append("The file may put special tokens around a text; here a text is left as it is.")
        cut = [key for key in ("truncation", "padding") if whole.get(key)]
        if cut:
            notes.append(
                f"The file says how texts are brought to one length ({' and '.join(cut)}); here they stay whole."
            )
        return history, notes

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        loaded = library.Tokenizer.from_buffer(data)
        return lambda text: list(loaded.encode(text, add_special_tokens=False).ids)


def _longest_steps(recipe: Recipe) -> list[Precompiled]:
    return [step for step in recipe.preparation if isinstance(step, Precompiled) and step.longest]


def _model_of(history: History) -> JsonModel:
    return MODELS[history.recipe.method]


def _model_in(model: Object, name: str) -> JsonModel:
    """Find the kind of model. Where a file does not say it, each kind has something that no other has."""
    signs = {"Unigram": isinstance(model.get("vocab"), list), "WordPiece": "max_input_chars_per_word" in model}
    signs["WordLevel"] = "merges" not in model
    kind = json_reading.text_in(model, "type", name) or next((one for one, found in signs.items() if found), "BPE")
    models = (*MODELS.values(), JsonWordLevel())
    found = next((one for one in models if one.kind == kind), None)
    if found is None:
        kinds = ", ".join(dict.fromkeys(one.kind for one in models))
        raise FormatError(f"{name} holds a {kind[:40]} model; this program reads {kinds}.")
    return found


def _added_tokens(history: History, numbers: Int64s) -> list[Object]:
    told = {step.content: step for step in history.recipe.preparation if isinstance(step, AddedToken)}
    found = [
        {"id": int(numbers[id]), **dataclasses.asdict(told.get(token, AddedToken(token)))}
        for token, id in ids_looked_for(history).items()
    ]
    return sorted(found, key=itemgetter("id"))
