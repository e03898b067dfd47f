"""Tests of the ways to split a word with one vocabulary.

The ways must be the same as in a plain list of all ways, and as in other libraries.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random, seed
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import encode

from bpe_core.command_line.main import run
from bpe_core.errors import BpeError
from bpe_core.figures.lattice import LatticeFigure
from bpe_core.figures.painter import draw
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.dropout import Dropout
from bpe_core.insight.ways import DRAWN, Ways, probabilities, ways_of
from bpe_core.insight.ways_of_corpus import CorpusLattices, drawn_tokens
from bpe_core.insight.word_lattice import WordLattice, token_symbols
from bpe_core.methods.bpe.reference import encode_word_greedily
from bpe_core.methods.kit.lattices import edges_of, lengths_of
from bpe_core.methods.kit.ways import Way
from bpe_core.questions import ask
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.reference import ways as plain
from bpe_core.studies.making import train
from bpe_core.studies.study import Study
from tests.shared import ROOT

OWN = Path(__file__).parents[1] / "texts"
TEXT = (OWN / "prose.txt").read_text(encoding="utf-8")
SURE = 4.5  # standard errors; a correct sampler exceeds this distance once in 150,000 draws
DRAWS = 4_000


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, int], tuple[int, int]], dict[tuple[int, ...], int]]:
    """Draw a few merges, the symbols of each token, and a word. The word and the tokens use only two letters."""
    symbols: dict[tuple[int, ...], int] = {(1,): 1, (2,): 2}
    spelled: dict[int, tuple[int, ...]] = {1: (1,), 2: (2,)}
    merges = dict[tuple[int, int], tuple[int, int]]()
    for rank in range(draw(st.integers(0, 5))):
        known = sorted(spelled)
        pair = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        both = spelled[pair[0]] + spelled[pair[1]]
        if pair not in merges and both not in symbols:
            merges[pair], spelled[rank + 3] = (rank, rank + 3), both
            symbols[both] = rank + 3
    return draw(st.lists(st.sampled_from([1, 2]), min_size=1, max_size=6)), merges, symbols


@given(tables(), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.randoms(use_true_random=False))
def test_the_lattice_of_a_word_gives_the_same_splits_and_probabilities_as_plain_python(
    table: Any, left_out: float, chance: Random
) -> None:
    word, merges, tokens = table
    lattice = WordLattice(word, [edges_of(word, here, lengths_of(tokens), tokens) for here in range(len(word))])
    ways = plain.all_ways(word, tokens)
    assert lattice.ways == len(ways)
    assert len(lattice.best([-1.0] * 9)) == plain.fewest(word, tokens)
    probability = {id: chance.uniform(0.01, 1.0) for id in range(9)}
    scores = [math.log(probability[id]) for id in range(9)]
    for weights, chances in ((scores, probability), ([0.0] * 9, dict.fromkeys(range(9), 1.0))):
        weighed = plain.weighted(word, tokens, chances)
        assert sum(weighed.values()) == pytest.approx(1)
        assert weighed[lattice.best(weights)] == pytest.approx(max(weighed.values()))
        assert lattice.drawn(weights, chance) in weighed
        assert lattice.log_of_all(weights) == pytest.approx(
            math.log(sum(math.prod(chances[id] for id in way) for way in ways))
        )
        shares: Counter[tuple[int, int]] = Counter()
        for way, share in weighed.items():
            start = 0
            for id in way:
                shares[start, id] += share  # type: ignore[assignment]
                start += next(len(symbols) for symbols, token in tokens.items() if token == id)
        assert lattice.shares(weights) == pytest.approx(dict(shares))
    dropped = Dropout(lambda pair: merges.get((pair >> 32, pair & 0xFFFFFFFF)), left_out)
    expected = plain.dropout(word, merges, Fraction(left_out))
    assert dropped.outcomes(word) == pytest.approx({way: float(way_chance) for way, way_chance in expected.items()})
    assert sum(expected.values()) == 1
    assert dropped.drawn(word, chance) in expected


def distance_from_expected(times: Counter[Any], chances: dict[Any, float]) -> float:
    """Compare how often each way was drawn with the expected numbers, by a chi-square test.

    Return the distance in standard errors.
    """
    draws, groups = times.total(), list[tuple[float, int]]()
    assert times.keys() <= chances.keys()
    rest = [0.0, 0]
    for way, share in chances.items():
        if share * draws >= 5:
            groups.append((share * draws, times[way]))
        else:
            rest = [rest[0] + share * draws, rest[1] + times[way]]
    if rest[0] >= 5:
        groups.append((rest[0], int(rest[1])))
    freedom = len(groups) - 1
    assert freedom > 3
    statistic = sum((observed - wanted) ** 2 / wanted for wanted, observed in groups)
    return (statistic - freedom) / math.sqrt(2 * freedom)


ALONE = ["l o", "lo w", "e s", "es t", "low est"]  # no two of these pairs make the same token
PAIRS = [*ALONE, "w est", "s t", "o w", "w es"]


def table_of(pairs: list[str]) -> History:
    ids, rows = {chr(byte): byte for byte in range(256)}, []
    for number, pair in enumerate(pairs):
        left, right = pair.split()
        rows.append((ids[left], ids[right]))
        ids[left + right] = 256 + number
    return History.from_pairs(Recipe.preset("gpt2", merges=len(rows)), Alphabet.of_bytes(), rows)


def test_random_splits_occur_as_often_as_their_probabilities_predict() -> None:
    history, word = table_of(PAIRS), b"lowest"
    scores = [-float(id % 7) for id in range(history.index_count)]
    ways, chance = Ways(history, scores, 0.4), Random(1)
    listed = {
        "sampled": plain.weighted(
            [*word], token_symbols(history), {id: math.exp(value) for id, value in enumerate(scores)}
        ),
        "uniform": plain.weighted([*word], token_symbols(history), dict.fromkeys(range(history.index_count), 1.0)),
        "dropout": ways.dropout_covers(word),
    }
    for way in DRAWN:
        times, chances = Counter(ways.draw(way, word, chance) for _ in range(DRAWS)), listed[way]
        assert chances is not None
        assert distance_from_expected(times, chances) < SURE
        average = sum(len(ids) * value for ids, value in chances.items())
        assert ways.expected(way, word) == pytest.approx(average)
        for ids, value in chances.items():
            log = ways.log_probability(way, word, ids)
            assert log is not None
            assert math.exp(log) == pytest.approx(value)


def test_bpe_dropout_draws_each_split_as_often_as_subword_nmt_does() -> None:
    """No pair occurs twice in the word, because subword-nmt joins all occurrences of a pair at one step."""
    history = table_of(PAIRS)
    names, codes = Study(history).names.text, {tuple(pair.split()): rank for rank, pair in enumerate(PAIRS)}
    chances = Ways(history, dropout=0.3).dropout_covers(b"lowest") or {}
    seed(1)
    theirs = Counter(encode("lowest", codes, {}, None, "@@", (0, 1), {}, dropout=0.3) for _ in range(DRAWS))
    assert (
        distance_from_expected(theirs, {tuple(names[id] for id in ids): chance for ids, chance in chances.items()})
        < SURE
    )


def test_bpe_dropout_draws_each_split_as_often_as_the_tokenizers_library_if_no_pairs_compete() -> None:
    """If pairs compete, the tokenizers library skips fewer merges than our dropout. The manual has an example."""
    tokenizers = pytest.importorskip("tokenizers")
    whole = list[tuple[float, float]]()
    for pairs in (ALONE, PAIRS):
        history = table_of(pairs)
        merges = [(left, right) for left, right in (pair.split() for pair in pairs)]
        texts = dict.fromkeys([*"lowest", *(part for pair in merges for part in (*pair, "".join(pair)))])
        model = tokenizers.models.BPE(vocab={text: at for at, text in enumerate(texts)}, merges=merges, dropout=0.3)
        theirs = Counter(tuple(tokenizers.Tokenizer(model).encode("lowest").tokens) for _ in range(DRAWS))
        names, chances = Study(history).names.text, Ways(history, dropout=0.3).dropout_covers(b"lowest") or {}
        ours = {tuple(names[id] for id in ids): share for ids, share in chances.items()}
        whole.append((theirs[("lowest",)] / DRAWS, ours[("lowest",)]))
        if pairs is ALONE:
            assert distance_from_expected(theirs, ours) < SURE
    # The library draws without a seed: 0.04 is five standard deviations of so many draws.
    for measured, (drawn, exact) in zip(shares_in_manual(), whole, strict=True):
        assert measured == pytest.approx((drawn, exact), abs=0.04)
        assert measured[1] == pytest.approx(exact, abs=0.0005), "the rule's share is not random"


def shares_in_manual() -> list[tuple[float, float]]:
    """Return for each list of merges in the manual the library's share of `lowest` as one token, and the rule's."""
    page = " ".join((ROOT / "resources" / "manual" / "ask.md").read_text(encoding="utf-8").split())
    assert all(f"`{pair.replace(' ', '+')}`" in page for pair in PAIRS)
    found = re.findall(r"one token in ([\d.]+) % of the draws\. The rule gives ([\d.]+) %", page)
    return [(float(library) / 100, float(rule) / 100) for library, rule in found]


def pieces_of(study: Study, ids: tuple[int, ...]) -> bytes:
    return b"".join(study.inside.by_index.tokenizer.token_bytes(id) for id in ids)


@pytest.mark.parametrize("preset", [name for name in PRESETS if Recipe.preset(name).method not in ("gage", "parity")])
def test_every_way_to_split_a_word_gives_tokens_that_spell_the_word(preset: str) -> None:
    has_long_words = Recipe.preset(preset).pattern in ("none", "superwords", "word-runs")
    text = TEXT[:300] if has_long_words else TEXT
    study = train(text, preset, merges=30)
    history, words = study.history, study.inside.words()
    ways = ways_of(history, probabilities(history, study.inside.cut().counts(len(history))), 0.2)
    sums = defaultdict[Way, float](float)
    for word, count in words:
        own = ways.own(word)
        for way in ways.known:
            ids = ways.draw(way, word, Random(1)) if way in DRAWN else ways.cut(way, word)
            assert pieces_of(study, ids) == pieces_of(study, own)
            sums[way] += count * (ways.expected(way, word) or 0 if way in DRAWN else len(ids))
        if history.only_joins:
            assert ways.cut("longest", word) == tuple(encode_word_greedily(word, history))
        assert len(ways.cut("fewest", word)) <= min(len(own), len(ways.cut("longest", word)))
        if history.scores is not None and preset == "unigram":
            assert ways.cut("likeliest", word) == own
    lattices, scores = CorpusLattices(words, history), ways.scores or ()
    assert lattices.fewest(history) == sums["fewest"]
    assert lattices.likeliest(history, scores) == pytest.approx(sums["likeliest"], rel=0.002)
    assert lattices.sampled(history, scores) == pytest.approx(sums["sampled"], rel=1e-4)
    assert lattices.uniform(history) == pytest.approx(sums["uniform"], rel=1e-4)
    if "dropout" in ways.known and text == TEXT:
        tokens, off = drawn_tokens(words, ways, Random(1)) or (0, 0)
        assert abs(tokens - sums["dropout"]) < 2.5 * off


def test_the_most_probable_split_is_the_same_as_in_the_tokenizers_library() -> None:
    study = train(TEXT, "gpt2", merges=200)
    ways = ways_of(study.history, probabilities(study.history, study.inside.cut().counts(200)))
    names, scores = study.inside.by_index.texts.text, ways.scores or ()
    # Each byte as a character, because the library knows no bytes.
    symbols = {id: chr(0x4E00 + id) for id in range(256)}
    spelled = [
        "".join(symbols[byte] for byte in study.inside.by_index.tokenizer.token_bytes(id)) for id in range(len(names))
    ]
    theirs = tokenizers.models.Unigram([*zip(spelled, scores, strict=True)])
    for word, _ in study.inside.words():
        ours = ways.cut("likeliest", word)
        other = [token.id for token in theirs.tokenize("".join(symbols[byte] for byte in word))]
        assert sum(scores[id] for id in ours) == pytest.approx(sum(scores[id] for id in other))


def test_the_ways_question_accepts_texts_and_corpora_and_refuses_wrong_arguments() -> None:
    study = train(TEXT, "gpt2", merges=60)
    answer = ask(study, "ways", text="the keeper reads the lantern", seed=3, draws=20)
    rows = answer.table.records()
    assert {row["way"] for row in rows} == {*ways_of(study.history, [0.0] * 400).known}
    assert all(row["split"].replace(" | ", "").replace("␣", " ") == "the keeper reads the lantern" for row in rows)
    assert sum(row["drawn"] or 0 for row in rows if row["way"] == "uniform") == 20
    assert isinstance(answer.figure, LatticeFigure)
    assert not answer.figure.is_empty
    assert draw(answer).count("<rect") > len(answer.figure.tokens)
    assert ask(study, "ways", text="the keeper reads the lantern", seed=3, draws=20).table.records() == rows
    of_corpus = ask(study, "ways")
    assert of_corpus.columns["way"][0] == "own"
    assert of_corpus.columns["tokens"][0] == int(study.inside.cut().counts(60).sum())
    alone = Study(study.history)
    assert "likeliest" not in ask(alone, "ways", text="the").columns["way"]
    for wrong, message in (
        ({}, "Name a text to split"),
        ({"text": "the", "dropout": 1.5}, "from 0 to 1"),
        ({"text": "the", "draws": 0}, "at least once"),
        ({"text": "the", "word": 2}, "no word 2"),
    ):
        with pytest.raises(BpeError, match=message):
            ask(alone, "ways", **wrong)


def test_the_ways_command_takes_the_table_as_its_first_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "merges.csv"
    train(TEXT, "gpt2", merges=60).save(path)
    assert run(["ways", str(path), "the keeper", "--seed", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"][0]["way"] == "own"
    assert report["rows"][0]["split"].replace(" | ", "") == "the␣keeper"
    assert run(["ways", str(path), "--corpus", str(OWN / "prose.txt")]) == 0
    assert "The fewest tokens that are possible" in capsys.readouterr().out
