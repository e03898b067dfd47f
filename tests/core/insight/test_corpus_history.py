"""Tests of values computed from boundary ranks: they equal a plain recount at any step."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain, groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.insight.pairs import changes_of_leader, race, runners_up_never_merged, ties
from bpe_core.insight.ranked_words import FileCounts, RankedWords, contributions
from bpe_core.insight.side_by_side import parallel_cuts
from bpe_core.insight.table_comparison import compare_tables
from bpe_core.insight.token_life import token_life
from bpe_core.measures.size_curves import first_halvable, renyi_efficiency, size_curves
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import PATTERN_CUT
from bpe_core.segmenting.compiled_ranks import CompiledRanks
from tests.core.learning import all_columns, tokens_of_word
from tests.core.random_training import CHARACTER_TIES, merge_tables, recipes, words
from tests.core.specified_encoder import specified_ranks

State = list[tuple[list[int], int]]


def states(table: WordTable, history: History) -> list[State]:
    """Return the words of the corpus as token ids before the first merge and after each merge.

    The merges are made one after the other, as the definition of byte-pair encoding says.
    """
    state = [(history.alphabet.symbols_of(word, history.recipe), count) for word, count in table]
    all_states = [state]
    for merge in history:
        state = [(reference.join(word, (merge.left, merge.right), merge.index), count) for word, count in state]
        all_states.append(state)
    return all_states


def count_of(token: int, state: State) -> int:
    return sum(word.count(token) * weight for word, weight in state)


@st.composite
def trained_runs(draw: st.DrawFn) -> tuple[WordTable, History]:
    table, recipe = draw(words()), draw(recipes())
    return table, reference.train(table, recipe)


@given(trained_runs(), st.data())
def test_the_history_of_a_token_matches_a_plain_python_recount(
    run: tuple[WordTable, History], data: st.DataObject
) -> None:
    table, history = run
    ranked = RankedWords.of(table, history)
    used = {id for state in states(table, history) for word, _ in state for id in word}
    token = data.draw(st.sampled_from(sorted(used)))
    at = data.draw(st.integers(0, len(history)))
    life = token_life(ranked, token, at)
    counts = [count_of(token, state) for state in states(table, history)]
    assert [life.count_at(k) for k in range(len(history) + 1)] == counts
    assert life.count == counts[at]
    assert life.peak == max(counts)
    assert life.is_scaffold == (life.is_born and counts[at] == 0)
    made_from_it = [merge.index for merge in history.first(at) if token in (merge.left, merge.right)]
    assert list(life.children) == made_from_it
    if history.alphabet.symbols[token].merges if token < len(history.alphabet) else True:
        occurrences = {i: word.count(token) * weight for i, (word, weight) in enumerate(states(table, history)[at])}
        assert dict(life.words.words) == {table.word(i): count for i, count in occurrences.items() if count}


@given(trained_runs(), st.data())
def test_counts_of_competing_pairs_match_a_plain_python_recount(
    run: tuple[WordTable, History], data: st.DataObject
) -> None:
    table, history = run
    counted = [Counter(reference.count_pairs(state)) for state in states(table, history)]
    met = sorted({pair for counts in counted for pair in counts})
    symbols = history.alphabet.symbols
    able = [pair for pair in met if all(id >= len(symbols) or symbols[id].merges for id in pair)]
    if not able:
        return
    chosen = data.draw(st.lists(st.sampled_from(able), min_size=1, max_size=4, unique=True))
    runners = race(RankedWords.of(table, history), chosen)
    for runner in runners:
        assert runner.counts_at(np.arange(len(history) + 1)).tolist() == [counts[runner.pair] for counts in counted]
        won = next((merge.step for merge in history if (merge.left, merge.right) == runner.pair), None)
        assert runner.won_at == won
        for cut in runner.losses_to_others:
            assert counted[cut.step - 1][runner.pair] - counted[cut.step][runner.pair] == cut.lost > 0
    leader = None
    for k, counts in enumerate(counted):
        leader = next((change.leader for change in changes_of_leader(runners) if change.at == k), leader)
        best = max(counts[pair] for pair in chosen)
        equal = [i for i, pair in enumerate(chosen) if counts[pair] == best]
        assert leader == (min(equal, key=lambda i: runners[i].won_at or np.inf) if best else None)


@given(trained_runs())
def test_the_counts_that_words_contribute_add_up_to_the_count_of_a_merge(run: tuple[WordTable, History]) -> None:
    table, history = run
    ranked = RankedWords.of(table, history)
    everything = states(table, history)
    for merge in history:
        paid = contributions(ranked, merge.step)
        assert paid.count == merge.count
        for paid_word in paid.words:
            word, weight = everything[merge.step - 1][paid_word.word]
            times = list(pairwise(word)).count((merge.left, merge.right))
            assert (paid_word.times, paid_word.count) == (times, times * weight)


@given(words(), words(), recipes())
def test_the_counts_of_a_merge_in_single_files_add_up_to_its_total_count(
    first: WordTable, second: WordTable, recipe: Recipe
) -> None:
    merged = WordTable.merged([first, second])
    history = reference.train(merged, recipe)
    ranked = RankedWords.of(merged, history)
    files = FileCounts({"first": first, "second": second})
    for merge in history:
        paid = contributions(ranked, merge.step)
        assert sum(files.split(paid, ranked).values()) == paid.count


@given(trained_runs(), st.data())
def test_counts_of_tokens_that_occur_only_inside_other_tokens_match_a_plain_python_recount(
    run: tuple[WordTable, History], data: st.DataObject
) -> None:
    table, history = run
    at = data.draw(st.integers(0, len(history)))
    state = states(table, history)[at]
    ranked = RankedWords.of(table, history)
    everything = range(len(history.alphabet) + at)
    assert ranked.token_counts(at).tolist() == [count_of(token, state) for token in everything]
    occurring = {token for word, _ in state for token in word}
    merged = range(len(history.alphabet), len(history.alphabet) + at)
    gone = [token for token in merged if token not in occurring]
    assert [token for token in merged if token_life(ranked, token, at).is_scaffold] == gone
    scaffolds = size_curves(table, history, ranked=ranked).scaffolds
    assert scaffolds is not None
    assert scaffolds[at] == len(gone)


@given(trained_runs(), words(), st.sampled_from([1.0, 2.0, 2.5, 3.0]))
def test_size_curves_match_a_plain_python_recount(
    run: tuple[WordTable, History], held_out: WordTable, power: float
) -> None:
    table, history = run
    for text in (table, held_out):
        spelled = {id for word, _ in text for id in _symbols(word, history)}
        if -1 in spelled:
            continue  # the alphabet has no symbol for the marker in the held-out text
        curves = size_curves(text, history, power=power)
        for k, state in enumerate(states(text, history)):
            counts = Counter(token for word, weight in state for token in word for _ in (weight,))
            counts = Counter({token: count_of(token, state) for token in counts})
            assert curves.tokens[k] == counts.total()
            assert curves.used[k] == len(counts)
            assert curves.renyi_efficiency[k] == pytest.approx(renyi_by_formula(counts, power), abs=1e-9)
            assert curves.renyi_efficiency[k] == renyi_efficiency(counts.values(), power)  # to the last digit
        assert curves.bytes == sum(len(word) * weight for word, weight in text)


def _symbols(word: bytes, history: History) -> list[int]:
    try:
        return history.alphabet.symbols_of(word, history.recipe)
    except KeyError:
        return [-1]


def renyi_by_formula(counts: Counter[int], power: float) -> float:
    shares = [count / counts.total() for count in counts.values()]
    if len(shares) < 2:
        return 0.0
    if power == 1.0:
        return -sum(share * math.log(share) for share in shares) / math.log(len(shares))
    return math.log(math.fsum(share**power for share in shares)) / (1 - power) / math.log(len(shares))


@pytest.mark.parametrize(
    ("tokens", "power", "published"),
    [
        # The output of tokenization-scorer 1.1.8 for the example of its README (which uses power 3).
        ("pick @@ed pick @@l @@ed pick @@les", 3.0, 0.8031528501359657),
        ("pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s", 3.0, 0.9105681923824472),
        ("pick @@ed pick @@l @@ed pick @@les", 2.5, 0.8265064834225245),
        ("pick @@ed pick @@l @@ed pick @@les", 2.0, 0.8539096242533448),
    ],
)
def test_the_renyi_efficiency_equals_the_value_of_the_published_formula(
    tokens: str, power: float, published: float
) -> None:
    assert renyi_efficiency(Counter(tokens.split()).values(), power) == pytest.approx(published, rel=1e-12)


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60), st.integers(1, 30), st.data())
def test_more_training_does_not_change_the_first_vocabulary_size_that_can_be_halved_with_few_more_tokens(
    given: list[int], base: int, data: st.DataObject
) -> None:
    sizes, tokens = np.arange(base, base + len(given)), np.array(sorted(given, reverse=True))
    half_size = first_halvable(sizes, tokens)
    nearly = [
        at
        for at, size in enumerate(sizes.tolist())
        if size >= 2 * base and np.interp(size / 2, sizes, tokens) < 1.05 * tokens[at]
    ]
    assert half_size == (nearly[0] if nearly else None)
    if half_size is not None:
        later = data.draw(st.integers(half_size + 1, len(given)))
        assert first_halvable(sizes[:later], tokens[:later]) == half_size


@given(trained_runs())
def test_listed_ties_match_the_ties_found_by_a_plain_python_recount(run: tuple[WordTable, History]) -> None:
    table, history = run
    book = reference.TokenBook(history.alphabet)
    expected = []
    for merge, state in zip(history, states(table, history), strict=False):
        counts = reference.allowed(reference.count_pairs(state), book, history.recipe)
        rivals = [pair for pair, count in counts.items() if count == merge.count]
        if len(rivals) > 1:
            expected.append(merge.step)
        book.add((merge.left, merge.right))
    listed = ties(history)
    assert [tie.step for tie in listed] == expected
    rank_of = {(merge.left, merge.right): merge.step for merge in history}
    for tie in listed:
        assert tie.loser_step == rank_of.get(tie.loser)
        assert tie.loser_step is None or tie.loser_step > tie.step


@given(words(), recipes())
def test_tables_trained_with_two_tie_rules_first_differ_at_a_tie(table: WordTable, recipe: Recipe) -> None:
    first = reference.train(table, recipe)
    for rule in CHARACTER_TIES:
        second = reference.train(table, recipe.with_changes(ties=rule))
        comparison = compare_tables(first, second)
        if comparison.first is None:
            assert len(first) == len(second)
            assert comparison.overlap.jaccard == 1.0
        else:
            assert comparison.parted is not None
            assert comparison.parted[0] != comparison.parted[1]
            assert comparison.first + 1 in [tie.step for tie in ties(first)] + [tie.step for tie in ties(second)]
        assert comparison.common == len(set(written(first)) & set(written(second)))


def test_ranges_of_a_text_that_two_tie_rules_split_differently_are_found() -> None:
    table = WordTable.from_counts({"abc": 2})
    first = reference.train(table, Recipe.preset("words", merges=1, ties="smallest-text"))
    second = reference.train(table, Recipe.preset("words", merges=1, ties="largest-text"))
    spans, other_spans = Tokenizer(first).spans("abc"), Tokenizer(second).spans("abc")
    assert [span[:2] for span in spans] == [(0, 2), (2, 3)]
    assert [span[:2] for span in other_spans] == [(0, 1), (1, 3)]
    tokens = [Tokenizer(history).segmentation("abc").tokens(1) for history in (first, second)]
    assert parallel_cuts(tokens, 3).stretches.tolist() == [[0, 3]]


@given(trained_runs())
def test_the_list_of_never_merged_pairs_counts_how_often_each_pair_was_the_runner_up(
    run: tuple[WordTable, History],
) -> None:
    _, history = run
    merged = {(merge.left, merge.right) for merge in history}
    second = Counter(merge.runner_up for merge in history if merge.runner_up and merge.runner_up not in merged)
    pairs = runners_up_never_merged(history)
    assert {pair.pair: pair.times for pair in pairs} == dict(second)
    for pair in pairs:
        merge = list(history)[pair.closest_step - 1]
        assert merge.runner_up == pair.pair
        assert pair.missed_by == merge.count - merge.runner_up_count


@given(trained_runs() | st.tuples(words(), merge_tables()))
def test_kernels_and_the_specification_compute_equal_boundary_ranks_of_words(run: tuple[WordTable, History]) -> None:
    table, history = run
    ranked = RankedWords.of(table, history)
    assert CompiledRanks(history).of(ranked.symbols).tolist() == ranked.ranks.tolist()
    assert (ranked.ranks[ranked.symbols < 0] == PATTERN_CUT).all()
    assert specified_ranks(ranked.symbols, history).tolist() == ranked.ranks.tolist()
    by_themselves = [
        ranked.merges.merged(symbols).ranks for symbols in _parts_of_known_symbols(ranked.symbols.tolist())
    ]
    assert [rank for rank in ranked.ranks.tolist() if rank != PATTERN_CUT] == list(chain(*by_themselves))


def _parts_of_known_symbols(symbols: list[int]) -> list[list[int]]:
    return [list(part) for known, part in groupby(symbols, key=lambda symbol: symbol >= 0) if known]


@given(trained_runs())
def test_each_merge_decreases_the_token_count_of_the_corpus_by_the_number_of_joined_pairs(
    run: tuple[WordTable, History],
) -> None:
    table, history = run
    ranked = RankedWords.of(table, history)
    left = [history.tokens_at_start, *all_columns(history)["tokens_left"]]
    assert ranked.joined.tolist() == [a - b for a, b in pairwise(left)]
    everything = states(table, history)
    for k in (0, len(history) // 2, len(history)):
        for word, (tokens, _) in enumerate(everything[k]):
            if all(id >= len(history.alphabet) or history.alphabet.symbols[id].merges for id in tokens):
                assert tokens_of_word(ranked, word, k) == tokens
