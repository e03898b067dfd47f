"""The sentences about limits of formats. All formats report a limit in the same words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bpe_core.formats.base import LISTED, NO_NUMBER, SCORES
from bpe_core.formats.recovering import Recovery, parts_by_kernels
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import count_text

NEVER_HAPPEN = "merges never happen, because an earlier merge makes the same text"


def tokens_phrase(texts: Sequence[bytes], ids: Sequence[int]) -> str:
    r"""Return a phrase that lists the first few of the given tokens, with their texts and ids.

    >>> tokens_phrase([b"a", b"b\n"], [1])
    '“b⏎” (id 1)'
    """
    few = ", ".join(f"{quoted(texts[id])} (id {id:,})" for id in ids[:LISTED])
    return few + (f" and {len(ids) - LISTED:,} more" if len(ids) > LISTED else "")


def about_same_text(history: History) -> list[str]:
    """Return a list with a sentence if several tokens have the same text, and otherwise an empty list.

    Some formats have only one id for each text.
    """
    texts = written(history)
    if len(set(texts)) == len(texts):
        return []
    first: dict[bytes, int] = {}
    twins = [(first[text], id) for id, text in enumerate(texts) if first.setdefault(text, id) != id]
    numbers = history.numbers
    if numbers is not None:  # tokens with the same id already count as one, and tokens without an id are not written
        twins = [(older, newer) for older, newer in twins if NO_NUMBER < numbers[older] != numbers[newer] > NO_NUMBER]
    if not twins:
        return []
    older, newer = twins[0]
    many = (
        f"{count_text(len(twins), 'token repeats', 'tokens repeat')} the text of another token"
        if len(twins) > 1
        else "Two tokens have the same text"
    )
    return [
        (
            f"{many}: {tokens_phrase(texts, [newer])} has the same text as the token {older:,}. "
            "This format has only one id for each text."
        )
    ]


def containing(history: History, unfit: Callable[[bytes], bool], what: str) -> list[str]:
    texts = written(history)
    ids = [id for id, text in enumerate(texts) if unfit(text)]
    return [f"{what}: {tokens_phrase(texts, ids)}."] if ids else []


def holds_a_blank(text: bytes) -> bool:
    """Return whether a text contains a space or a line end.

    In files that separate tokens by spaces or line ends, a token with this text would be read as several tokens.
    """
    return any(blank in text for blank in (b" ", b"\n", b"\r"))


def about_unrecoverable(history: History, texts: Sequence[bytes] | Sequence[str]) -> list[str]:
    """Return a list with a sentence if the parts of some tokens cannot be recovered from their ranks.

    Otherwise the list is empty.
    """
    base = {text: id for id, text in enumerate(texts[: len(history.alphabet)])}
    if len(base) == len(history.alphabet) and history.only_joins:
        parts = parts_by_kernels(texts[len(base) :])  # type: ignore[type-var]
        ids = [] if parts is None else [base.get(symbol, -1) for symbol in parts.symbols]
        pairs = None if parts is None else parts.pairs(np.array(ids, np.int64), len(base))
        if pairs is not None and np.array_equal(pairs.T, history.columns[:2]):
            return []
    recovery = Recovery(dict(zip(reversed(texts), reversed(range(len(texts))), strict=True)))  # type: ignore[type-var]
    lost = [
        merge.index
        for merge in history
        if recovery.pieces(texts[merge.index], merge.index) != [texts[merge.left], texts[merge.right]]
    ]
    if not lost:
        return []
    first = lost[0]
    left, right = history.parts(first) or (first, first)
    plain = [text.encode() if isinstance(text, str) else text for text in texts]
    how_many = count_text(len(lost), "token")
    return [
        f"Ranks do not say which two tokens made a token. For {how_many} these two tokens cannot be found again: "
        f"{tokens_phrase(plain, lost)}. The first of these tokens was made of {tokens_phrase(plain, [left])} and "
        f"{tokens_phrase(plain, [right])}, but merging by rank gives two other tokens."
    ]


def about_splitting(recipe: Recipe) -> list[str]:
    own = recipe.pattern == "custom"
    pattern = f"the pattern {recipe.custom_pattern!r}" if own else f"the pattern {recipe.pattern}"
    sentences = [f"This format cannot store {pattern}. Name the pattern again when you load the file."]
    return sentences + about_lines(recipe) + about_normalization(recipe) + about_specials(recipe)


def about_lines(recipe: Recipe) -> list[str]:
    said = "This format cannot store that each line is a separate text. Encode line by line."
    return [said] if recipe.unit == "line" else []


def about_normalization(recipe: Recipe) -> list[str]:
    said = {
        "cleaned": recipe.clean_text,
        recipe.unicode_form: recipe.unicode_form,
        "no accents": recipe.strip_accents,
        "lower case": recipe.lowercase,
        "no ASCII punctuation": recipe.strip_ascii_punctuation,
        f"without {recipe.strip_marks}": recipe.strip_marks,
    }
    changes = ", ".join(change for change, is_chosen in said.items() if is_chosen)
    return (
        [f"This format cannot store the normalizer ({changes}). Normalize texts before you encode them."]
        if changes
        else []
    )


def about_specials(recipe: Recipe) -> list[str]:
    many = len(recipe.special_tokens)
    what = (
        (f"the special token {recipe.special_tokens[0]!r}") if many == 1 else f"the {count_text(many, 'special token')}"
    )
    return [f"This format cannot store {what}. Name the special tokens again when you load the file."] if many else []


def about_longest(recipe: Recipe) -> list[str]:
    """Return a list with a sentence about the recipe's limit for the length of tokens, which the file cannot store.

    The sentence names the option `max_token_length` of the trainer in `tokenizers`. The value of this option is the
    limit of the recipe plus one. The list is empty if the recipe has no limit, or if tokens of the method have scores.
    """
    if recipe.max_token_length is None or SCORES in METHODS[recipe.method].tables:
        return []
    return [
        f"This format cannot store a limit for the length of tokens ({count_text(recipe.max_token_length, 'symbol')}). "
        f"In the trainer of the library tokenizers this limit is max_token_length={recipe.max_token_length + 1}."
    ]


def about_sums(recipe: Recipe, sums: str) -> list[str]:
    if recipe.sums in ("", sums):
        return []
    return [
        f"This format's library adds log-probabilities in {sums}, but this table's library in {recipe.sums}. "
        "Where two splits are almost equally probable, the libraries may choose different splits."
    ]


def about_reasons(history: History) -> list[str]:
    if not history.reasons:
        return []
    reasons = " and ".join(history.reasons)
    return [f"The table has no columns for the reasons of the steps ({reasons}). To keep the reasons, save a session."]


def needs_bytes(history: History, format: str) -> list[str]:
    recipe = history.recipe
    if recipe.base != "bytes":
        return [f"A {format} file starts from the 256 bytes; this table starts from characters."]
    if recipe.marker in ("symbol", "glued", "prefix"):
        return [f"A {format} file cannot store the word marker {recipe.marker_text!r}."]
    return []
