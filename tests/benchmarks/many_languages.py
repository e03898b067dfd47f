"""A generator of random texts in many languages, with long words like those in scripts without spaces.

Long words are made letter by letter. Each letter is one that follows the previous three letters somewhere in
a real text. So pairs of letters are as frequent as in real languages, but words seldom occur twice. Between
the long words are short words from the real text.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

SEED = 16
CONTEXT = 3  # characters
LONG_WORDS = 1_100_000
SHORT_WORDS = 7  # short words for each long one
MEDIAN_LENGTH, SPREAD, LONGEST = 16, 0.75, 100  # of long words, in characters


def make(source: Path, made: Path, long_words: int = LONG_WORDS) -> None:
    """Write a random text, made from the text `source`, to the file `made`. Equal sources give equal texts."""
    random = np.random.default_rng(SEED)
    words = ["".join(filter(str.isalpha, word)) for word in source.read_text(encoding="utf-8").split()]
    kept = np.array([word for word in words if word], object)
    lengths = np.clip(np.exp(random.normal(np.log(MEDIAN_LENGTH), SPREAD, long_words)), 2, LONGEST).astype(int)
    letters = np.array(list("".join(kept)))
    follows = _followers(letters)
    with made.open("w", encoding="utf-8") as file:
        for some in np.array_split(lengths, max(1, long_words // 20_000)):
            short = random.choice(kept, (len(some), SHORT_WORDS))
            for word, others in zip(_chain(random, letters, follows, some), short, strict=True):
                file.write(f"{word} {' '.join(others)}\n")


Followers = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _followers(letters: npt.NDArray[np.str_]) -> Followers:
    """Group the positions in a text by the letter at the position and the last few letters before it.

    Return the positions, sorted by their group. Also return the start and the size of the group of each position.
    """
    _, kinds = np.unique(letters, return_inverse=True)
    contexts = kinds.copy()
    for back in range(1, CONTEXT):
        contexts = contexts * (kinds.max() + 1) + np.roll(kinds, back)
    order = np.argsort(contexts, kind="stable")
    _, which, counts = np.unique(contexts, return_inverse=True, return_counts=True)
    return order, (np.cumsum(counts) - counts)[which], counts[which]


def _chain(
    random: np.random.Generator, letters: npt.NDArray[np.str_], followers: Followers, lengths: npt.NDArray[np.int64]
) -> list[str]:
    """Return random words. `lengths` has the length of each word. In each round, one letter is added to every word."""
    order, first, count = followers
    at = random.integers(len(letters), size=len(lengths))
    made = np.empty((len(lengths), LONGEST), letters.dtype)
    for i in range(int(lengths.max())):
        made[:, i] = letters[at]
        at = (order[first[at] + random.integers(count[at])] + 1) % len(letters)
    return ["".join(row[:length]) for row, length in zip(made, lengths.tolist(), strict=True)]
