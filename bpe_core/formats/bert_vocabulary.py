"""BERT's vocab.txt, which has one token in each line and ids from 0, and the WordPiece tokens of any file.

The sidecar file tokenizer_config.json says how a text is normalized and split. Without that file, the reader guesses
the normalizer and the pattern from the tokens.

A file does not say how its tokens were made. So the history has no steps, and its alphabet holds all tokens. A
token of several characters is a seed: an entry of the alphabet that no merge makes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import is_
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import limitations
from bpe_core.formats.base import LONGEST, NO_NUMBER, Beside, Format, Opened, Peer, about, dense_numbers, recipe_from
from bpe_core.formats.json_reading import Object, checked_text, list_in, number_of, object_in, parsed_object
from bpe_core.formats.limitations import containing, same_text
from bpe_core.formats.transformers_beside import CONFIG, config_beside, tokens_in
from bpe_core.formats.transformers_classes import LIKE_BERT, SPACED, class_of, role_tokens
from bpe_core.formats.written_merges import VERSION, lines_of
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import method_for
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Bools
from bpe_core.support.progress import ProgressReport
from bpe_core.support.result_cache import cached
from bpe_core.text.characters import code_points
from bpe_core.text.decoding import WordPiece
from bpe_core.text.preparation.normalizers import BertNormalizer
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.preparation.pre_tokenizers import BertPreTokenizer


def history_of(vocabulary: Mapping[str, int], recipe: Recipe, where: str, pieces: Collection[str] = ()) -> History:
    """Return the tokens of a file as a history without steps.

    `pieces` are the special tokens that can be tokens inside a word.
    """
    if len(vocabulary) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    others = {recipe.unknown_text, *recipe.special_tokens}.difference(pieces)
    texts = [text for text in vocabulary if text not in others]
    read = [text.removeprefix(recipe.marker_text) or text for text in texts]
    short = [pair for pair in zip(texts, read, strict=True) if len(pair[1]) == 1]
    of_kind: dict[SymbolKind, list[tuple[str, str]]] = {
        "character": [pair for pair in short if pair[0] == pair[1]],
        "continuation": [pair for pair in short if pair[0] != pair[1]],
        "seed": [pair for pair in zip(texts, read, strict=True) if len(pair[1]) != 1],
    }
    symbols = unknown_symbols(recipe)
    names = [symbol.text.decode() for symbol in symbols]
    for kind, pairs in of_kind.items():
        symbols += [Symbol(text.encode(), inner.encode(), kind) for text, inner in pairs]
        names += [text for text, _ in pairs]
    names += recipe.special_tokens
    numbers = [vocabulary.get(name, NO_NUMBER) for name in names]
    return History.from_pairs(recipe, Alphabet(tuple(symbols)), []).numbered(np.array(numbers, np.int64))


def numbers_for(history: History) -> Int64s:
    """Return the id in a file for each index of a history.

    A history keeps the ids of its file. Without such ids, special tokens come first, then the unknown token, then all
    other tokens. If two tokens have the same text, the newer token gets the id of the older, because nothing
    distinguishes them.
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


def _text_choices(config: Object, plain: list[str], where: str, notes: list[str]) -> dict[str, Any]:
    lowercase = _flag(config, "do_lower_case", where)
    if lowercase is None and class_of(config) in LIKE_BERT:
        lowercase = True
    strip_accents = _flag(config, "strip_accents", where)
    if lowercase is None:
        plain = _with_letters(plain)
        lowercase = _accepts_nearly_all(plain, lambda sign: sign == sign.lower())
        strip_accents = (
            lowercase and _accepts_nearly_all(plain, _has_no_accents) if strip_accents is None else strip_accents
        )
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


def _other_ways(config: Object, vocabulary: Collection[str], where: str) -> Iterator[str]:
    if (kind := class_of(config)) and kind not in AS_FOR_BERT:
        named = config["tokenizer_class"][:40]
        yield (
            f"{where} names {named}, which may normalize, split and decode texts differently. This program does all "
            "this as BERT does."
        )
    if not any(text.startswith(MARKER) for text in vocabulary):
        yield (
            f"No token begins with {MARKER}, so a word that is not a token is unknown here. The file does not say "
            "whether texts are split in another way, such as into characters."
        )


def _with_letters(texts: Sequence[str]) -> list[str]:
    has_letter = _texts_with(texts, str.isalpha).tolist()
    return [text for text, has in zip(texts, has_letter, strict=True) if has and not text.startswith("[unused")]


def _accepts_nearly_all(texts: Sequence[str], fits: Callable[[str], bool]) -> bool:
    """Return whether `fits` accepts the characters of nearly all texts."""
    return int(_texts_with(texts, lambda sign: not fits(sign)).sum()) <= MOST_ODD * len(texts)


def _texts_with(texts: Sequence[str], wanted: Callable[[str], bool]) -> Bools:
    """Return a mask of the texts that contain a character for which `wanted` is true.

    `wanted` is called once for each distinct character.
    """
    codes = code_points("".join(texts))
    is_there = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    is_there[codes] = True
    is_wanted = is_there.copy()
    is_wanted[is_there] = [wanted(chr(code)) for code in np.flatnonzero(is_there).tolist()]
    totals = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_wanted[codes])))
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return np.diff(totals[ends], prepend=0) > 0


def _has_no_accents(sign: str) -> bool:
    return not any(unicodedata.category(character) == "Mn" for character in unicodedata.normalize("NFD", sign))


