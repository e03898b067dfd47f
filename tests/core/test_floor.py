"""Tests of floors (lower bounds of token counts): no vocabulary needs fewer tokens, and plain code checks the proof."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from io import StringIO
from itertools import combinations, count, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.asking import Answer
from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, FormatError, NothingToLearn, SizeDoesNotFit, TooLarge
from bpe_core.figures.figure import LineFigure
from bpe_core.history.alphabet import Alphabet
from bpe_core.insight.other_methods import other_methods_results
from bpe_core.insight.ways_of_corpus import fewest_tokens
from bpe_core.insight.witnesses import FloorTask
from bpe_core.methods.best import reference as reference
from bpe_core.methods.kit.floor import lattice as lattices
from bpe_core.methods.kit.floor.certificate import CHECKSUM, certificate, checksum
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.prices import FloorPrices
from bpe_core.methods.kit.floor.search import Budget, Guess, Search
from bpe_core.methods.kit.floor.vocabulary import ExchangeSearch, Vocabulary
from bpe_core.methods.kit.trainer import learn
from bpe_core.questions import floor as question
from bpe_core.questions.floor import Floor
from bpe_core.recipes.recipe import Recipe
from bpe_core.reference.floor import checked_floors, edges, floor
from bpe_core.studies.making import study_without_steps, train
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.support.progress import ALONE, Progress, Work
from tests.shared import ROOT

RECIPE = Recipe.preset("gpt2")
WORDS = st.dictionaries(st.text("ab", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=6)
TEXTS = ROOT / "tests" / "texts"


def lattice_of(counts: dict[str, int], longest: int = 8, limit: int = 0) -> Lattice:
    words = WordTable.from_counts(counts)
    return Lattice.of(words, Alphabet.of_bytes(), RECIPE, longest=longest, limit=limit)


def run_search(
    counts: dict[str, int],
    wanted: int,
    longest: int = 8,
    rounds: int = 60,
    limit: int | None = None,
    gap: float = 0.0,
    swaps: int = 20,
) -> Search:
    guess = Guess.of(WordTable.from_counts(counts), RECIPE, wanted, 8)
    search = Search(
        lattice_of(counts, 8, guess.worth(wanted) // 2 if limit is None else limit), wanted, guess,
        Budget(rounds=rounds, swaps=swaps, gap=gap),
    )  # fmt: skip
    for _ in search.steps():
        pass
    return search


def bytes_of_words(counts: dict[str, int]) -> dict[bytes, int]:
    return {word.encode(): count for word, count in counts.items()}


def tokens(counts: dict[str, int], pieces: set[bytes]) -> int:
    return reference.tokens(bytes_of_words(counts), pieces)


def all_pieces(counts: dict[str, int]) -> list[bytes]:
    return reference.all_pieces(bytes_of_words(counts))


@given(WORDS, st.integers(0, 5), st.data())
def test_a_floor_calculated_with_any_costs_of_pieces_is_at_most_the_token_count_of_any_vocabulary(
    counts: dict[str, int], wanted: int, data: st.DataObject
) -> None:
    words = [list(word.encode()) for word in counts]
    number = sum(1 for word in words for _ in edges(word, 8))
    prices = data.draw(st.lists(st.integers(0, 40), min_size=number, max_size=number))
    proof = dict(longest=8, limit=0, unit=8, other_tokens=0, words=words, counts=list(counts.values()))
    known = all_pieces(counts)
    chosen = data.draw(st.sets(st.sampled_from(known), max_size=wanted)) if known else set[bytes]()
    assert floor(proof, {"pieces": wanted, "prices": prices}) <= tokens(counts, chosen)


@settings(deadline=None, max_examples=30)
@given(WORDS, st.integers(0, 6), st.none() | st.integers(0, 12), st.data())
def test_the_floor_that_a_search_finds_is_at_most_the_token_count_of_any_vocabulary(
    counts: dict[str, int], wanted: int, limit: int | None, data: st.DataObject
) -> None:
    search = run_search(counts, wanted, limit=limit)
    spelled = search.lattice.spelled(np.flatnonzero(search.best.inside))
    bounds = zip(spelled.starts, spelled.starts[1:], strict=False)
    pieces = {bytes(spelled.symbols[first:stop].tolist()) for first, stop in bounds}
    assert len(pieces) == int(search.best.inside.sum()) <= wanted
    assert search.best.tokens == tokens(counts, pieces) >= search.floor.tokens
    known = all_pieces(counts)
    chosen = data.draw(st.sets(st.sampled_from(known), max_size=wanted)) if known else set[bytes]()
    assert search.floor.tokens <= tokens(counts, chosen)
    ((_, floor_tokens, proven),) = checked_floors(
        json.loads(json.dumps(certificate(search.lattice, [(256 + wanted, search.floor)])))
    )
    assert floor_tokens == proven if search.lattice.limit == 0 else floor_tokens <= proven


FEW_WORDS = st.dictionaries(st.text("ab", min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=3)


@settings(deadline=None, max_examples=40)
@given(FEW_WORDS, st.integers(0, 2), st.integers(0, 30))
def test_the_floor_stays_below_the_optimum_if_pieces_that_save_little_are_left_out(
    counts: dict[str, int], wanted: int, limit: int
) -> None:
    search = run_search(counts, wanted, rounds=40, limit=limit)
    assert search.floor.value <= search.floor.unit * reference.least(bytes_of_words(counts), wanted)


@given(FEW_WORDS, st.data())
def test_a_piece_saves_at_most_its_length_minus_one_tokens_at_each_occurrence(
    counts: dict[str, int], data: st.DataObject
) -> None:
    lattice, known = lattice_of(counts), all_pieces(counts)
    if not known:
        return
    number = data.draw(st.integers(0, len(lattice) - 1))
    piece = bytes(lattice.spelled(np.array([number])).symbols.tolist())
    others = data.draw(st.sets(st.sampled_from(known))) - {piece}
    assert tokens(counts, others) - tokens(counts, others | {piece}) <= lattice.saves[number]


def test_the_floor_accounts_for_pieces_that_the_search_leaves_out() -> None:
    """If the floor did not include these pieces, it could be higher than the token count of a real vocabulary."""
    lattice = lattice_of({"ab": 5}, limit=5)
    assert (len(lattice), lattice.left_out) == (0, 1)
    values = []
    for variant in (lattice, replace(lattice, left_out=0)):
        pricing = FloorPrices(variant, 1, 10, 2.0)
        pricing.round(1.0)
        values.append(pricing.best.tokens)
    assert values == [reference.least({b"ab": 5}, 1), 10] == [5, 10]


def test_a_search_that_leaves_out_pieces_with_small_savings_still_gives_a_valid_floor() -> None:
    counts = {"abcabc": 9, "abd": 4, "xyz": 2, "xy": 1}
    for limit in range(12):
        search = run_search(counts, 2, rounds=300, limit=limit)
        assert search.floor.tokens <= tokens(counts, {b"abc", b"abd"})
        assert search.lattice.left_out == 0 or len(search.lattice) < len(lattice_of(counts))


def test_merging_the_most_frequent_pair_first_can_need_more_tokens_than_the_optimum() -> None:
    counts = {"abc": 5, "ab": 4, "bcd": 5, "bc": 1, "cd": 4}
    search = run_search(counts, 2, rounds=300)
    assert search.guess.upper(2, 0) > search.best.tokens


def exact_floor(counts: dict[str, int], wanted: int, longest: int, *, whole: bool = False) -> float:
    """Solve the linear program for the lower bound with the solver HiGHS. Return its optimum.

    By default, a vocabulary may contain a fraction of a piece. If `whole` is true, it contains each piece completely or
    not at all. Then the optimum is the number of tokens of the best vocabulary.
    """
    highspy = pytest.importorskip("highspy")
    known: dict[bytes, int] = {}
    rows: list[tuple[str, int, int, bytes]] = []
    for word in counts:
        for begin, symbols in edges(word.encode(), longest):
            known.setdefault(bytes(symbols), len(known))
            rows.append((word, begin, begin + len(symbols), bytes(symbols)))
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    for _ in known:
        model.addVar(0, 1)
        if whole:
            model.changeColIntegrality(model.getNumCol() - 1, highspy.HighsVarType.kInteger)
    flows: dict[tuple[str, int], tuple[list[int], list[float]]] = {}

    def add_flow(word: str, begin: int, end: int) -> int:
        number: int = model.getNumCol()
        model.addVar(0, highspy.kHighsInf)
        model.changeColCost(number, counts[word])
        for node, sign in ((begin, 1.0), (end, -1.0)):
            columns, values = flows.setdefault((word, node), ([], []))
            columns.append(number)
            values.append(sign)
        return number

    for word in counts:
        for begin in range(len(word.encode())):
            add_flow(word, begin, begin + 1)
    for word, begin, end, piece in rows:
        number = add_flow(word, begin, end)
        model.addRow(-highspy.kHighsInf, 0, 2, np.array([number, known[piece]]), np.array([1.0, -1.0]))
    for (word, node), (columns, values) in flows.items():
        out = float(node == 0) - float(node == len(word.encode()))
        model.addRow(out, out, len(columns), np.array(columns), np.array(values))
    model.addRow(0, wanted, len(known), np.arange(len(known)), np.ones(len(known)))
    model.run()
    return float(model.getInfo().objective_function_value)


def words_of(text: str) -> dict[str, int]:
    return {
        word.decode(): count
        for word, count in WordTable.from_counts(train([text], "gpt2", merges=0).inside.own_words or ())
    }


@cache
def corpora() -> dict[str, tuple[dict[str, int], tuple[int, ...]]]:
    """Return corpora of five kinds, each with the vocabulary sizes for which the tests compute a floor."""
    random = Random(7)
    english = "".join(
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "resources" / "manual").glob("m*.md"))
    )
    code = "".join(
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "bpe_core" / "methods" / "kit").glob("*.py"))
    )
    chinese = "".join((TEXTS / f"{name}.txt").read_text(encoding="utf-8") for name in ("chinese", "japanese"))
    syllables = [consonant + vowel for consonant in "ptkslmnrvhj" for vowel in ("a", "e", "i", "o", "u", "aa", "ee")]
    endings = [case + more for case in ("ssa", "sta", "lla", "n", "ssani", "mme") for more in ("", "kin", "han")]
    long_words = {
        "".join(random.choices(syllables, k=random.randint(2, 4))) + random.choice(endings): random.randint(1, 40)
        for _ in range(120)
    }
    chance = {"".join(random.choices("abcdef", k=random.randint(1, 9))): random.randint(1, 30) for _ in range(800)}
    return {
        "English": (words_of(english[:6_000]), (120, 3_000)),
        "code": (words_of(code[:8_000]), (200, 1_500)),
        "long words": (long_words, (100, 3_000)),
        "Chinese": (words_of(chinese), (50, 1_000)),
        "random": (chance, (500, 1_500)),
    }


@pytest.mark.parametrize("place", [0, 1], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["English", "code", "long words", "Chinese", "random"])
def test_the_floor_is_within_a_thousandth_of_the_exact_optimum(kind: str, place: int) -> None:
    counts, sizes = corpora()[kind]
    wanted = sizes[place]
    optimum = exact_floor(counts, wanted, 8)
    search = run_search(counts, wanted, rounds=2_000, limit=0)
    value = search.floor.value / search.floor.unit
    assert len(search.floor.couples) or value <= optimum * (1 + 1e-6), (value, optimum)
    assert search.floor.tokens <= search.best.tokens
    assert value >= 0.999 * optimum or search.floor.tokens == search.best.tokens, (
        "it is nearer only by a part of a token"
    )


def words_of_dna(words: int, longest: int, seed: int) -> dict[str, int]:
    random = Random(seed)
    return dict(Counter("".join(random.choices("ACGT", k=random.randint(5, longest))) for _ in range(words)))


@pytest.mark.parametrize(("words", "longest", "wanted", "seed"), [(15, 13, 6, 4), (12, 14, 7, 3)])
def test_the_floor_and_the_best_vocabulary_for_dna_words_are_near_the_exact_optimum(
    words: int, longest: int, wanted: int, seed: int
) -> None:
    counts = words_of_dna(words, longest, seed)
    optimum = round(exact_floor(counts, wanted, 8, whole=True))
    search = run_search(counts, wanted, rounds=1_000, limit=0, swaps=100)
    assert search.floor.tokens <= optimum <= search.best.tokens
    assert search.best.tokens <= 1.01 * optimum
    assert search.floor.tokens >= 0.97 * optimum


def test_the_floor_of_dna_is_above_the_optimum_of_the_linear_program() -> None:
    """Without couples of pieces, the floor and the best vocabulary of these words would stay 17 % apart."""
    counts = words_of_dna(40, 25, 7)
    search = run_search(counts, 10, rounds=1_000, swaps=100)
    assert search.best.tokens <= 1.05 * search.floor.tokens
    assert search.floor.tokens > 1.08 * exact_floor(counts, 10, 8)
    ((_, floor_tokens, proven),) = checked_floors(
        json.loads(json.dumps(certificate(search.lattice, [(266, search.floor)])))
    )
    assert floor_tokens <= proven <= search.best.tokens


def couples_in(words: list[list[int]], longest: int) -> list[list[int]]:
    """List all couples: two edges that overlap, and two edges of the same two pieces that follow each other."""
    places = [(number, begin, piece) for number, word in enumerate(words) for begin, piece in edges(word, longest)]
    overlaps = list[tuple[int, int]]()
    follows = list[tuple[int, int]]()
    for left, right in combinations(range(len(places)), 2):
        word, begin, piece = places[left]
        other_word, other_begin, _ = places[right]
        if word == other_word and begin + len(piece) > other_begin:
            overlaps.append((left, right))
        if word == other_word and begin + len(piece) == other_begin:
            follows.append((left, right))
    pieces = [piece for _, _, piece in places]
    couples = list[list[int]]()
    for left, right in overlaps:
        both = {pieces[left], pieces[right]}
        if len(both) == 1:
            couples.append([left, right, -1, -1])
        else:
            couples += [[left, right, *pair] for pair in follows if {pieces[edge] for edge in pair} == both]
    return couples


@given(st.dictionaries(st.text("ab", min_size=3, max_size=6), st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_a_floor_proved_with_arbitrary_numbers_is_at_most_the_token_count_of_any_vocabulary(
    counts: dict[str, int], data: st.DataObject
) -> None:
    words = [list(word.encode()) for word in counts]
    wanted = data.draw(st.integers(0, 4))
    number = sum(1 for word in words for _ in edges(word, 4))
    prices = data.draw(st.lists(st.integers(0, 12), min_size=number, max_size=number))
    known = couples_in(words, 4)
    chosen = data.draw(st.lists(st.sampled_from(known), max_size=12)) if known else []
    couples = [[*couple, data.draw(st.integers(0, 60))] for couple in chosen]
    proof = dict(longest=4, limit=0, unit=8, words=words, counts=list(counts.values()))
    pieces = [piece for piece in all_pieces(counts) if len(piece) <= 4]
    vocabulary = data.draw(st.sets(st.sampled_from(pieces), max_size=wanted))
    assert floor(proof, {"pieces": wanted, "prices": prices, "couples": couples}) <= tokens(counts, vocabulary)


def test_couples_of_overlapping_pieces_prove_a_higher_floor_than_the_linear_program() -> None:
    """If half of `aa` and half of `bb` were in the vocabulary, each word would use two splits, each by half.

    Each split has two tokens. So prices of edges prove only four tokens, although every vocabulary with one piece needs
    five.
    """
    proof = dict(longest=2, limit=0, unit=2, words=[[1, 1, 1], [2, 2, 2]], counts=[1, 1])
    alone = {"pieces": 1, "prices": [0, 0, 0, 0]}
    couples = [[0, 1, -1, -1, 2], [2, 3, -1, -1, 2]]
    assert exact_floor({"aaa": 1, "bbb": 1}, 1, 2) == pytest.approx(4)
    assert floor(proof, alone) == 4
    assert floor(proof, alone | {"couples": couples}) == tokens({"aaa": 1, "bbb": 1}, {b"aa"}) == 5


@given(st.dictionaries(st.text("ACGT", min_size=4, max_size=12), st.integers(1, 5), min_size=4, max_size=12))
@settings(deadline=None, max_examples=25)
def test_exchanging_pieces_one_by_one_gives_the_same_numbers_as_splitting_all_words_again(
    counts: dict[str, int],
) -> None:
    lattice = lattice_of(counts)
    search = ExchangeSearch(lattice, Vocabulary.wished(lattice, np.zeros(len(lattice)), 3))
    first = search.best.tokens
    for _ in range(5):
        search.swap()
    again = Vocabulary.of(lattice, search.best.inside)
    assert (again.tokens, again.gains.tolist(), again.losses.tolist()) == (
        search.best.tokens,
        search.best.gains.tolist(),
        search.best.losses.tolist(),
    )
    assert search.best.tokens <= first
    assert int(search.best.inside.sum()) == min(3, len(lattice))


def test_the_floor_command_reports_a_floor_and_writes_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "book.txt"
    book.write_text("the lowest price is lower than the last one, and the lowest is the last. " * 3, encoding="utf-8")
    asked = ["floor", str(book), "--preset", "gpt2", "--sizes", "260", "270", "--max-length", "12", "--seconds", "1"]
    assert run([*asked, "--json", "--certificate"]) == 0
    written = capsys.readouterr().out
    rows = json.loads(written)["rows"]
    assert [row["size"] for row in rows] == [260, 270]
    assert all(row["floor"] <= row["best"] <= row["bpe"] for row in rows)
    assert rows[0]["gap"] == rows[0]["best"] / rows[0]["floor"] - 1
    proof = tmp_path / "floor.json"
    proof.write_text(written, encoding="utf-8")
    assert run(["verify", str(proof)]) == 0
    assert f"at least {rows[0]['floor']:,} tokens" in capsys.readouterr().out
    report = json.loads(written)
    for claims, name in ((report["certificate"]["floors"], "tokens"), (report["rows"], "floor")):
        claims[0][name] += 1
        proof.write_text(json.dumps(report), encoding="utf-8")
        assert run(["verify", str(proof)]) != 0
        assert ("prove" if name == "tokens" else "rows of the file") in capsys.readouterr().err
        claims[0][name] -= 1
    report["rows"] = [{"size": []}]
    proof.write_text(json.dumps(report), encoding="utf-8")
    assert run(["verify", str(proof)]) != 0
    assert "The rows of the file" in capsys.readouterr().err


def test_the_floor_question_compares_the_tokens_of_a_table_with_the_floor(tmp_path: Path) -> None:
    study = train(["the lowest price is lower than the last one. " * 5], "gpt2", merges=12)
    answer = Floor(sizes=(260, 268), seconds=0.5).answer(study)
    own = answer.columns["own"]
    assert own[1] == study.history.tokens_after[12] == answer.columns["bpe"][1]
    assert "your vocabulary" in answer.sentences[0]
    assert isinstance(answer.figure, LineFigure)
    assert answer.figure.lines[0].band is not None
    assert answer.columns["own_fewest"][1] <= own[1]
    assert not any("other texts" in sentence for sentence in answer.sentences)
    single = Floor(seconds=0.5, alone=True).answer(study)
    assert single.columns["size"] == [268]
    assert "unigram" not in single.columns
    table = Study.of(study.history)
    assert not any(
        "other texts" in sentence for sentence in Floor(seconds=0.3).answer(with_other_text(table)).sentences
    )
    elsewhere = Floor(seconds=0.3).answer(table.with_texts(["another text, which it was not learned from"]))
    assert any("other texts" in sentence for sentence in elsewhere.sentences)


def with_other_text(study: Study) -> Study:
    return study.with_texts(["the lowest price is lower than the last one. " * 5])


@pytest.mark.parametrize("preset", ["gpt2", "words", "clean-words", "wordpiece", "unigram", "mingram", "best"])
def test_no_trained_table_needs_fewer_tokens_than_the_floor(preset: str) -> None:
    text = "the lowest price is lower than the last one, and the lowest is the läst. " * 3
    study = train([text], preset, vocab_size={"gpt2": 300, "unigram": 24}.get(preset, 40))
    columns = Floor(seconds=0.3).answer(study).columns
    (row,) = zip(*columns.values(), strict=True)
    _, least, best, _, *others, _, _ = row
    assert all(least <= best <= tokens for tokens in others if tokens is not None)
    learned = dict(zip(columns, row, strict=True))
    if preset in ("unigram", "mingram"):
        assert learned[preset] == learned["own"]
    if preset in ("mingram", "best"):
        assert learned["own_fewest"] == learned["own"], "it cuts into the fewest itself"


@settings(deadline=None, max_examples=20)
@given(WORDS, st.integers(1, 6))
def test_the_least_possible_token_count_with_a_vocabulary_matches_a_plain_python_search(
    counts: dict[str, int], merges: int
) -> None:
    words = WordTable.from_counts(counts)
    history = learn(words, RECIPE.with_changes(merges=merges, min_frequency=1)) if any(map(is_long, counts)) else None
    if history is None:
        return
    steps = [*range(len(history) + 1)]
    texts = [bytes(history.symbols_of(id)) for id in range(history.index_count)]
    known = [{texts[id] for id in history.first(at).vocabulary.tolist()} for at in steps]
    assert fewest_tokens(words, history, steps) == [tokens(counts, pieces) for pieces in known]


def is_long(word: str) -> bool:
    return len(word) > 1


@pytest.mark.parametrize("shift", [0, 0x80])
def test_methods_compared_with_a_floor_treat_the_space_byte_like_any_other_byte(shift: int) -> None:
    counts = {" ab": 9, " abc": 5, " abd": 4, "z": 2}
    words = WordTable.from_counts((bytes(byte + shift for byte in word.encode()), n) for word, n in counts.items())
    results, _ = other_methods_results(FloorTask(words, Alphabet.of_bytes(), RECIPE, 8), [1, 2], ALONE)
    unigram, mingram = ([run.tokens for run in results[name] if run is not None] for name in ("unigram", "mingram"))
    assert unigram[0] == tokens(counts, {b" ab"}), "a blank is like any letter"
    assert mingram == [tokens(counts, {b" a"}), tokens(counts, {b" a", b" ab"})]
    shifted = {bytes(byte + shift for byte in word.encode()): count for word, count in counts.items()}
    for learned in (*results["unigram"], *results["mingram"]):
        assert learned is not None
        assert learned.witness is not None
        pieces = {bytes(piece) for piece in learned.witness.pieces}
        assert learned.witness.tokens == reference.tokens(shifted, pieces) <= learned.tokens


def test_the_search_for_a_floor_reports_partial_answers_and_can_be_cancelled() -> None:
    study, answers = train(["the lowest price is lower than the last one. " * 5], "gpt2", merges=12), list[Answer]()

    def listen(progress: Progress) -> None:
        if isinstance(progress.so_far, Answer):
            answers.append(progress.so_far)

    last = Floor(sizes=(260, 262), seconds=1.0).answer(study, Work(listen))
    assert all(len(answer.table) in (1, 2) and answer.figure is not None for answer in answers)
    assert not answers[0].on_axis
    assert last.on_axis
    with pytest.raises(Cancelled):
        Floor(seconds=100.0).answer(study, Work(cancelled=lambda: len(answers) > 0))
    held_out = Floor(seconds=0.3, alone=True, held_out=texts_of(["the price of the lowest"])).answer(study)
    assert any("other texts" in sentence for sentence in held_out.sentences)
    assert held_out.columns["own"][0] == len(study.encode("the price of the lowest"))


def ask_floor(text: str, **parameters: Any) -> Any:
    chosen: dict[str, Any] = {"sizes": (300,), "seconds": 0.3} | parameters
    return Floor(**chosen).answer(study_without_steps("gpt2").with_texts([text]))


def test_the_floor_of_extreme_texts_and_sizes_is_computed_or_refused() -> None:
    with pytest.raises(BpeError, match="no words"):
        ask_floor("")
    with pytest.raises(BpeError, match="no room"):
        ask_floor("low", sizes=(100,))
    with pytest.raises(BpeError, match="2 to 255"):
        ask_floor("low", max_length=1_000)
    with pytest.raises(BpeError, match="at least"):
        ask_floor("low", seconds=0.0)
    beyond = ask_floor("low lower lowest low", sizes=(5_000,))
    assert beyond.columns["floor"] == beyond.columns["best"] == [4]
    assert ask_floor("low", sizes=(256,)).columns["best"] == [3]
    assert ask_floor("low", sizes=(257,)).columns["floor"] == [1]
    long = ask_floor("a" * 100_000, max_length=4)
    assert long.columns["floor"] == long.columns["best"] == [25_000]


def test_training_with_the_preset_named_best_handles_extreme_texts_and_sizes() -> None:
    with pytest.raises(NothingToLearn, match="no words"):
        train([""], "best")
    with pytest.raises(SizeDoesNotFit, match="no room"):
        train(["low lower"], "best", vocab_size=5)
    assert train(["low lower"], "best", vocab_size=7).history.tokens_after.tolist() == [10]
    beyond = train(["low low lower"], "best", vocab_size=5_000).history
    assert beyond.tokens_after[-1] == 3, "each word is one token"
    assert train(["a"], "best").history.tokens_after.tolist() == [2, 1]
    assert train(["a" * 10_000], "best", vocab_size=8).history.tokens_after[-1] == 626, "of 16 letters at most"


def test_a_search_for_a_floor_ends_when_the_best_vocabulary_is_close_enough_to_the_floor() -> None:
    """A search with a chosen gap needs fewer rounds, and its vocabulary is within the gap of its floor."""
    counts = {"".join(word): 1 + place % 7 for place, word in enumerate(product("aeln", repeat=5))}
    searches = {gap: run_search(counts, 40, gap=gap) for gap in (0.0, 0.2)}
    assert searches[0.0].best.tokens <= searches[0.2].best.tokens <= searches[0.2].floor.tokens * 1.2
    assert len(searches[0.2].moments) < len(searches[0.0].moments)


def test_the_pieces_of_a_single_long_word_are_listed_in_slices_with_progress_and_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text that is not split is one word. Its pieces were listed without any report, until all were found."""
    counts = {"".join(Random(5).choices("abcd", k=900)): 2, "cab": 7, "d": 1}
    whole = lattice_of(counts, limit=4)
    monkeypatch.setattr(lattices, "SLICE", 8 * 100)
    monkeypatch.setattr(lattices, "MOST_AT_FIRST", 1)
    reports = list[Progress]()
    words = WordTable.from_counts(counts)
    choices: dict[str, Any] = {"longest": 8, "limit": 4}
    sliced = Lattice.of(words, Alphabet.of_bytes(), RECIPE, **choices, work=Work(reports.append))
    assert arrays_of(sliced) == arrays_of(whole)
    assert (sliced.left_out, sliced.limit) == (whole.left_out, whole.limit)
    shares = [report.done / (report.total or 1) for report in reports]
    assert len(shares) == 30, "ten slices in each pass"
    assert shares == sorted(set(shares))
    assert 0.9 < shares[-1] < 1
    for stop in (1, 5, 15, 25):
        asked = count()
        with pytest.raises(Cancelled):
            Lattice.of(
                words,
                Alphabet.of_bytes(),
                RECIPE,
                **choices,
                work=Work(cancelled=lambda: next(asked) == stop),  # noqa: B023
            )


