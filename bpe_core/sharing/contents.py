"""The data of a page about a run: how it splits words, its alphabet, its steps, and the words that it learned from.

If a page cannot split texts exactly as the engine does, `why_not` returns the reason. Then the page shows the steps,
but splits no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.formats.base import IN_WORDS
from bpe_core.history.history import NOTHING, TOKEN, History, Int64s
from bpe_core.history.joining import PairRows
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_runs import STAGE
from bpe_core.sharing.changes import changes_by, scan_of
from bpe_core.sharing.preparing import operations_of
from bpe_core.support.numbered_symbols import FIRST
from bpe_core.text.preparation.pieces import AddedToken

LARGEST_PRIORITY = 2**26  # the page keeps a priority and an offset in one number
# Bytes of words: a number, a number for each step, and a limit, so that the page of a small run stays small.
FEW_WORDS = 6_000
MORE_WORDS = 20
MOST_WORDS = 200_000
_LETTER_OF_KIND = dict(
    byte="b", character="c", marker="m", glued="g", unknown="u", fallback="f", continuation="i", seed="s"
)


@dataclass(frozen=True, eq=False)
class SharedRun:
    title: str
    history: History
    words: WordTable | None = None  # the words that the run learned from
    note: str = ""


def contents_of(run: SharedRun) -> dict[str, Any]:
    history = run.history
    recipe = run.history.recipe
    why = why_not(history)
    return {
        "title": run.title,
        "note": run.note,
        "recipe": recipe.name,
        "method": recipe.method,
        "step": recipe.wording.step,
        "base": recipe.base,
        "marker": recipe.marker,
        "marker_text": recipe.marker_text,
        "longest": Method.of(recipe).longest_word_of(recipe),
        "specials": list(recipe.special_tokens),
        "matched": _matched_specials(recipe),
        "why_not": why,
        "cuts": _cuts(history) if not why else {"by": ""},
        "splits": None if why or recipe.splits_by_steps else _scan(recipe),
        "changes": [] if why else changes_by(recipe),
        "preparation": operations_of(recipe) if recipe.preparation and not why else None,
        "alphabet": _alphabet(history),
        "size": history.vocabulary_size_at(0),
        "steps": _steps(history),
        "numbers": history.numbers,
        "words": _words(run),
    }


def symbols_of(runs: Sequence[SharedRun]) -> dict[str, Any] | None:
    """Return the names of the symbols of all runs.

    Return None if the runs learn from text, or if their names differ.
    """
    recipes = [run.history.recipe for run in runs]
    if any(not recipe.base_symbols or recipe.names != recipes[0].names for recipe in recipes):
        return None
    names = recipes[0].names
    return {"names": list(names.names), "has_numbers": names.has_numbers, "first": FIRST}


def _matched_specials(recipe: Recipe) -> list[str]:
    """Return the special tokens that the engine finds in every text, but that a shared page does not find."""
    if recipe.spelled_specials != "matched":
        return []
    always = {step.content for step in recipe.preparation if isinstance(step, AddedToken) and not step.special}
    return [token for token in recipe.tokens_looked_for if token not in always]


def why_not(history: History) -> str:
    """Return a sentence that says why an exported page cannot split texts exactly as this program does.

    The page splits texts in the browser. Return an empty string if it can split texts by this history.
    """
    recipe = history.recipe
    joining = history.joining
    if recipe.preparation and operations_of(recipe) is None:
        return "The file of this run normalizes and splits texts by operations that this page does not support."
    if scan_table(recipe) is None:
        return "The run splits texts by a regular expression that this page cannot follow exactly."
    method = Method.of(recipe)
    if method.starts_anew:
        return "This method learns each block of a text separately, so it cannot split another text."
    if not _rule_of(method):
        return "This method splits texts by a rule that this page does not support."
    if joining is not None and (joining.found_first or joining.hidden):
        return (
            "Some tokens of this run are matched before pairs are merged, or are only parts of other tokens. This page "
            "does not support such tokens."
        )
    if joining is not None and history.alphabet.id_of_continuation:
        return (
            "In this run the tokens that continue a word have a marker, such as ##. This page cannot merge tokens with "
            "this marker."
        )
    if joining is not None and joining.priorities is not None and joining.priorities.max(initial=0) >= LARGEST_PRIORITY:
        return "The merge priorities of this table are too large for this page."
    if _rule_of(method) == "paths" and (history.scores is None or recipe.sums):
        return "This run adds up probabilities in a way that this page does not support."
    return ""


def _rule_of(method: Method) -> str:
    """Return the name of the rule by which the JavaScript of a shared page splits texts for this method.

    The name is empty if no rule fits, as for a plug-in that derives its class from a method and replaces the splitter.
    """
    kind = type(method)
    declares = next(base for base in kind.__mro__ if "shared_as" in vars(base))
    overrides = [base for base in kind.__mro__[: kind.__mro__.index(declares)] if "cutter" in vars(base)]
    return "" if overrides else method.shared_as


def _scan(recipe: Recipe) -> dict[str, Any]:
    table = scan_table(recipe)
    assert table is not None  # why_not checked it before
    return scan_of(table)


def _cuts(history: History) -> dict[str, Any]:
    joining = history.joining
    scores = history.scores
    if joining is not None:
        unknown = history.alphabet.unknown_id
        cuts: dict[str, Any] = {
            "by": "priorities",
            "whole_words": joining.whole_words,
            "joins_unknown": -1 if unknown is None or not joining.joins_unknown else unknown,
            "left_out": list(joining.left_out),
        }
        if joining.pairs is not None:
            return cuts | {"pairs": [np.asarray(column) for column in joining.pairs[: len(PairRows._fields)]]}
        return cuts | {"priorities": joining.priorities}
    method = Method.of(history.recipe)
    recipe = history.recipe
    rule = _rule_of(method)
    if rule == "runs":
        stages = history.reasons.get(STAGE, np.zeros(len(history)))
        return {
            "by": "runs",
            "inside": _scan(Recipe(pattern=method.pattern_inside(recipe))),
            "across": np.diff(np.flatnonzero(stages > 1), prepend=0),
            "into_bytes": method.falls_into_bytes(recipe),
        }
    if has_ranks(history):
        return {"by": "ranks"}
    if rule == "longest":
        return {"by": "longest"}
    assert scores is not None  # why_not checked it before
    return {"by": "paths", "since": list(scores.since), "rows": list(scores.rows), "waiting": scores.waiting}


def _alphabet(history: History) -> dict[str, Any]:
    alphabet = history.alphabet
    if alphabet.is_plain_bytes:
        return {"kinds": "b" * 256}
    texts = alphabet.texts
    decoded = alphabet.decoded
    kinds = "".join(_LETTER_OF_KIND[symbol.kind] for symbol in alphabet.symbols)
    return {"kinds": kinds, "texts": _laid(texts), "decoded": None if texts == decoded else _laid(decoded)}


def _laid(texts: Sequence[bytes]) -> dict[str, Any]:
    lengths = np.array(list(map(len, texts)), np.int64)
    return {"lengths": lengths, "bytes": np.frombuffer(b"".join(texts), np.uint8)}


def _steps(history: History) -> dict[str, Any]:
    """Return the columns of the steps.

    Most columns are stored as differences from predicted values, because these differences take little room.
    """
    columns = history.columns
    packed: dict[str, Any] = {"left": columns.left, "right": columns.right}
    if TOKEN in history.reasons:
        packed["made"] = history.indices
    if not history.has_counts:
        return packed
    other = np.stack([columns.runner_up_left, columns.runner_up_right])
    following = np.stack([np.append(half[1:], NOTHING) for half in columns[:2]])
    is_next = (other == following).all(axis=0) | (other[0] == NOTHING)
    saved: Int64s = history.tokens_saved
    return packed | {
        "count": np.diff(columns.count, prepend=0),
        "saved": saved - columns.count,
        "tokens_at_start": int(history.tokens_at_start),
        "tied": history.tied.astype(np.int64),
        "other_is": np.where(other[0] == NOTHING, 0, np.where(is_next, 1, 2)),
        "other_left": other[0][~is_next],
        "other_right": other[1][~is_next],
        "other_count": np.where(other[0] == NOTHING, 0, columns.count - columns.runner_up_count),
    }


def _words(run: SharedRun) -> dict[str, Any] | None:
    words = run.words
    joins_within_words = run.history.joining is None and IN_WORDS in Method.of(run.history.recipe).tables
    if words is None or not joins_within_words or not len(words) or why_not(run.history):
        return None
    texts, counts = zip(*((word, count) for word, count in words), strict=True)
    if sum(map(len, texts)) > min(MOST_WORDS, FEW_WORDS + MORE_WORDS * len(run.history)):
        return None
    return {"texts": _laid(texts), "counts": np.array(counts)}