def _specials(
    config: Object, roles: Mapping[str, str | None], vocabulary: Mapping[str, int], where: str
) -> dict[str, int]:
    players = [config.get(role, usual) for role, usual in roles.items()]
    named = [_token(player, where) for player in players if player is not None]
    named += [_token(item, where) for item in list_in(config, "additional_special_tokens", where)]
    known = {text: vocabulary[text] for text in named if text in vocabulary}
    taken = {number: text for text, number in vocabulary.items()}
    for key, item in object_in(config, "added_tokens_decoder", where).items():
        text = _token(item, where)
        number = number_of(int(key) if key.isdecimal() else key, f"{where}: the number of {text[:40]!r}")
        if vocabulary.get(text, number) != number or taken.setdefault(number, text) != text:
            raise FormatError(
                f"{where}: the special token {text[:40]!r} has the id {number:,}, but in the vocabulary "
                + (
                    f"its id is {vocabulary[text]:,}."
                    if text in vocabulary
                    else f"this id belongs to {taken[number][:40]!r}."
                )
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
LOOK = 100_000  # bytes at the beginning that show whether each line has one token


class BertVocabulary(Format):
    name = "vocab.txt"
    tables = frozenset({LONGEST})
    holds = "WordPiece's tokens only"
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
        return containing(history, _holds_a_blank, "A line of vocab.txt cannot hold the space or line break in these")

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        sentences = same_text(history)
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
                f"In this table a word of more than {longest:,} characters is unknown. For programs that load "
                f"this file, the limit is {LONGEST_WORD} characters."
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
        lines = data[:LOOK].split(b"\n")
        marked = b"[UNK]" in data[:LOOK] or any(line.startswith(b"##") and len(line) > 2 for line in lines)
        is_json = data.lstrip().startswith((b'["', b"[\n"))
        return marked and not is_json and _has_a_token_a_line(data)

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        return self.recognizes(data) or (Path(name).name == "vocab.txt" and _has_a_token_a_line(data))

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        vocabulary, twice = read_vocabulary(data, name)
        config_data = beside(CONFIG)
        where = f"{CONFIG} beside {name}"
        config = parsed_object(config_data, where) if config_data is not None else {}
        roles = ROLES | role_tokens(class_of(config_beside(beside)))
        unknown = _token(config.get("unk_token", roles.pop("unk_token", UNKNOWN)), where)
        if unknown not in vocabulary:
            raise FormatError(
                f"{name}: the token {quoted(unknown)} for words that cannot be split is missing. If this is BERT's "
                f"vocabulary, add the token, or set unk_token in {CONFIG}. Any other list of tokens cannot be "
                "opened, because it does not say how texts are split."
            )
        specials = _specials(config, roles, vocabulary, where)
        specials.pop(unknown, None)
        specials = dict(sorted(specials.items(), key=lambda item: item[1]))
        plain = [text for text in vocabulary if text != unknown and text not in specials]
        found_so = [how for text, how in tokens_in(config).items() if how and (text in specials or text == unknown)]
        found_so += [AddedToken(unknown)] * (unknown not in [how.content for how in found_so])
        notes = about(twice, "tokens occur twice, and have the id of their last line, as in BERT's tokenizers: {}")
        notes += _other_ways(config, vocabulary, where)
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
        history = history_of(vocabulary | specials, recipe, name)
        return history, notes

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        recipe = history.recipe
        longest = Method.of(recipe).longest_word_of(recipe)
        said: dict[str, Any] = {"unk_token": recipe.unknown_text, "max_input_chars_per_word": longest}
        asked = library.Tokenizer(library.models.WordPiece(read_vocabulary(data, name)[0], **said))
        return lambda word: list(asked.encode(word).ids)


def read_vocabulary(data: bytes, name: str) -> tuple[dict[str, int], list[str]]:
    """Return the id of each token, and the list of tokens that occur in several lines.

    The id of a token is the number of its last line, counted from 0.
    """
    lines = [line.rstrip(" \t\r") for line in lines_of(data, name)]  # other white space stays, as in transformers
    for number, text in enumerate(lines, start=1):
        if " " in text or "\t" in text:
            raise FormatError(f"{name}, line {number:,}: there must be one token and no space, not {text[:80]!r}.")
    number_of = {text: number for number, text in enumerate(lines) if text}
    if len(number_of) == len(lines) - lines.count(""):
        return number_of, []
    first = dict(zip(reversed(lines), range(len(lines))[::-1], strict=True))
    return number_of, [text for number, text in enumerate(lines) if text and first[text] < number]


def _about_changes(recipe: Recipe) -> list[str]:
    said = f"do_lower_case={recipe.lowercase}, strip_accents={recipe.strip_accents}"
    sentences = [f"vocab.txt does not hold the normalizer; load BERT's tokenizer with {said}."]
    if not recipe.clean_text:
        sentences.append("BERT's tokenizer leaves out control characters, but this table keeps them.")
    if recipe.lowercase and recipe.final_sigma:
        sentences.append("A capital Σ at the end of a word becomes ς here, but σ by BERT's tokenizer.")
    known = dict.fromkeys(("clean_text", "lowercase", "strip_accents"), False)
    return sentences + limitations.about_lines(recipe) + limitations.about_normalization(recipe.with_changes(**known))


def _gaps(line: int) -> Iterator[str]:
    yield f"[unused{line}]"
    yield from (f"[unused{line}-{other}]" for other in range(LARGEST_VOCABULARY))


def _has_a_token_a_line(data: bytes) -> bool:
    lines = data[:LOOK].split(b"\n")[:-1] or [data[:LOOK]]
    return (
        not data.startswith((b"{", VERSION.encode()))
        and all(b"\0" not in line or line.rstrip() == b"\0" for line in lines)
        and all(len(line.split()) <= 1 for line in lines)
        and any(lines)
    )


def _holds_a_blank(text: bytes) -> bool:
    return any(blank in text for blank in (b" ", b"\t", b"\n", b"\r"))