def arrays_of(lattice: Lattice) -> list[list[int]]:
    (first, piece, length), (symbols, starts, counts) = lattice.edges, lattice.words
    return [array.tolist() for array in (first, piece, length, symbols, starts, counts, lattice.counts)]


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let twenty seconds pass each time when the time for some work is compared with its limit."""
    seconds = count(step=20)
    monkeypatch.setattr("bpe_core.support.progress.monotonic", lambda: float(next(seconds)))


@pytest.mark.usefixtures("fast_clock")
def test_a_text_whose_pieces_cannot_be_listed_in_time_is_too_large_for_a_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattices, "SLICE", 400)
    monkeypatch.setattr(question, "SLICE", 400)
    study = train(["".join(Random(5).choices("abcd", k=900))], "raw-bytes", merges=20)
    with pytest.raises(TooLarge, match=r"too large for a floor within 7 s.*Allow more seconds"):
        Floor(seconds=7.0, alone=True).answer(study)
    assert Floor(seconds=1_000.0, rounds=3, alone=True).answer(study).columns["floor"][0] > 0
    again = [Floor(seconds=0.1, rounds=3).answer(study) for _ in range(2)]
    assert again[0].table.records() == again[1].table.records(), "with rounds, no time counts"
    assert again[0].sentences == again[1].sentences


@pytest.mark.usefixtures("fast_clock")
def test_a_method_that_does_not_end_in_time_is_left_out_of_the_comparison_with_a_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bpe_core.insight.other_methods.AT_ONCE", 0.0)
    study = train(["".join(Random(5).choices("abcd", k=900))], "raw-bytes", merges=20)
    answer = Floor(seconds=0.1).answer(study)
    assert "unigram" not in answer.columns
    assert "Unigram is left out, because its training did not end within 10 s." in answer.sentences
    assert answer.columns["best"][0] <= answer.columns["bpe"][0]


# Formerly a string as count was multiplied with the number of tokens of a word.
A_TEXT = {"words": [[1]], "counts": ["x"], "floors": [{"size": 256, "pieces": 0, "tokens": 0, "prices": []}]}


@pytest.mark.parametrize("damage", [{"counts": [1]}, {"unit": 0}, {"floors": 3}, {"words": None}, A_TEXT])
def test_a_damaged_floor_certificate_is_refused(damage: dict[str, Any]) -> None:
    search = run_search({"abab": 3, "ab": 2}, 1)
    damaged = {**certificate(search.lattice, [(257, search.floor)]), **damage}
    with pytest.raises(FormatError):
        checked_floors(damaged)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value of a certificate, and also to each list and dict, because a change can
    remove them.
    """
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield from paths_in(item, (*path, name))


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from([-3, -1, 1, 2, 1_000]))
def test_a_floor_certificate_with_any_change_is_refused(data: st.DataObject, by: int) -> None:
    """The certificate is refused even if its prices would still prove the changed floor."""
    certificate = certificate_as_json()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "floor.json"
        file.write_text(json.dumps(certificate), encoding="utf-8")
        assert run(["verify", str(file)]) == 0
        *way, last = data.draw(st.sampled_from(list(paths_in(certificate))))
        place: Any = certificate
        for name in way:
            place = place[name]
        if isinstance(place[last], int):
            place[last] += by
        elif isinstance(place[last], str):
            place[last] += "x" if last != "kind" else ""
        if not isinstance(place[last], int | str) or last == "kind":
            del place[last]
        file.write_text(json.dumps(certificate), encoding="utf-8")
        assert run(["verify", str(file)]) != 0


