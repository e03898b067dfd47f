"""The conversion of a table of superwords to a history of SuperBPE.

SuperBPE learns in two stages: first inside words, and then across the ends of words. The table does not state the step
at which the second stage began, so this module finds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.history.history import History
from bpe_core.history.token_texts import is_text, written
from bpe_core.methods.superbpe.choices import NEEDS, WORDS_BY
from bpe_core.methods.superbpe.learn import transition_in
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.wording import count_text


def histories_of_two_stages(history: History) -> Iterator[History]:
    """Read a table of superwords as a history with two stages.

    Yield one history for each pattern that the first stage may have used.
    """
    if history.recipe.pattern == NEEDS["pattern"]:
        for words_by in WORDS_BY:
            yield in_stages(history, words_by)


def in_stages(history: History, words_by: str) -> History:
    """Convert a table of superwords to a history of SuperBPE. The second stage begins with the first superword.

    A superword is a token that contains several words of the pattern `words_by`. No token of the second stage may have
    more words than the superword with the most words. If a token has a space after a colon, words may be joined across
    colons in the second stage.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> pairs = [(98, 121), (32, 97), (256, 257), (258, 32)]  # "by", " a", "by a", "by a "
    >>> recipe = in_stages(History.from_pairs(Recipe(pattern="superwords"), Alphabet.of_bytes(), pairs), "gpt2").recipe
    >>> recipe.transition, recipe.most_words, recipe.past_colons
    (2, 2, False)
    """
    texts = written(history)[len(history.alphabet) : history.first_special]
    within = Splitter(Recipe(pattern=words_by))
    several = (row for row, text in enumerate(texts) if is_text(text) and len([*within.words(text.decode())]) > 1)
    recipe = history.recipe.with_changes(
        method="superbpe",
        merges=len(history),
        transition=max(1, next(several, len(history))),
        words_by=words_by,
        most_words=max(1, *(sum(map(bool, text.split(b" "))) for text in texts)),
        past_colons=any(b": " in text for text in texts),
    )
    return History.from_pairs(recipe, history.alphabet, history.pairs())


def stages_sentence(history: History) -> str:
    recipe = history.recipe
    most = "any number of words" if recipe.most_words is None else f"at most {count_text(recipe.most_words, 'word')}"
    colons = "" if recipe.past_colons else ", and no token continues after a colon"
    lines = " In the first stage, whole lines are split into words." if recipe.first_stage == "lines" else ""
    return (
        f"Superwords: the first {count_text(transition_in(history), 'merge stays', 'merges stay')} within words "
        f"({recipe.words_by}). Later merges also cross words, with {most} in a token{colons}.{lines}"
    )
