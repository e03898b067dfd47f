"""The subjects of questions, in the order in which people read them."""

from __future__ import annotations

from typing import Literal, get_args

Subject = Literal[
    "this place", "this token", "this step", "the vocabulary", "the corpus", "other tokenizers"
]  # a place is between two letters of a text
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
