"""The readable headings of columns, such as "vocabulary size" for the column `size`."""

from __future__ import annotations

from bpe_core.measures.measures import MEASURES

HEADINGS = {
    "as_own": "is the tokenizer's split",
    "behind_symbol": "to symbol",
    "closest_step": "closest at step",
    "encoded": "encoded again",
    "first_symbol": "from symbol",
    "gap": "above the floor",
    "high": "at most",
    "is_next": "comes next",
    "is_taken": "is merged",
    "is_tied": "is tied",
    "loser_pair": "tied with",
    "loser_step": "step of the tied pair",
    "low": "at least",
    "more_than_own": "more than the tokenizer's split",
    "new": "new id",
    "noisy_tokens": "tokens with noise",
    "odd": "unusual",
    "off_by": "error of the estimate",
    "old": "old id",
    "only_one": "tokens made only by this rule",
    "only_other": "tokens made only by the other rule",
    "other_step": "step in the other table",
    "own_fewest": "yours, split into the fewest tokens",
    "parts": "ids of its parts",
    "pass": "within or across words",
    "passed_count": "count of this pair",
    "passed_pair": "pair to merge instead",
    "rest": "begins with",
    "runner_up_pair": "runner-up",
    "size": "vocabulary size",
    "special": "special token",
    "step_back": "tokens to step back",
    "taken": "merged within or across",
    "times_second": "times as runner-up",
    "token_text": "token",
    "vocabulary": "vocabulary size",
    "witness": "text with both tokens",
    "won_at": "merged at step",
}


def heading_of(column: str) -> str:
    """Return the readable heading of a column.

    >>> heading_of("won_at"), heading_of("share_in_use"), heading_of("after_step")
    ('merged at step', 'in use', 'after step')
    """
    return HEADINGS.get(column) or (MEASURES[column].heading if column in MEASURES else column.replace("_", " "))
