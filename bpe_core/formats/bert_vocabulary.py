"""BERT's vocab.txt, which has one token in each line and ids from 0. The module also reads WordPiece tokens of other
files.

The sidecar file tokenizer_config.json says how a text is normalized and split. Without that file, the reader guesses
the normalizer and the pattern from the tokens.

A file does not say how its tokens were made. So the history has no steps, and its alphabet holds all tokens. A token of
several characters is a seed: an entry of the alphabet that no merge makes.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import is_
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError
from bpe_core.formats import limitations
from bpe_core.formats.base import LONGEST, NO_NUMBER, Beside, Format, Opened, Peer, about, dense_numbers, recipe_from
from bpe_core.formats.json_reading import Object, checked_text, list_in, number_of, object_in, parsed_object
from bpe_core.formats.limitations import about_same_text, containing
from bpe_core.formats.transformers_beside import config_beside, tokens_in
from bpe_core.formats.transformers_classes import LIKE_BERT, SPACED, class_of, role_tokens
from bpe_core.formats.transformers_files import CONFIG
from bpe_core.formats.written_merges import LONGEST_LINE, VERSION, lines_of
from bpe_core.history.alphabet import NUMBER_OF_KIND, Alphabet, LaidSymbols, RawTexts, SymbolKind, unknown_symbols
from bpe_core.history.history import History, Int64s
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.history.token_texts import is_text, quoted, written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import method_for
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Bools, Bytes
from bpe_core.support.progress import ProgressReport
from bpe_core.support.result_cache import cached
from bpe_core.support.wording import count_text
from bpe_core.text.characters import code_points
from bpe_core.text.decoding import WordPiece
from bpe_core.text.preparation.normalizers import BertNormalizer
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.preparation.pre_tokenizers import BertPreTokenizer


class ListedTokens(NamedTuple):
    """The tokens of a vocabulary with their ids. The texts are stored in one array. No two of them are equal."""

    texts: LaidTexts
    numbers: Int64s

    @classmethod
    def of(cls, vocabulary: Mapping[str, int]) -> ListedTokens:
        return cls(LaidTexts.of(vocabulary), np.fromiter(vocabulary.values(), np.int64, len(vocabulary)))

    def numbers_of(self, texts: Sequence[str]) -> Int64s:
        """Return the id of each text, or NO_NUMBER for a text that is not a token. The list should be short."""
        return np.append(self.numbers, NO_NUMBER)[self.texts.places_of(texts)]

    def known(self, texts: Sequence[str]) -> dict[str, int]:
        """Return a dictionary from text to id. Texts that are not tokens are left out."""
        numbers = zip(texts, self.numbers_of(texts).tolist(), strict=True)
        return {text: number for text, number in numbers if number != NO_NUMBER}

    def text_with(self, number: int) -> str | None:
        return next((self.texts[place] for place in np.flatnonzero(self.numbers == number).tolist()), None)

    def without(self, texts: Collection[str]) -> Bools:
        """Return a mask of the tokens whose texts are not in `texts`."""
        mask = np.ones(len(self.numbers) + 1, np.bool_)
        mask[self.texts.places_of([*texts])] = False
        return mask[:-1]

    def with_more(self, vocabulary: Mapping[str, int]) -> ListedTokens:
        new = ListedTokens.of(vocabulary)
        return ListedTokens(self.texts.followed_by(new.texts), np.append(self.numbers, new.numbers))


def history_of(vocabulary: Mapping[str, int], recipe: Recipe, where: str, pieces: Collection[str] = ()) -> History:
    """Return a history without steps whose alphabet holds the tokens of a file.

    `pieces` are the special tokens that can also be tokens inside a word.
    """
    return _history_of_tokens(ListedTokens.of(vocabulary), recipe, where, pieces)


def _history_of_tokens(tokens: ListedTokens, recipe: Recipe, where: str, pieces: Collection[str] = ()) -> History:
    if len(tokens.numbers) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    texts = tokens.texts
    marker = recipe.marker_text.encode()
    are_plain = tokens.without({recipe.unknown_text, *recipe.special_tokens}.difference(pieces))
    are_marked = texts.begin_with(marker) & (np.diff(texts.starts) > len(marker)) & bool(marker)
    are_single = texts.are_single_behind(len(marker) * are_marked)
    rows: dict[SymbolKind, Int64s] = {
        "character": np.flatnonzero(are_plain & are_single & ~are_marked),
        "continuation": np.flatnonzero(are_plain & are_single & are_marked),
        "seed": np.flatnonzero(are_plain & ~are_single),
    }
    order = np.concatenate([*rows.values()])
    kinds = np.repeat([NUMBER_OF_KIND[kind] for kind in rows], [*map(len, rows.values())]).astype(np.int8)
    laid = texts.only(order)
    raw = RawTexts(laid.data, laid.starts)
    read = raw.without_beginnings(np.flatnonzero(are_marked[order]), len(marker))
    first = LaidSymbols.of(unknown_symbols(recipe))
    numbers = (
        tokens.numbers_of([text.decode() for text in first.texts]),
        tokens.numbers[order],
        tokens.numbers_of(recipe.special_tokens),
    )
    alphabet = Alphabet(first.followed_by(LaidSymbols(raw, read, kinds)))
    return History.from_pairs(recipe, alphabet, []).numbered(np.concatenate(numbers))


def numbers_for(history: History) -> Int64s:
    """Return the id that each index of a history has in a file.

    A history keeps the ids of its file. Without such ids, special tokens come first, then the unknown token, then all
    other tokens. If two tokens have the same text, nothing distinguishes them, so both get the id of the older token.
    """
    kept = dense_numbers(history)
    if kept is not None:
        return kept
    texts = texts_of(history)
    specials = range(history.first_special, history.index_count)
    unknown = history.alphabet.unknown_id
    assert unknown is not None  # WordPiece has one
    number_of: dict[str, int] = {}
    for id in (*specials, unknown, *range(history.first_special)):
        number_of.setdefault(texts[id], len(number_of))
    return np.array([number_of[text] for text in texts], np.int64)


def texts_of(history: History) -> list[str]:
    return [*(text.decode() for text in written(history)), *history.recipe.special_tokens]


def vocabulary_of(history: History) -> dict[str, int]:
    numbered = zip(texts_of(history), numbers_for(history).tolist(), strict=True)
    number_of = {text: number for text, number in numbered if number != NO_NUMBER}
    return dict(sorted(number_of.items(), key=lambda item: item[1]))


UNKNOWN = "[UNK]"
ROLES = {  # roles, each with the token that BERT's tokenizer uses by default
    "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]",
    "bos_token": None, "eos_token": None,
}  # fmt: skip
SPECIALS = tuple(filter(None, ROLES.values()))
MOST_ODD = 0.002  # the share of tokens that may contradict a guess: signs and mistakes of the corpus


def _text_choices(config: Object, plain: LaidTexts, where: str, notes: list[str]) -> dict[str, Any]:
    lowercase = _flag(config, "do_lower_case", where)
    if lowercase is None and class_of(config) in LIKE_BERT:
        lowercase = True
    strip_accents = _flag(config, "strip_accents", where)
    if lowercase is None:
        characters = _Characters.of(plain)
        among = characters.rows_with(str.isalpha) & ~plain.begin_with(b"[unused")
        lowercase = characters.have_nearly_none(_has_capitals, among)
        if strip_accents is None:
            strip_accents = lowercase and characters.have_nearly_none(_has_accents, among)
        changes = ["lower case"] * lowercase + ["no accents"] * strip_accents
        notes.append(
            "No tokenizer_config.json in its folder says how texts are normalized. Its tokens suggest that "
            + (f"texts are changed: {' and '.join(changes)}." if changes else "letters stay unchanged.")
        )
    if _flag(config, "do_basic_tokenize", where) is False:
        notes.append(
            "The file does not split at punctuation (do_basic_tokenize), but here each punctuation mark is a word."
        )
    strip_accents = lowercase if strip_accents is None else strip_accents
    if _flag(config, "tokenize_chinese_chars", where) is False:  # characters that the pattern sets apart
        return {
            "pattern": "none",
            "preparation": (BertNormalizer(True, False, strip_accents, lowercase), BertPreTokenizer()),
        }
    return {
        "clean_text": True,
        "lowercase": lowercase,
        # BERT lowers each letter by itself, without looking at the letters before a sigma
        "final_sigma": not lowercase,
        "strip_accents": strip_accents,
        "pattern": "bert",
    }


def _other_ways(config: Object, texts: LaidTexts, where: str) -> Iterator[str]:
    if (kind := class_of(config)) and kind not in AS_FOR_BERT:
        named = config["tokenizer_class"][:40]
        yield (
            f"{where} names {named}, which may normalize, split and decode texts differently. This program does all "
            "this as BERT does."
        )
    if not texts.begin_with(MARKER.encode()).any():
        yield (
            f"No token begins with {MARKER}, so a word that is not a token is unknown here. The file does not say "
            "whether texts are split in another way, such as into characters."
        )


class _Characters(NamedTuple):
    """The characters of many texts, as code points. Each distinct character is examined only once.

    No text may be empty.
    """

    codes: npt.NDArray[np.uint32]
    edges: Int64s  # the first character of each text, and the end
    different: str

    @classmethod
    def of(cls, texts: LaidTexts) -> _Characters:
        codes = code_points(texts.together)
        is_there = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
        is_there[codes] = True
        return cls(codes, texts.edges, "".join(map(chr, np.flatnonzero(is_there).tolist())))

    def rows_with(self, wanted: Callable[[str], bool]) -> Bools:
        """Return a mask of the texts with a character for which the function `wanted` returns true."""
        are_wanted = np.array([*map(wanted, self.different)], np.bool_)
        if not are_wanted.any():
            return np.zeros(len(self.edges) - 1, np.bool_)
        is_wanted = np.zeros(ord(self.different[-1]) + 1, np.bool_)
        is_wanted[code_points(self.different)] = are_wanted
        rows: Bools = np.logical_or.reduceat(is_wanted[self.codes], self.edges[:-1])
        return rows

    def have_nearly_none(self, unwanted: Callable[[str], bool], among: Bools) -> bool:
        """Return whether nearly all texts that the mask `among` selects contain no unwanted characters.

        The function `unwanted` says whether a text contains such a character.
        """
        if not unwanted(self.different):  # the usual case, so no character is looked at alone
            return True
        return int((self.rows_with(unwanted) & among).sum()) <= MOST_ODD * int(among.sum())


def _has_capitals(text: str) -> bool:
    return text != text.lower()


def _has_accents(text: str) -> bool:
    return not text.isascii() and "Mn" in map(unicodedata.category, unicodedata.normalize("NFD", text))


def _specials(config: Object, roles: Mapping[str, str | None], tokens: ListedTokens, where: str) -> dict[str, int]:
    players = [config.get(role, usual) for role, usual in roles.items()]
    named = [_token(player, where) for player in players if player is not None]
    named += [_token(item, where) for item in list_in(config, "additional_special_tokens", where)]
    added = [(key, _token(item, where)) for key, item in object_in(config, "added_tokens_decoder", where).items()]
    known = tokens.known([*named, *(text for _, text in added)])
    listed = {**known}
    taken: dict[int, str] = {}
    for key, text in added:
        number = number_of(int(key) if key.isdecimal() else key, f"{where}: the id of {text[:40]!r}")
        owner = taken.setdefault(number, tokens.text_with(number) or text)
        if listed.get(text, number) != number or owner != text:
            raise FormatError(
                f"{where}: the special token {text[:40]!r} has the id {number:,}, but in the vocabulary "
                + (f"its id is {listed[text]:,}." if text in listed else f"this id belongs to {owner[:40]!r}.")
            )
        known[text] = number
    return known


def _token(value: object, where: str) -> str:
    text = checked_text(value.get("content") if isinstance(value, dict) else value, f"{where}: a special token")
    if not text:
        raise FormatError(f"{where}: a special token is empty.")
    return text


def _flag(config: Object, key: str, where: str) -> bool | None:
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise FormatError(f'{where}: "{key}" must be true, false or null.')
    return value


MARKER = "##"
LONGEST_WORD = 100  # the default of BERT's tokenizers, in characters
AS_FOR_BERT = {  # classes of transformers that split and decode as BERT's does
    *(*LIKE_BERT, "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader", "Ernie", "MegatronBert", "PreTrained"),
    *("Realm", "RetriBert"),
}.difference(SPACED)
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits as if drawn by chance
LOOK = 100_000  # bytes at the beginning that show whether each line has one token


class BertVocabulary(Format):
    name = "vocab.txt"
    tables = frozenset({LONGEST})
    holds = "only the tokens of WordPiece"
    peer_name = "tokenizers"
    peer_call = "encode(word)"
    holds_splitting = False
    holds_specials = False
    matches_specials = True

    def impossible(self, history: History) -> list[str]:
        if history.recipe.marker_text != MARKER:
            return [
                f"vocab.txt marks tokens inside a word with {MARKER}; this table uses {history.recipe.marker_text!r}."
            ]
        return containing(
            history, _holds_a_blank, "A line of vocab.txt cannot hold the space or line break in these tokens"
        )

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        sentences = about_same_text(history)
        if recipe.pattern != "bert":
            sentences += limitations.about_splitting(recipe.with_changes(special_tokens=()))
        else:
            sentences += _about_changes(recipe)
        sentences += limitations.about_specials(
            recipe.with_changes(special_tokens=tuple(token for token in recipe.special_tokens if token not in SPECIALS))
        )
        sentences += [f"The word {text} becomes the special token in this format." for text in self.spelled(history)]
        longest = Method.of(recipe).longest_word_of(recipe)
        if longest is not None and longest != LONGEST_WORD:
            sentences.append(
                f"In this table a word of more than {count_text(longest, 'character')} is unknown. For programs that "
                f"load this file, the limit is {LONGEST_WORD} characters."
            )
        return sentences

    def spelled(self, history: History) -> tuple[str, ...]:
        words_of = Splitter(history.recipe.with_changes(special_tokens=())).words
        lines = (*history.recipe.special_tokens, history.recipe.unknown_text)
        pieces = {symbol.text.decode() for symbol in history.alphabet.symbols if symbol.kind != "unknown"}
        return tuple(line for line in lines if line not in pieces and [*words_of(line)] == [line])

    def is_beyond(self, history: History, text: str) -> bool:
        changed = normalize(text, history.recipe)
        tokens = cached(self.name, history, lambda: self.spelled(history), is_)
        return any(token in changed for token in tokens)

    def numbers(self, history: History) -> Int64s:
        return numbers_for(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        vocabulary = vocabulary_of(history)
        text_of = {number: text for text, number in vocabulary.items()}
        for line in range(max(text_of) + 1):  # BERT's own files fill gaps in this way, too
            text = text_of.get(line) or next(gap for gap in _gaps(line) if gap not in vocabulary)
            file.write(text.encode() + b"\n")

    def recognizes(self, data: bytes) -> bool:
        head = data[:LOOK]
        marked = b"[UNK]" in head or any(line.startswith(b"##") and len(line) > 2 for line in head.split(b"\n"))
        is_json = data.lstrip().startswith((b'["', b"[\n"))
        return marked and not is_json and _has_a_token_a_line(data)

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        return self.recognizes(data) or (Path(name).name == "vocab.txt" and _has_a_token_a_line(data))

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        tokens, twice = _read_tokens(data, name)
        config_data = beside(CONFIG)
        where = f"{CONFIG} beside {name}"
        config = parsed_object(config_data, where) if config_data is not None else {}
        roles = ROLES | role_tokens(class_of(config_beside(beside)))
        unknown = _token(config.get("unk_token", roles.pop("unk_token", UNKNOWN)), where)
        if unknown not in tokens.known([unknown]):
            raise FormatError(
                f"{name}: the token {quoted(unknown)} for words that cannot be split is missing. If this is BERT's "
                f"vocabulary, add the token, or set unk_token in {CONFIG}. Any other list of tokens cannot be "
                "opened, because it does not say how texts are split."
            )
        specials = _specials(config, roles, tokens, where)
        specials.pop(unknown, None)
        specials = dict(sorted(specials.items(), key=lambda item: item[1]))
        plain = tokens.texts.only(np.flatnonzero(tokens.without({unknown, *specials})))
        found_so = [how for text, how in tokens_in(config).items() if how and (text in specials or text == unknown)]
        found_so += [AddedToken(unknown)] * (unknown not in [how.content for how in found_so])
        notes = about(twice, "tokens occur twice, and have the id of their last line, as in BERT's tokenizers: {}")
        notes += _other_ways(config, tokens.texts, where)
        choices = _text_choices(config, plain, where, notes)
        recipe = recipe_from(
            name,
            name="vocab.txt",
            method=method_for(LONGEST),
            base="characters",
            marker="continuation",
            marker_text=MARKER,
            unknown_text=unknown,
            special_tokens=tuple(specials),
            merges=0,
            preparation=(*found_so, *choices.pop("preparation", ())),
            decoding=(WordPiece(MARKER),),
            **choices,
        )
        listed = tokens.known([*specials])
        further = {text: number for text, number in specials.items() if text not in listed}
        return _history_of_tokens(tokens.with_more(further) if further else tokens, recipe, name), notes

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        recipe = history.recipe
        longest = Method.of(recipe).longest_word_of(recipe)
        said: dict[str, Any] = {"unk_token": recipe.unknown_text, "max_input_chars_per_word": longest}
        tokens, _ = _read_tokens(data, name)
        vocabulary = dict(zip(tokens.texts, tokens.numbers.tolist(), strict=True))
        asked = library.Tokenizer(library.models.WordPiece(vocabulary, **said))
        return lambda word: list(asked.encode(word).ids)


def _read_tokens(data: bytes, name: str) -> tuple[ListedTokens, list[str]]:
    """Return the tokens of a file, and a list of the tokens that occur in several lines.

    The id of a token is the number of its last line, counted from 0.
    """
    tokens = tokens_at_once(data)
    return tokens_line_by_line(data, name) if tokens is None else (tokens, [])


def tokens_at_once(data: bytes) -> ListedTokens | None:
    """Return the tokens of a file in the usual form, which can be read at once.

    In this form, the file is valid UTF-8 without spaces, tabs, carriage returns or a byte order mark. No line is too
    long, and all tokens are different. Return None for any other file.
    """
    if any(blank in data for blank in (b" ", b"\t", b"\r")) or data.startswith(codecs.BOM_UTF8):
        return None
    raw = np.frombuffer(data, np.uint8)
    are_ends = raw == ord("\n")
    widths = np.diff(np.flatnonzero(are_ends), prepend=-1, append=len(raw)) - 1
    numbers = np.flatnonzero(widths)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths[numbers])))
    texts = raw[~are_ends]
    if widths.max() > LONGEST_LINE or not is_text(data) or not _are_different(texts, starts):
        return None
    return ListedTokens(LaidTexts(texts, starts), numbers)


def _are_different(data: Bytes, starts: Int64s) -> bool:
    """Return whether all texts certainly differ from each other, because their hashes differ.

    No text may be empty.
    """
    widths = np.diff(starts)
    places = np.arange(len(data), dtype=np.int32) - np.repeat(starts[:-1].astype(np.int32), widths)
    factors = np.cumprod(np.full(int(widths.max(initial=0)), HASH_FACTOR))
    hashes = np.sort(np.add.reduceat(data * factors[places], starts[:-1]))
    return not (hashes[1:] == hashes[:-1]).any()


def tokens_line_by_line(data: bytes, name: str) -> tuple[ListedTokens, list[str]]:
    lines = [line.rstrip(" \t\r") for line in lines_of(data, name)]  # other white space stays, as in transformers
    for number, text in enumerate(lines, start=1):
        if " " in text or "\t" in text:
            raise FormatError(f"{name}, line {number:,}: there must be one token and no space, not {text[:80]!r}.")
    number_of = {text: number for number, text in enumerate(lines) if text}
    if len(number_of) == len(lines) - lines.count(""):
        return ListedTokens.of(number_of), []
    first = dict(zip(reversed(lines), range(len(lines))[::-1], strict=True))
    return ListedTokens.of(number_of), [text for number, text in enumerate(lines) if text and first[text] < number]


def _about_changes(recipe: Recipe) -> list[str]:
    said = f"do_lower_case={recipe.lowercase}, strip_accents={recipe.strip_accents}"
    sentences = [f"vocab.txt does not hold the normalizer; load BERT's tokenizer with {said}."]
    if not recipe.clean_text:
        sentences.append("BERT's tokenizer leaves out control characters, but this table keeps them.")
    if recipe.lowercase and recipe.final_sigma:
        sentences.append("A capital Σ at the end of a word becomes ς in this program, but σ in BERT's tokenizer.")
    known = dict.fromkeys(("clean_text", "lowercase", "strip_accents"), False)
    return sentences + limitations.about_lines(recipe) + limitations.about_normalization(recipe.with_changes(**known))


def _gaps(line: int) -> Iterator[str]:
    yield f"[unused{line}]"
    yield from (f"[unused{line}-{other}]" for other in range(LARGEST_VOCABULARY))


def _has_a_token_a_line(data: bytes) -> bool:
    head = data[:LOOK]
    if not any(blank in head for blank in b"\0 \t\r\x0b\x0c"):
        return not head.startswith((b"{", VERSION.encode())) and head.strip(b"\n") != b""
    lines = data[:LOOK].split(b"\n")[:-1] or [data[:LOOK]]
    return (
        not data.startswith((b"{", VERSION.encode()))
        and all(b"\0" not in line or line.rstrip() == b"\0" for line in lines)
        and all(len(line.split()) <= 1 for line in lines)
        and any(lines)
    )


def _holds_a_blank(text: bytes) -> bool:
    return any(blank in text for blank in (b" ", b"\t", b"\n", b"\r"))
