"""The headings of columns, which people can read without knowing the columns' names in files."""

from __future__ import annotations

from bpe_core.measures.measures import MEASURES

HEADINGS = {
    "as_own": "as the tokenizer",
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
    "loser_step": "that pair's step",
    "low": "at least",
    "more_than_own": "more than own",
    "new": "new id",
    "noisy_tokens": "tokens with noise",
    "odd": "unusual",
    "off_by": "error of the estimate",
    "old": "old id",
    "only_one": "only by this rule",
    "only_other": "only by the other",
    "other_step": "step in the other",
    "own_fewest": "own, fewest",
    "parts": "ids of its parts",
    "pass": "where the pair lies",
    "passed_count": "its count",
    "passed_pair": "passed over",
    "rest": "begins with",
    "runner_up_pair": "runner-up",
    "size": "vocabulary size",
    "special": "special token",
    "step_back": "tokens left out",
    "taken": "where it was merged",
    "times_second": "times runner-up",
    "token_text": "token",
    "vocabulary": "vocabulary size",
    "witness": "text with both",
    "won_at": "merged at step",
}


def heading_of(column: str) -> str:
    """Return the heading of a column for people.

    >>> heading_of("won_at"), heading_of("share_in_use"), heading_of("after_step")
    ('merged at step', 'in use', 'after step')
    """
    return HEADINGS.get(column) or (MEASURES[column].heading if column in MEASURES else column.replace("_", " "))
