"""What tokenizer_config.json beside vocab.txt tells: how BERT's tokenizer changes a text first, and its specials."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.base import Beside
from bpe_core.formats.checked_json import Object, list_in, number_of, object_in, parsed_object, whole_text
from bpe_core.records import dataclass

CONFIG = "tokenizer_config.json"
UNKNOWN = "[UNK]"
SPECIALS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")  # as BERT's tokenizer names them where nothing else is said
ROLES = ("bos_token", "eos_token", "sep_token", "pad_token", "cls_token", "mask_token")
MOST_ODD = 0.002  # the share of tokens that may speak against a guess: signs and slips of the corpus


@dataclass(frozen=True)
class BertConfig:
    """What is known of a vocabulary beyond its tokens."""

    unknown: str
    specials: dict[str, int]  # by number
    text_choices: dict[str, Any]  # of the recipe
    notes: list[str]

    @classmethod
    def beside(cls, beside: Beside, vocabulary: Mapping[str, int], name: str) -> BertConfig:
        """Read where it is there, else guessed from the tokens."""
        data = beside(CONFIG)
        where = f"{CONFIG} beside {name}"
        config = parsed_object(data, where) if data is not None else {}
        unknown = _token(config.get("unk_token", UNKNOWN), where)
        specials = _specials(config, vocabulary, where)
        specials.pop(unknown, None)
        notes: list[str] = []
        plain = [text for text in vocabulary if text != unknown and text not in specials]
        choices = _text_choices(config, plain, where, notes)
        return cls(unknown, dict(sorted(specials.items(), key=lambda item: item[1])), choices, notes)


def bert_text_choices(*, clean: bool, lowercase: bool, strip_accents: bool) -> dict[str, Any]:
    """The recipe's choices for a text changed as BERT changes it: letter by letter, whatever a sigma stands before."""
    return {
        "clean_text": clean,
        "lowercase": lowercase,
        "final_sigma": not lowercase,
        "strip_accents": strip_accents,
        "pattern": "bert",
    }


def _text_choices(config: Object, plain: list[str], where: str, notes: list[str]) -> dict[str, Any]:
    lowercase = _flag(config, "do_lower_case", where)
    strip_accents = _flag(config, "strip_accents", where)
    if lowercase is None:
        lowercase = _speaks_for(plain, lambda text: text == text.lower())
        strip_accents = lowercase and _speaks_for(plain, _has_no_accents) if strip_accents is None else strip_accents
        changes = ["lower case"] * lowercase + ["no accents"] * strip_accents
        notes.append(
            "No tokenizer_config.json beside the file says how a text is changed first; by its tokens "
            + (f"it looks like {' and '.join(changes)}." if changes else "letters look as if they stayed as they are.")
        )
    if _flag(config, "tokenize_chinese_chars", where) is False:
        notes.append("The file leaves Chinese characters side by side in one word; here each is a word.")
    if _flag(config, "do_basic_tokenize", where) is False:
        notes.append("The file does not cut at punctuation (do_basic_tokenize); here each sign is a word.")
    return bert_text_choices(
        clean=True, lowercase=lowercase, strip_accents=lowercase if strip_accents is None else strip_accents
    )


def _speaks_for(texts: Iterable[str], fits: Any) -> bool:
    """Whether nearly all tokens are as they would be after a change."""
    with_letters = [text for text in texts if any(map(str.isalpha, text)) and not text.startswith("[unused")]
    odd = sum(1 for text in with_letters if not fits(text))
    return odd <= MOST_ODD * len(with_letters)


def _has_no_accents(text: str) -> bool:
    return not any(unicodedata.category(character) == "Mn" for character in unicodedata.normalize("NFD", text))


def _specials(config: Object, vocabulary: Mapping[str, int], where: str) -> dict[str, int]:
    """Tokens that a text is searched for first, with their numbers."""
    named = [_token(config[role], where) for role in ROLES if config.get(role) is not None]
    named += [_token(item, where) for item in list_in(config, "additional_special_tokens", where)]
    found = {text: vocabulary[text] for text in (*SPECIALS, *named) if text in vocabulary}
    taken = {number: text for text, number in vocabulary.items()}
    for key, item in object_in(config, "added_tokens_decoder", where).items():
        text = _token(item, where)
        number = number_of(int(key) if key.isdecimal() else key, f"{where}: the number of {text[:40]!r}")
        if vocabulary.get(text, number) != number or taken.setdefault(number, text) != text:
            raise FormatError(
                f"{where}: the number {number:,} is given to {text[:40]!r}, but the vocabulary says "
                + (f"{vocabulary[text]:,}." if text in vocabulary else f"that it is {taken[number][:40]!r}.")
            )
        found[text] = number
    return found


def _token(value: object, where: str) -> str:
    """A token as a text, or as an object that holds one."""
    text = whole_text(value.get("content") if isinstance(value, dict) else value, f"{where}: a special token")
    if not text:
        raise FormatError(f"{where}: a special token is empty.")
    return text


def _flag(config: Object, key: str, where: str) -> bool | None:
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise FormatError(f'{where}: "{key}" must be true, false or null.')
    return value