def forge_certificate(**changes: Any) -> Any:
    """Return a certificate with changes and a new valid checksum, as a forger would make it."""
    certificate = certificate_as_json() | {
        name: value for name, value in changes.items() if name not in ("size", "pieces", "tokens")
    }
    certificate["floors"][0] |= {name: value for name, value in changes.items() if name in ("size", "pieces", "tokens")}
    return certificate | {CHECKSUM: checksum(certificate)}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"pieces": 0, "tokens": 23}, "the number of pieces must be 1."),
        (
            {"size": 900},
            "Every vocabulary also has 256 tokens, so the number of pieces must be 644.",
        ),
        ({"always": 2, "size": 3}, "the certificate's words have 3 different symbols"),
        ({"always": 1, "size": 2}, "has the same 1 token besides its pieces"),
        ({"always": 257, "pieces": 0, "size": 257, "tokens": 30}, "prove"),
        ({"pieces": -5, "size": 251, "tokens": 20}, "it cannot be below 0"),
        ({"counts": [3, 2, -4]}, "it cannot be below 0"),
        ({"unit": -1}, "must be at least 1"),
        ({"other_tokens": 1_000, "tokens": 1_010}, "prove"),
        ({"tokens": 135}, "prove"),
        ({"words": [["a"], [1], [2]]}, "instead of a whole number"),
        ({"always": None}, "instead of a whole number"),
    ],
)
def test_a_forged_floor_certificate_with_a_valid_checksum_is_refused(
    changes: dict[str, Any], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier version did not check the size, and did not recount the tokens outside words."""
    path = tmp_path / "floor.json"
    path.write_text(json.dumps(forge_certificate(**changes)), encoding="utf-8")
    assert run(["verify", str(path)]) != 0
    assert why in capsys.readouterr().err


def certificate_with_couples() -> Any:
    search = run_search(words_of_dna(12, 14, 3), 5, rounds=400, limit=0)
    proof = json.loads(json.dumps(certificate(search.lattice, [(261, search.floor)])))
    assert any(couple[2] >= 0 for couple in proof["floors"][0]["couples"])
    return proof


def test_a_floor_certificate_with_forged_couples_of_overlapping_pieces_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "floor.json"
    proof = certificate_with_couples()
    path.write_text(json.dumps(proof), encoding="utf-8")
    assert run(["verify", str(path)]) == 0
    couple = next(couple for couple in proof["floors"][0]["couples"] if couple[2] >= 0)
    left, right, before, after, price = couple
    edges_in_all = len(proof["floors"][0]["prices"])
    forgeries: list[Any] = [
        [left, left, before, after, price],
        [left, right, -1, -1, price],
        [left, right, after, before, price],
        [left, right, left, right, price],
        [before, after, before, after, price],
        [left, edges_in_all, before, after, price],
        [left, right, before, -1, price],
        [left, right, before, after, -price],
        [left, right, before, after, str(price)],
        [left, right, before, after],
        3,
    ]
    for forged in forgeries:
        claim = proof["floors"][0] | {"couples": [forged]}
        changed = proof | {"floors": [claim | {"tokens": 0}]}
        path.write_text(json.dumps(changed | {CHECKSUM: checksum(changed)}), encoding="utf-8")
        assert run(["verify", str(path)]) != 0, forged
        error = capsys.readouterr().err
        assert "couple" in error or "cannot be below 0" in error or "instead of a whole number" in error


def test_a_floor_certificate_is_refused_if_the_result_states_fewer_tokens_than_the_floor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate, path = certificate_as_json(), tmp_path / "floor.json"
    (floor_row,) = certificate["floors"]
    row = {"size": floor_row["size"], "floor": floor_row["tokens"], "best": floor_row["tokens"] - 1}
    path.write_text(json.dumps({"certificate": certificate, "rows": [row]}), encoding="utf-8")
    assert run(["verify", str(path)]) != 0
    assert "but a vocabulary of this size was found" in capsys.readouterr().err


def test_verifying_a_floor_certificate_reports_base_symbols_separately(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "floor.json"
    path.write_text(json.dumps(certificate_as_json()), encoding="utf-8")
    assert run(["verify", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "257 tokens in the vocabulary (256 are in every vocabulary, 1 other has at most 8 symbols)" in printed


def certificate_as_json() -> Any:
    search = run_search({"abab": 3, "ab": 2, "abc": 4}, 1)
    return json.loads(json.dumps(certificate(search.lattice, [(257, search.floor)])))


@pytest.mark.parametrize(
    "text", ["the lowest price is lower than the last one, and the lowest is the last. " * 3, "aa"]
)
def test_the_method_named_best_adds_the_most_useful_piece_first_and_encodes_with_the_fewest_tokens(text: str) -> None:
    """After each step, the number of tokens is the smallest possible with the pieces added so far."""
    study = train([text], "best", vocab_size=40)
    history = study.history
    texts = history.alphabet.texts
    for at in range(len(history) + 1):
        there = {texts[id] for id in history.first(at).vocabulary.tolist()}
        assert len(there) == history.vocabulary_size_at(at) == history.vocabulary_size_at(0) + at
        ids = study.encode(text, at=at)
        assert ids == study.at(at).encode(text)
        assert {texts[id] for id in ids} <= there
        assert len(ids) == history.tokens_after[at]
    assert all(study.decode(study.encode(text, at=at)).strip() == text.strip() for at in (0, len(history)))


@settings(deadline=None)
@given(FEW_WORDS, st.integers(1, 2))
def test_training_with_the_preset_best_counts_the_same_saved_tokens_as_the_reference(
    counts: dict[str, int], wanted: int
) -> None:
    history = learn(WordTable.from_counts(counts), Recipe.preset("best", merges=wanted))
    marked = {b"_" + word: count for word, count in bytes_of_words(counts).items()}
    pieces = [history.alphabet.texts[step.left].decode().replace("▁", "_").encode() for step in history]
    assert history.reasons["saves"].tolist() == reference.saved(marked, pieces)
    assert history.tokens_after[-1] == reference.tokens(marked, pieces) >= reference.least(marked, len(pieces))


def test_the_preset_named_best_adds_the_longest_piece_of_a_repeated_letter_first() -> None:
    """In a word of one repeated letter, shorter pieces could replace any single use of the longest piece."""
    history = train(["a" * 2_000], "best", vocab_size=20).history
    saved = -np.diff(history.tokens_after)
    assert saved[0] == saved.max() == 1_875  # of 2,000 letters behind the mark, 125 pieces of sixteen are left


LONGER = "abcdefghijklmnopqrstuvwxyz" * 2


def test_a_table_with_long_tokens_is_compared_with_a_floor_that_allows_long_tokens() -> None:
    """In an earlier version the floor allowed only short pieces, and was three times the token count of the table."""
    study = train([f"{LONGER} " * 9], "gpt2", merges=60)
    assert max(len(text) for text in study.inside.by_index.texts.raw) > 16
    alike = Floor(rounds=20, alone=True).answer(study)
    (floor_of, best, own) = (alike.columns[name][0] for name in ("floor", "best", "own"))
    assert floor_of <= best <= own
    apart = Floor(rounds=20, alone=True, max_length=16).answer(study)
    assert apart.columns["own"][0] < apart.columns["floor"][0]
    assert "better" not in apart.sentences[0]
    assert any("tokens of more than 16 symbols" in sentence for sentence in apart.sentences)


def test_two_searches_for_a_floor_with_the_same_number_of_rounds_give_the_same_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book, made = tmp_path / "book.txt", tmp_path / "floor.json"
    book.write_text("the lowest price is lower than the last one, and the lowest is the last. " * 3, encoding="utf-8")
    asked = ["floor", str(book), "--preset", "gpt2", "--sizes", "260", "270", "--rounds", "40", "--json"]
    assert run([*asked, "-o", str(made), "--manifest", str(tmp_path / "manifest.json")]) == 0
    assert run(["repeat", str(tmp_path / "manifest.json")]) == 0
    rows = json.loads(made.read_text(encoding="utf-8"))
    assert [row["rounds"] <= 40 for row in rows] == [True, True]
    capsys.readouterr()
    study = study_without_steps("gpt2").with_texts(["low lower lowest slow " * 9])
    sentences = " ".join(Floor(sizes=(262,), rounds=7, alone=True).answer(study).sentences)
    assert "rounds for the floor" in sentences
    assert "--rounds" not in sentences, "it is what was asked"
    assert "In a longer search" in " ".join(Floor(sizes=(262,), seconds=0.1, alone=True).answer(study).sentences)
    with pytest.raises(BpeError, match="at least 1 round"):
        Floor(sizes=(262,), rounds=0).answer(study)


def forge_certificate_with_vocabulary(**changes: Any) -> Any:
    """Return a certificate that contains the best vocabulary, with changes and a new valid checksum."""
    study = study_without_steps("gpt2").with_texts(["abab abab ab abc abc abc"])
    certificate = json.loads(
        json.dumps(Floor(sizes=(258,), rounds=30, certificate=True).answer(study).facts["certificate"])
    )
    certificate["floors"][0] |= changes
    return certificate | {CHECKSUM: checksum(certificate)}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"fewest": 1}, "but the certificate says"),
        ({"vocabulary": []}, "but the certificate says"),
        ({"vocabulary": [[97, 98], [97, 98, 99], [98, 99]]}, "must list at most 2"),
        ({"vocabulary": [[97, 98], [97, 98]]}, "each only once"),
        ({"vocabulary": [[97] * 17, [97, 98]]}, "but allows at most"),
        ({"vocabulary": [[97], [97, 98]]}, "only one symbol"),
        ({"vocabulary": [["a", "b"]]}, "instead of a whole number"),
        ({"vocabulary": 3}, "is incomplete"),
    ],
)
def test_a_floor_certificate_with_a_forged_vocabulary_is_refused(
    changes: dict[str, Any], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "floor.json"
    path.write_text(json.dumps(forge_certificate_with_vocabulary()), encoding="utf-8")
    assert run(["verify", str(path)]) == 0
    assert "counted again" in capsys.readouterr().out
    path.write_text(json.dumps(forge_certificate_with_vocabulary(**changes)), encoding="utf-8")
    assert run(["verify", str(path)]) != 0
    assert why in capsys.readouterr().err


def test_a_floor_certificate_is_refused_if_the_vocabulary_needs_a_different_number_of_tokens_than_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, proof = tmp_path / "floor.json", forge_certificate_with_vocabulary()
    (floor_row,) = proof["floors"]
    row = {"size": floor_row["size"], "floor": floor_row["tokens"], "best": floor_row["fewest"]}
    for best, code in ((floor_row["fewest"], True), (floor_row["fewest"] + 1, False)):
        path.write_text(json.dumps({"rows": [row | {"best": best}], "certificate": proof}), encoding="utf-8")
        assert (run(["verify", str(path)]) == 0) is code
    assert "best vocabulary" in capsys.readouterr().err


@settings(deadline=None, max_examples=15)
@given(WORDS, st.integers(0, 4))
def test_the_vocabulary_in_a_floor_certificate_needs_exactly_the_stated_number_of_tokens(
    counts: dict[str, int], wanted: int
) -> None:
    study = study_without_steps("gpt2").with_texts(
        [" ".join(word for word, count in counts.items() for _ in range(count))]
    )
    counts = {raw.decode(): count for raw, count in study.inside.words("", ALONE)}
    answer = Floor(sizes=(256 + wanted,), rounds=10, certificate=True).answer(study)
    (of,) = answer.facts["certificate"]["floors"]
    pieces = {bytes(piece) for piece in of["vocabulary"]}
    assert len(pieces) <= wanted
    assert tokens(counts, pieces) == of["fewest"] == answer.columns["best"][0] <= answer.columns["bpe"][0]


@pytest.fixture(scope="module")
def whole_answer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what `floor --certificate --json` writes about two vocabulary sizes."""
    folder = tmp_path_factory.mktemp("floor")
    (folder / "book.txt").write_text("abab abab abab abc abc abc abc cab cab", encoding="utf-8")
    asked = ["floor", str(folder / "book.txt"), "--preset", "gpt2", "--sizes", "257", "258", "--rounds", "30"]
    asked += ["--alone", "--json", "--certificate", "--max-length", "4"]
    written = StringIO()
    with redirect_stdout(written):
        assert run(asked) == 0
    return json.loads(written.getvalue())


def forged(document: Any, chance: Random) -> Any:
    """Return a copy of a document in which one to three values are forged, with a valid checksum."""
    document = json.loads(json.dumps(document))
    for _ in range(chance.randint(1, 3)):
        places = list(places_in(document))
        holder, name = chance.choice(places)
        value = holder[name]
        others = [place[key] for place, key in places]
        forgeries = [chance.choice(others), None, "7", [], 0, -1, True, 0.5, 10**30]
        if type(value) in (int, float):
            forgeries += 4 * [value + chance.choice((-2, -1, 1, 2)), value * 2, value + 0.5, str(value)]
        if isinstance(value, list):
            forgeries += 4 * [[*value, *value[:1]], value[1:], value[::-1]]
        act = chance.random()
        if act < 0.1 and isinstance(holder, dict):
            del holder[name]
        elif act < 0.2 and isinstance(holder, list):
            holder.insert(chance.randint(0, len(holder)), value)
        else:
            holder[name] = json.loads(json.dumps(chance.choice(forgeries)))
    proof = document.get("certificate") if isinstance(document, dict) else None
    if isinstance(proof, dict):
        proof[CHECKSUM] = checksum(proof)
    return document


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a document: a list or a dictionary, and the index or the key of a value."""
    names = value if isinstance(value, dict) else range(len(value))
    for name in names:
        yield value, name
        if isinstance(value[name], dict | list):
            yield from places_in(value[name])


def false_claims(document: Any) -> list[str]:
    """Return what a document claims although it is false, by trying all vocabularies."""
    proof = document["certificate"]
    symbols = {symbol for word in proof["words"] for symbol in word if symbol >= 0}
    said = list[str]()
    facts = dict[int, tuple[int, int]]()
    for claim in proof["floors"]:
        if claim["size"] != proof["always"] + claim["pieces"] or proof["always"] < len(symbols):
            said.append("a size")
        least = least_tokens(proof, claim["pieces"])
        if claim["tokens"] > least:
            said.append("a floor")
        if "vocabulary" in claim:
            pieces = {tuple(piece) for piece in claim["vocabulary"]}
            if claim["fewest"] != tokens_by(proof, pieces) or len(pieces) > claim["pieces"]:
                said.append("a vocabulary")
        facts[claim["size"]] = (least, claim.get("fewest", least))
    for row in document["rows"]:
        least, fewest = facts.get(row["size"], (-1, -1))
        if row["floor"] > least or row["best"] < least or row["best"] != fewest:
            said.append("a row")
        if row["gap"] != row["best"] / max(1, row["floor"]) - 1:
            said.append("a gap")
    return said


def least_tokens(proof: Any, wanted: int) -> int:
    known = {tuple(piece) for word in proof["words"] for _, piece in edges(word, proof["longest"]) if min(piece) >= 0}
    chosen = combinations(sorted(known), min(wanted, len(known)))
    return min(tokens_by(proof, set(pieces)) for pieces in chosen)


def tokens_by(proof: Any, pieces: set[tuple[int, ...]]) -> int:
    """Count the tokens of all words, if each is split into as few of these pieces and single symbols as possible."""
    total = 0
    for word, times in zip(proof["words"], proof["counts"], strict=True):
        least = [0]
        for end in range(1, len(word) + 1):
            ways = [least[begin] for begin in range(end - 1) if tuple(word[begin:end]) in pieces]
            least.append(1 + min([least[end - 1], *ways]))
        total += times * least[-1]
    return total


@pytest.mark.parametrize("seed", range(5))
def test_no_answer_with_randomly_forged_values_is_called_sound_if_it_claims_something_false(
    seed: int, whole_answer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert false_claims(whole_answer) == []
    chance = Random(seed)
    path = tmp_path / "floor.json"
    sound = 0
    for _ in range(100):
        changed = forged(whole_answer, chance)
        path.write_text(json.dumps(changed), encoding="utf-8")
        if run(["verify", str(path)]) == 0:
            sound += 1
            assert false_claims(changed) == [], changed
        assert "Traceback" not in capsys.readouterr().err
    assert sound < 30, "most forgeries are found"
