"""Sentences about the effects of sidecar files on transformers. The tokenizer file does not show these effects.

The classes of transformers add tokens, let some tokens absorb the spaces next to them, split texts by
different rules, and give different ids to SentencePiece's pieces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from bpe_core.errors import FormatError
from bpe_core.formats.base import Beside, OpenedTable, about
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.formats.transformers_classes import (
    LIKE_BART,
    LIKE_BERT,
    LIKE_GPT2,
    SPACED,
    class_beside,
    class_of,
    decodes_as,
    equals_steps_of_class,
    goes_by_file,
    own_tokens,
    reads_scores_itself,
    steps_of,
)
from bpe_core.formats.transformers_files import ADDED, CONFIG, MAP, MODEL, VOCABULARY, WHOLE
from bpe_core.history.token_texts import written
from bpe_core.text.preparation.normalizers import BertNormalizer
from bpe_core.text.preparation.pieces import AddedToken

_LISTS = ("additional_special_tokens", "extra_special_tokens")
# Classes that number pieces differently: in fairseq's order, with room for other tokens, or by a vocab.json.
_OTHER_NUMBERS = (
    *("Camembert", "LayoutXLM", "MBart", "MBart50", "MLuke", "Nllb", "PLBart", "SeamlessM4T", "XGLM", "XLMRoberta"),
    *("M2M100", "Marian", "Pegasus", "Speech2Text"),
)
_MASK = (
    "No file in its folder says whether “<mask>” includes the spaces before it. In transformers 4 “<mask>” "
    "includes them, in transformers 5 it {}, and in this program it does not."
)
_EXTRA = (
    "which adds tokens such as “<extra_id_0>” and handles spaces and decodes differently. This program follows the "
    "file."
)
_CHANGING = ("Albert", "XLNet")
_CHANGES = (
    "which changes some characters, such as quotes and accents, and decodes differently. This program changes texts "
    "only as the file says."
)
_SPACES = (
    "which handles spaces, special tokens and user-defined symbols differently, so ids and decoded texts can "
    "differ. This program follows the file, as SentencePiece does."
)
_OWN = "tokens are matched by {}Tokenizer of transformers, but not by this program: {{}}"
_INSTEAD = (
    f"{WHOLE} is in its folder, and transformers reads that file instead. For the ids of transformers, open that file."
)
_PREFIX = (
    f"{CONFIG} in its folder says add_prefix_space: transformers puts a space before a text. This program does not."
)


def about_beside(opened: OpenedTable, beside: Beside) -> list[str]:
    has_whole = beside(WHOLE) is not None
    sentences = [_INSTEAD] * has_whole
    files = {name: _object_in(name, beside, sentences) for name in (ADDED, CONFIG, MAP)}
    config = files[CONFIG]
    model = _object_in(MODEL, beside, [])
    recipe = opened.history.recipe
    kind = class_beside(config, model)
    done = {step.content for step in recipe.preparation if isinstance(step, AddedToken)}
    searched = _tokens_searched(opened) | done
    by_spaces = dict[str, None]()
    for name, whole in files.items():
        tokens = dict.fromkeys(whole) if name == ADDED else tokens_in(whole)
        lacking = [token for token in tokens if token not in searched]
        searched.update(lacking)
        sentences += about(
            lacking,
            f"tokens in {name} in its folder are matched with a tokenizer.json, but not here: {{}}",
        )
        sides = [text for text, how in tokens.items() if how and how != AddedToken(text, special=False)]
        by_spaces |= {text: None for text in sides if text in {*recipe.special_tokens} - done}
    sentences += about(_named_in_two_ways(config), "tokens are listed twice, with different rules for matching: {}")
    sentences += about(by_spaces, "tokens include the spaces next to them in transformers, but not in this program: {}")
    if has_whole:
        return sentences
    if opened.format == "merges.txt":
        by_name = kind in LIKE_BART and "<mask>" in recipe.special_tokens and "<mask>" not in done
        sentences += [_MASK.format("does, too" if kind == "Blenderbot" else "does not")] * by_name
        sentences += [_PREFIX] * (config.get("add_prefix_space") is True and steps_of(kind, config) is None)
    if opened.format == "sentencepiece":
        sentences += _about_class(opened, kind, CONFIG if class_of(config) == kind else MODEL, config, beside)
    else:
        sentences += about(
            [token for token in own_tokens(kind, config) or () if token not in searched], _OWN.format(kind)
        )
        sentences += _about_versions(opened, kind, config, named=any(map(beside, (CONFIG, MODEL))))
        flagged = [step for step in recipe.preparation if isinstance(step, AddedToken)]
        sentences += _about_named(kind, config, {step.content: _sides(step) for step in flagged})
        sentences += _about_times(kind, recipe.special_tokens)
    return sentences + _about_choices(config)


def _about_versions(opened: OpenedTable, kind: str, config: Object, *, named: bool) -> Iterator[str]:
    """Yield sentences about differences between classes of tokenizers in the library transformers.

    A tokenizer has a slow class in Python and a fast class in Rust, and either class can differ between versions.
    """
    recipe = opened.history.recipe
    if opened.format == "vocab.txt" and (kind in LIKE_BERT or (named and not kind)):
        changes = [step for step in recipe.preparation if isinstance(step, BertNormalizer)]
        keeps_accents = not (recipe.strip_accents or any(step.strip_accents for step in changes))
        finds = any(token.islower() for token in recipe.special_tokens) and (
            recipe.lowercase or any(step.lowercase for step in changes)
        )
        yield _SLOW_BERT.format(kind or "Bert", _COMPOSED * keeps_accents + _CAPITALS * finds)
        if config.get("clean_up_tokenization_spaces") is None and kind not in SPACED:
            yield _CLEANS.format(kind or "Bert")
    if opened.format != "merges.txt":
        return
    if kind == "CLIP":
        yield _OLD_CLIP
    if kind == "Blenderbot" and config.get("add_prefix_space") is None:
        yield _FIRST
    if kind == "Qwen2":
        yield _SLOW_BYTES.format(kind, "letters, digits and marks")
    elif kind in LIKE_GPT2 and any(map(_joins_parts, written(opened.history))):
        yield _SLOW_BYTES.format(kind, "letters and digits")
    numbered = config.get("added_tokens_decoder")
    if kind in (*LIKE_GPT2, "Qwen2") and isinstance(numbered, dict):
        roles = {*tokens_in({**config, "added_tokens_decoder": None}), *(own_tokens(kind, config) or ())}
        kept = [text for text in tokens_in(config) if text not in roles and text in recipe.special_tokens]
        yield from about(kept, _KEPT.format(kind))


def _joins_parts(token: bytes) -> bool:
    """Return whether a token contains an incomplete character and at least one more character.

    A space at the beginning of the token does not count.
    """
    behind = token.removeprefix(b" ").lstrip(_TAILS)
    try:
        behind.decode()
    except UnicodeDecodeError as error:
        return error.start > 0 or token[0] in _TAILS
    return token[:1] in _TAILS and bool(behind)


_TAILS = bytes(range(0x80, 0xC0))  # bytes that begin no character


def _sides(step: AddedToken) -> bool:
    return step.lstrip or step.rstrip or step.single_word


def _about_named(kind: str, config: Object, sided: Mapping[str, bool]) -> list[str]:
    """Return a list with a sentence about the tokens whose options Qwen2's tokenizer class ignores.

    The options say that a token absorbs the spaces next to it, or that it matches only a whole word. Qwen2's
    class matches only the text of the token.
    """
    named = tokens_in({**config, "added_tokens_decoder": None}) if kind == "Qwen2" else ()
    said = "tokens are matched by Qwen2Tokenizer of transformers 5 without their rules for spaces and whole words: {}"
    return about([text for text in named if sided.get(text)], said)


def _about_times(kind: str, tokens: Collection[str]) -> list[str]:
    times = [text for text in tokens if kind == "Whisper" and re.fullmatch(r"<\|\d+\.\d+\|>", text)]
    return about(
        times,
        "tokens for times are left out when WhisperTokenizer of transformers decodes, but not by this program: {}",
    )


_SLOW_BERT = (
    "The slow {}Tokenizer of transformers 4 uses Python's version of Unicode: characters that this version lacks are "
    "left out, and characters that are new in this version can be punctuation or accents{}. This program follows the "
    "fast tokenizer."
)
_COMPOSED = ", and a letter and its accent become one character (NFC)"
_CAPITALS = ", and special tokens are also matched in capital letters"
_CLEANS = (
    "When {}Tokenizer of transformers 4 decodes, it removes spaces next to apostrophes and turns “do not” into "
    "“don't”. Transformers 5 and this program leave the text unchanged."
)
_OLD_CLIP = (
    "Special tokens in capital letters are special tokens for CLIPTokenizer of transformers 4, are split at "
    "signs by transformers 5, and are one word in this program. The slow tokenizer of transformers 4 also "
    "changes texts: with the package ftfy, or, if this package is not installed, as BERT's tokenizer does."
)
_FIRST = (
    "BlenderbotTokenizer of transformers 5 puts a space before a text, but that of transformers 4 does not. This "
    "program follows transformers 5."
)
_SLOW_BYTES = (
    "The slow {}Tokenizer of transformers 4 uses {} of a newer Unicode, so words with these characters may be "
    "split differently. This program follows the fast tokenizer."
)
_KEPT = (
    "tokens are kept, and may get spaces around them, when the slow {}Tokenizer of transformers 4 decodes without "
    "special tokens: {{}}"
)


def _named_in_two_ways(config: Object) -> list[str]:
    ways: dict[str, set[tuple[bool, ...]]] = {}
    for key, value in config.items():
        if key.endswith("_token") and (text := value.get("content") if isinstance(value, dict) else value):
            ways.setdefault(text, set()).add(tuple(_flags(value)[:3]) if isinstance(value, dict) else (False,) * 3)
    return [text for text, options in ways.items() if len(options) > 1]


def tokens_searched_beside(config: Object, beside: Beside) -> set[str] | None:
    """Return the tokens that transformers searches for in a text, according to the sidecar files.

    These are the tokens that the files list, and the default tokens of the tokenizer class that `config` names.
    Return None if this program does not know the class.
    """
    added, named, roles = (_object_in(name, beside, []) for name in (ADDED, CONFIG, MAP))
    own = own_tokens(class_of(config), {**roles, **config})
    return None if own is None else {*own, *added, *tokens_in(named), *tokens_in(roles)}


def config_beside(beside: Beside) -> Object:
    """Return the content of the tokenizer_config.json next to a file, with the tokenizer class added.

    If this file does not name the class, the sidecar file config.json may name it.
    """
    config = _object_in(CONFIG, beside, [])
    kind = class_beside(config, _object_in(MODEL, beside, []))
    return {**config, "tokenizer_class": f"{kind}Tokenizer"} if kind else config


def about_tokenizer_json(whole: Object, beside: Beside) -> list[str]:
    """Return sentences about the differences between a tokenizer.json and the tokenizer that transformers makes of it.

    Only differences that come from sidecar files are named. For example, a sidecar file can name a class that decodes
    texts in another way. `whole` is the content of the tokenizer.json, and `beside` holds the sidecar files.
    """
    config = _object_in(CONFIG, beside, [])
    model = _object_in(MODEL, beside, [])
    kind = class_beside(config, model)
    sentences = _about_tokens(whole, kind, config, beside)
    own_steps = not (goes_by_file(kind) or equals_steps_of_class(whole, kind, config))
    if own_steps:
        named = CONFIG if class_of(config) == kind else MODEL
        sentences.append(
            f"{named} in its folder names {kind}Tokenizer, which in transformers 5 normalizes, splits and decodes "
            "texts differently. This program follows the file."
        )
    elif reads_scores_itself(whole, kind):
        sentences.append(_SCORES.format(kind))
    says_all = goes_by_file(kind) or (own_steps and kind != "CLIP")  # its class in transformers 4 does it, too
    if not (says_all or decodes_as(whole, kind, config)):
        sentences.append(f"{kind}Tokenizer of transformers decodes differently. This program follows the file.")
    if _prefix_space_differs(whole.get("pre_tokenizer") or {}, config):
        sentences.append(_BY_4)
    elif kind in _MADE_ANEW and config.get("add_prefix_space") is not None:
        sentences.append(_ANEW.format(kind))
    return sentences + _about_choices(config)


def _prefix_space_differs(cut: Object, config: Object) -> bool:
    """Return whether the configuration and the tokenizer file have different values for `add_prefix_space`.

    This option puts a space before a text. transformers 4 uses the value of the configuration.
    """
    is_put = cut.get("add_prefix_space")
    wanted = config.get("add_prefix_space") or False
    return cut.get("type") == "ByteLevel" and is_put is not None and is_put != wanted


def _about_choices(config: Object) -> list[str]:
    chosen = (key for key in _CHOSEN if config.get(key) is True)
    return [f"{CONFIG} in its folder says {key}: {_CHOSEN[key]}" for key in chosen]


_CHOSEN = {
    "split_special_tokens": "transformers matches no special tokens in a text. This program matches special tokens.",
    "clean_up_tokenization_spaces": (
        "when transformers decodes, it removes spaces before signs such as . or n't. This program does not."
    ),
}
_SCORES = (
    "{}Tokenizer of transformers 5 reads the last digits of scores differently, so it may choose the other "
    "one of two equally probable splits."
)
_MADE_ANEW = ("Llama", "T5")
_ANEW = (
    f"Because {CONFIG} in its folder says add_prefix_space, transformers 4 builds a new {{}}Tokenizer without this "
    "file. This program follows the file."
)
_BY_4 = (
    "transformers 4 puts a space before a text if add_prefix_space of tokenizer_config.json says so, and "
    "otherwise puts none. This program follows the file."
)


def _about_tokens(whole: Object, kind: str, config: Object, beside: Beside) -> list[str]:
    """Return sentences about tokens that this program and transformers do not find in the same places."""
    listed: dict[str, Object] = {item["content"]: item for item in whole.get("added_tokens") or ()}
    numbered = config.get("added_tokens_decoder")
    others: list[Object] = [] if isinstance(numbered, dict) else [_object_in(MAP, beside, [])]
    named = {text for source in (config, *others) for text in tokens_in(source)}
    if not isinstance(numbered, dict):
        named |= _object_in(ADDED, beside, []).keys()
    lacking = [text for text in sorted(named) if text not in listed]
    said = f"tokens of {CONFIG} or {MAP} in its folder are matched by transformers, but not by this program: {{}}"
    sentences = about(lacking, said)
    for source in dict.fromkeys((kind, class_of(config))):  # each of them may read it
        own = [text for text in own_tokens(source, config) or () if text not in listed and text not in named]
        sentences += about(own, _OWN.format(source))
    roles = tokens_in({key: value for key, value in config.items() if key.endswith("_token")})
    plain = [text for text in roles if text in listed and listed[text].get("special") is not True]
    sentences += about(plain, f"tokens are special in transformers, because of {CONFIG} in its folder: {{}}")
    if isinstance(numbered, dict):
        item_of = {item.get("content"): item for item in numbered.values() if isinstance(item, dict)}
        flags = [text for text in listed if text in item_of and _flags(item_of[text]) != _flags(listed[text])]
        sentences += about(
            flags, f"tokens are matched differently in transformers, because of {CONFIG} in its folder: {{}}"
        )
        lost = [] if goes_by_file(kind) else sorted(listed.keys() - named - {*(own_tokens(kind, config) or ())})
        sentences += about(lost, f"tokens of the file are not matched by {kind}Tokenizer of transformers 5: {{}}")
    sentences += _about_named(kind, config, {text: any(_flags(item)[:3]) for text, item in listed.items()})
    return sentences + _about_times(kind, listed)


def _flags(token: Object) -> list[bool]:
    return [token.get(flag) is True for flag in ("lstrip", "rstrip", "single_word", "normalized", "special")]


def _object_in(name: str, beside: Beside, sentences: list[str]) -> Object:
    try:
        return parsed_object(beside(name) or b"{}", name)
    except FormatError:
        sentences.append(f"{name} in its folder is damaged, and was not read.")
        return {}


def _tokens_searched(opened: OpenedTable) -> set[str]:
    """Return the tokens that this program searches for in a text."""
    recipe = opened.history.recipe
    joining = opened.history.joining
    first = [opened.history.alphabet.texts[id].decode() for id in (joining.found_first if joining else ())]
    unknown = [recipe.unknown_text] if opened.format != "sentencepiece" else []  # no text can hold it
    return {*recipe.special_tokens, *unknown, *first}


def tokens_in(config: Object) -> dict[str, AddedToken | None]:
    """Return the tokens that a configuration names, each with its options for the search.

    A token without options has the value None. An option says that the token absorbs the spaces next to it, that it
    matches only whole words, or that it is not special.
    """
    items: list[tuple[object, bool]] = []  # and whether nothing overrules them
    for key, value in config.items():
        if key in _LISTS:
            values = value.values() if isinstance(value, dict) else value
            if isinstance(value, dict | list):
                items += [(item, False) for item in values]
        elif key.endswith("_token") and isinstance(value, str | dict):
            items.append((value, False))
    roles = [item.get("content") if isinstance(item, dict) else item for item, _ in items]
    numbered = config.get("added_tokens_decoder")
    items += [(item, True) for item in numbered.values()] if isinstance(numbered, dict) else []
    token_of: dict[str, AddedToken | None] = {}
    for item, is_last in items:
        said: Mapping[str, object] = item if isinstance(item, dict) else {"content": item}
        text = said.get("content")
        if isinstance(text, str) and text:
            sides = {side: True for side in ("lstrip", "rstrip", "single_word") if said.get(side) is True}
            sides |= {"special": False} if said.get("special") is False and text not in roles else {}
            if sides:
                token_of[text] = AddedToken(text, **sides)
            else:
                token_of[text] = None if is_last else token_of.get(text)
    return token_of


def _about_class(opened: OpenedTable, kind: str, named: str, config: Object, beside: Beside) -> list[str]:
    """Return sentences that say how a class of transformers changes the effect of a SentencePiece model."""
    if not kind:
        return _about_numbers(opened, beside)
    names = f"{named} in its folder names {kind}Tokenizer, "
    if kind in _OTHER_NUMBERS:
        return [f"{names}which {_NUMBERS}{_AND_SPACES}"]
    adds = kind == "T5" and config.get("extra_ids") != 0
    does = _CHANGES if kind in _CHANGING else _SPACES
    if adds:
        does = _EXTRA
    return [*_about_numbers(opened, beside), names + does]


def _about_numbers(opened: OpenedTable, beside: Beside) -> list[str]:
    try:
        vocabulary = parsed_object(beside(VOCABULARY) or b"{}", VOCABULARY)
    except FormatError:
        return []
    if not vocabulary:
        return []
    texts = [text.decode(errors="replace") for text in written(opened.history)]
    numbers = opened.numbers_of(range(len(texts)))
    others = (vocabulary.get(text) not in (None, number) for text, number in zip(texts, numbers, strict=True))
    return [f"{VOCABULARY} in its folder {_NUMBERS}"] * any(others)


_NUMBERS = "gives pieces ids that differ from their places in the opened file. This program uses these places as ids."
_AND_SPACES = " Transformers also handles spaces and decodes differently."
