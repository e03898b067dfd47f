"""Tests of the exercise sheet: its solutions equal the results of the reference code."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

import resources
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.bpe import reference as bpe
from bpe_core.methods.mingram import reference as mingram
from bpe_core.methods.unigram import reference as unigram
from bpe_core.methods.wordpiece import reference as wordpiece
from bpe_core.recipes.recipe import Recipe

SHEET = (Path(resources.__file__).parent / "lessons" / "exercises.md").read_text(encoding="utf-8")
SOLUTIONS = dict(
    re.findall(r"^\*\*(\d+)\.\*\* (.+?)(?=\n\n|\Z)", SHEET.partition("## Solutions")[2], re.MULTILINE | re.DOTALL)
)
CORPUS = {"cat": 6, "cart": 4, "art": 5, "tart": 3, "cats": 2}
WORDS = WordTable.from_counts(CORPUS)
BY_SCORE = Recipe.preset("wordpiece", merges=4, min_frequency=1)
PIECES = dict(c="1/8", a="3/16", r="1/16", t="1/8", ar="1/8", car="1/8", art="1/4")
TOKENS = {"cart": 8, "car": 4, "art": 5}


def texts(history: History, ids: list[int]) -> str:
    return " ".join(TokenTexts.of(history).text[id] for id in ids)


def merges(history: History) -> list[tuple[str, int]]:
    return [(texts(history, [step.left, step.right]), step.count) for step in history]


def ways(word: str, pieces: dict[str, str]) -> dict[str, Fraction]:
    """Return all ways to split a word into pieces, each with its probability, the most probable first."""
    names = list(pieces)
    ids = {tuple(map(ord, name)): id for id, name in enumerate(names)}
    ways_found = {
        " ".join(names[id] for id in path): math.prod((Fraction(pieces[names[id]]) for id in path), start=Fraction(1))
        for path in unigram.paths(tuple(map(ord, word)), ids)
    }
    return dict(sorted(ways_found.items(), key=lambda way: -way[1]))


def bits(corpus: dict[str, int], pieces: dict[str, str]) -> Fraction:
    costs = (count * math.log2(1 / max(ways(word, pieces).values())) for word, count in corpus.items())
    return Fraction(sum(costs)).limit_denominator(1000)


def expected_texts() -> dict[str, list[str]]:
    """Return a dictionary from each exercise to the numbers and texts that its solution must contain."""
    words = bpe.train(WORDS, Recipe.preset("words", merges=4))
    alphabet = words.alphabet
    pairs = bpe.count_pairs([(alphabet.symbols_of(word, words.recipe), count) for word, count in WORDS])
    counted = {texts(words, list(pair)): count for pair, count in pairs.items()}
    by_score = wordpiece.train(WORDS, BY_SCORE)
    by_count = wordpiece.train(WORDS, BY_SCORE.with_changes(wordpiece_rule="count"))
    symbols = [(by_score.alphabet.symbols_of(word, BY_SCORE), count) for word, count in WORDS]
    singles = wordpiece.count_symbols(symbols)
    scores = {
        texts(by_score, list(pair)): wordpiece.score(pair, count, singles)
        for pair, count in bpe.count_pairs(symbols).items()
    }
    best = max(scores, key=lambda pair: scores[pair])
    rest = {gone: bits(TOKENS, {k: v for k, v in PIECES.items() if k != gone}) for gone in ("art", "car")}
    spent = bits(TOKENS, PIECES)
    model = dict(a="1/2", b="1/4", ab="1/4")
    expected = dict.fromkeys(model, Fraction(0))
    for word, count in {"ab": 12, "aba": 6}.items():
        ways_of_word = ways(word, model)
        for way, chance in ways_of_word.items():
            for piece in way.split():
                expected[piece] += count * chance / sum(ways_of_word.values())
    cart = ways("cart", PIECES)
    ids = {tuple(map(ord, name)): id for id, name in enumerate(PIECES)}
    logs = {id: math.log(Fraction(share)) for id, share in enumerate(PIECES.values())}
    fewest = [mingram.fewest_tokens(tuple(map(ord, "cart"[:stop])), ids, logs)[1] for stop in range(1, 5)]
    return {
        "1": [f"`{pair}` {counted[pair]} times" for pair in ("c a", "a t", "a r", "r t")],
        "2": [f"`{pair}` {count}" for pair, count in merges(words)],
        "3": [f"`{texts(words, bpe.encode_word(word, words, at=3))}`" for word in (b"carts", b"star")],
        "4": [f"`{texts(by_score, [id])}` {count}" for id, count in singles.items()],
        "5": [f"`{best}`", f"= {scores[best]}, the most", f"`##r ##t` scores 12 / (12 × 20) = {scores['##r ##t']}"],
        "6": [f"First `{merges(by_count)[0][0]}`, and then `{merges(by_count)[1][0]}`."],
        "7": [f"`{texts(by_score, wordpiece.encode_word(word, by_score))}`" for word in ("carts", "cast", "stack")],
        "8": [f"{len(cart)} ways", *(f"`{way}`" for way in cart), f"= {cart['c ar t']}"],
        "9": [
            ", ".join(str(max(ways("cart"[:stop], PIECES).values())) for stop in range(1, 5)),
            f"way is `{next(iter(cart))}`",
        ],
        "10": [f"= {spent} bits"],
        "11": [f"5 times): {rest['art'] - spent} bits", f"stays: {rest['car'] - spent} bits", "drop `car`"],
        "12": [
            ", ".join(f"`{piece}` {count}" for piece, count in expected.items()),
            ", ".join(f"`{piece}` {count / sum(expected.values())}" for piece, count in expected.items()),
        ],
        "13": [
            ", ".join(str(len(path)) for path in fewest),
            f"`{' '.join(list(PIECES)[id] for id in fewest[-1])}` is taken",
        ],
    }


def test_tables_of_the_exercise_sheet_show_the_data_from_its_solutions() -> None:
    def row(title: str) -> list[str]:
        line = next(line for line in SHEET.splitlines() if line.startswith(f"| {title} |"))
        return [cell.strip(" `") for cell in line.strip("|").split("|")[1:]]

    assert dict(zip(row("word"), map(int, row("times")), strict=True)) == CORPUS
    assert dict(zip(row("piece"), row("probability"), strict=True)) == PIECES
    assert sum(map(Fraction, PIECES.values())) == 1


@pytest.mark.parametrize(("number", "solutions"), expected_texts().items())
def test_each_solution_of_the_exercise_sheet_matches_the_reference(number: str, solutions: list[str]) -> None:
    for part in solutions:
        assert part in " ".join(SOLUTIONS[number].split())


def test_every_exercise_of_the_sheet_has_a_solution() -> None:
    asked = re.findall(r"^\*\*(\d+)\.\*\*", SHEET.partition("## Solutions")[0], re.MULTILINE)
    assert asked == list(SOLUTIONS) == list(expected_texts())
