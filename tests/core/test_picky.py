"""Tests of PickyBPE: training matches the specification, which matches the algorithm in the paper on PickyBPE."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError
from bpe_core.formats import open_table, write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.picky import METHOD, reference
from bpe_core.methods.picky.explain import WhyDropping
from bpe_core.questions.paid import Paid
from bpe_core.questions.tree import Tree
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_runs import WordStepEncoder
from bpe_core.segmenting.cutting import Cutting
from bpe_core.studies.study import Study
from bpe_core.support.progress import Progress
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns, learn_in_short_calls, train, words_of

TEXT = (
    "low lower lowest, the lowest towers tower over the town; newer nets, the newest nets 1234 times.\n"
    "Could, would, should: the shoulder was cold, and the older boulder bolder. Aaa aaaa! déjà vu </w> ▁a\n"
) * 2
WORDS = st.lists(st.sampled_from(["aa", "aaa", "ab", "the", "then", "he", "B", "é漢", "▁a", "</w>"]), max_size=40)
MARKERS = {"none": "", "prefix": "▁", "symbol": "</w>", "glued": "</w>"}


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    marker = draw(st.sampled_from([*MARKERS]))
    base = draw(st.sampled_from(["bytes", "characters"]))
    return Recipe.preset(
        "picky",
        merges=draw(st.integers(1, 50)),
        base=base,
        marker=marker,
        pattern=draw(st.sampled_from(["gpt2", "whitespace", "bert", *(["none"] if marker == "none" else [])])),
        alphabet_limit=draw(st.sampled_from([None, 4])) if base == "characters" else None,
        unknown=draw(st.sampled_from(["bytes", "unk"])),
        tau=draw(st.sampled_from([1.0, 0.9, 0.8, 0.6, 0.4, 0.2, None])),
        falls_into=draw(st.sampled_from(["bytes", "parts"])),
        min_frequency=draw(st.integers(1, 3)),
    )


@cache
def train_picky(**choices: Any) -> History:
    return train(Corpus.from_texts([TEXT]), Recipe.preset("picky", **{"merges": 60, "min_frequency": 1} | choices))


KINDS: list[dict[str, Any]] = [
    dict(tau=0.8),
    dict(tau=0.4, falls_into="bytes"),
    dict(tau=0.5, base="characters", pattern="whitespace", marker="prefix", merges=80),
    dict(tau=0.6, base="characters", pattern="whitespace", marker="symbol", alphabet_limit=20, unknown="bytes"),
]


@given(st.data(), recipes())
def test_every_step_of_picky_training_matches_the_specification(data: st.DataObject, recipe: Recipe) -> None:
    text = data.draw(WORDS.map(" ".join) | st.text(data.draw(st.sampled_from(["ab ", "aé漢 \u0301"])), max_size=99))
    words = words_of(text, recipe)
    if len(words) == 0:
        return
    assert METHOD.compiled is not None
    expected = reference.train(words, recipe)
    history = learn_in_short_calls(METHOD.compiled.learner, words, recipe, data.draw(st.sampled_from([1, 2**60])))
    assert all_columns(history) == all_columns(expected)
    assert history.indices.tolist() == expected.indices.tolist()
    assert (history.end_reason, history.tokens_at_start) == (expected.end_reason, expected.tokens_at_start)
    assert METHOD.what_is_wrong(history) == ""


@given(st.data(), recipes(), WORDS)
@settings(max_examples=50)
def test_picky_encoding_after_any_step_equals_applying_all_earlier_steps_in_order(
    data: st.DataObject, recipe: Recipe, learned_from: list[str]
) -> None:
    words = words_of(" ".join(learned_from), recipe)
    if len(words) == 0:
        return
    history = reference.train(words, recipe)
    tokenizer = Tokenizer(history)
    kernels = WordStepEncoder(history, Cutting(recipe))
    text = data.draw(WORDS.map(" ".join) | st.text())
    for at in {0, data.draw(st.integers(0, len(history))), len(history)}:
        ids = reference.encode(text, history, at=at)
        assert tokenizer.encode(text, at=at) == ids
        assert kernels.ids(text, at).tolist() == ids
        split = tokenizer.segmentation(text).tokens(at)
        assert split.edges[-1] == len(text.encode())


# --- The article ------------------------------------------------------------------------------


class ArticleAlgorithm:
    """The algorithm of the paper on PickyBPE, written for the tests.

    Words are tuples of texts, and a list stores all events.
    """

    def __init__(self, counts: dict[str, int], tau: float, size: int) -> None:
        self.words = {word: tuple(word) for word in counts}
        self.counts = counts
        self.halves: dict[str, tuple[str, str]] = {}
        self.vocabulary = {letter for word in counts for letter in word}
        self.events: list[tuple[str, ...]] = []
        while len(self.vocabulary) < size and (pair := self.most_frequent_pair()) is not None:
            shares = {half: self.pairs()[pair] / self.occurrences(half) for half in pair}
            made = "".join(pair)
            self.halves.setdefault(made, pair)
            self.vocabulary.add(made)
            self.happen(("merge", *pair))
            for half, share in shares.items():
                if share >= tau and len(half) > 1:
                    self.vocabulary.discard(half)
                    self.happen(("remove", half, *self.smaller(half)))

    def most_frequent_pair(self) -> tuple[str, str] | None:
        """Return the most frequent pair.

        The PickyBPE article names no tie rule. So if pairs are tied, return the pair whose text sorts first.
        """
        pairs = self.pairs()
        return min(pairs, key=lambda pair: (-pairs[pair], [half.encode() for half in pair]), default=None)

    def pairs(self) -> dict[tuple[str, str], int]:
        """Return the number of tokens that a merge of each pair would make."""
        counts: dict[tuple[str, str], int] = {}
        for word, tokens in self.words.items():
            taken = -2
            for place, pair in enumerate(pairwise(tokens)):
                if pair[0] == pair[1] and taken == place - 1 and tokens[place - 1] == pair[0]:
                    continue
                taken = place
                counts[pair] = counts.get(pair, 0) + self.counts[word]
        return counts

    def occurrences(self, token: str) -> int:
        return sum(tokens.count(token) * self.counts[word] for word, tokens in self.words.items())

    def smaller(self, token: str) -> tuple[str, ...]:
        parts: tuple[str, ...] = ()
        for half in self.halves[token]:
            parts += (half,) if half in self.vocabulary else self.smaller(half)
        return parts

    def happen(self, event: tuple[str, ...]) -> None:
        self.events.append(event)
        self.words = {word: tokens_after(tokens, event) for word, tokens in self.words.items()}

    def encoded(self, word: str) -> tuple[str, ...]:
        tokens = tuple(word)
        for event in self.events:
            tokens = tokens_after(tokens, event)
        return tokens


def tokens_after(tokens: tuple[str, ...], event: tuple[str, ...]) -> tuple[str, ...]:
    kind, first, *others = event
    if kind == "remove":
        return tuple(part for token in tokens for part in (others if token == first else [token]))
    left = list[str]()
    for token in tokens:
        if left and left[-1] == first and token == others[0]:
            left[-1] = first + token + "\0"  # the end mark prevents another join in the same event
        else:
            left.append(token)
    return tuple(token.removesuffix("\0") for token in left)


@given(
    st.dictionaries(st.text("abcd", min_size=1, max_size=12), st.integers(1, 20), min_size=1, max_size=12),
    st.sampled_from([1.0, 0.9, 0.75, 0.5, 0.3]),
    st.integers(5, 60),
    st.text("abcd", max_size=20),
)
def test_picky_steps_and_tokens_match_the_published_algorithm(
    counts: dict[str, int], tau: float, size: int, word: str
) -> None:
    recipe = Recipe.preset("picky", base="characters", pattern="whitespace", tau=tau, min_frequency=1)
    words = WordTable.from_counts(counts)
    alphabet = Alphabet.for_words(words, recipe)
    recipe = recipe.with_changes(merges=max(0, size - len(alphabet.id_of_piece)))
    history = reference.train(words, recipe)
    theirs = ArticleAlgorithm(counts, tau, size)
    texts = [text.decode() for text in alphabet.texts]
    for step in history:
        if step.right != NOTHING and step.index == len(texts):
            texts.append(texts[step.left] + texts[step.right])
    ours = [
        ("remove", texts[step.left]) if step.right == NOTHING else ("merge", texts[step.left], texts[step.right])
        for step in history
    ]
    assert ours == [event[:2] if event[0] == "remove" else event for event in theirs.events]
    if {*word} <= {letter for letter_set in counts for letter in letter_set}:
        assert tuple(texts[id] for id in reference.encode(word, history)) == theirs.encoded(word)


def events_of(counts: str) -> list[str]:
    """Return the merges and drops of a training run, in the notation of PickyBPE's trainer.

    `counts` lists the words of the corpus. The last character of each item is the count of the word.
    """
    words = WordTable.from_counts({f" {counted_word[:-1]}": int(counted_word[-1]) for counted_word in counts.split()})
    recipe = Recipe.preset("picky", merges=200, min_frequency=1, tau=0.7)
    tokens = reference.Tokens(Alphabet.of_bytes())
    corpus = [(list(word), count) for word, count in words]
    events = list[str]()

    def name(token: int) -> str:
        return tokens.texts[token].decode().replace(" ", "_")

    for merge in reference.merges_with_drops(corpus, tokens, recipe, 500):
        events.append("+".join(name(half) for half in merge.choice.pair))
        events += [f"-{name(token)}={'|'.join(map(name, parts))}" for token, _, parts in merge.drops]
    return events


def test_picky_merges_and_drops_match_the_published_trainer() -> None:
    """The expected steps are from PickyBPE's published trainer, with ties settled by the smallest text."""
    assert " ".join(events_of("low5 lower2 lowest6 new3 newer4 wider3 width2 lost4 stow1 tower7")) == (
        "o+w _+l e+r _l+ow -_l=_|l s+t _+n _+t _n+e -_n=_|n _ne+w -_ne=_|n|e _t+ow -_t=_|t -ow=o|w _tow+er "
        "-_tow=_|t|o|w _low+e _lowe+st -_lowe=_low|e _+w _w+i -_w=_|w _wi+d -_wi=_|w|i _+l _l+o -_l=_|l _lo+st "
        "-_lo=_|l|o -st=s|t _new+er _wid+er _low+er -er=e|r _wid+t -_wid=_|w|i|d _widt+h -_widt=_|w|i|d|t _+s _s+t "
        "-_s=_|s _st+o -_st=_|s|t _sto+w -_sto=_|s|t|o"
    )


def test_the_picky_method_decides_whether_to_drop_the_right_half_before_it_splits_the_left_half() -> None:
    """PickyBPE's trainer counts `bc` only after `_abc` is split, so it keeps `bc` here.

    BoundlessBPE's trainer drops `bc`.
    """
    events = events_of("abcbc8 abc2 dbc2")
    assert events[:7] == ["b+c", "_+a", "_a+bc", "-_a=_|a", "_abc+bc", "-_abc=_|a|bc", "-bc=b|c"]


# --- What the program shows ---------------------------------------------------------------------


@given(st.data())
@settings(max_examples=25)
def test_the_explanation_of_each_picky_boundary_names_the_step_that_joined_or_split_the_text_there(
    data: st.DataObject,
) -> None:
    history = train_picky(**data.draw(st.sampled_from(KINDS)))
    text = data.draw(st.sampled_from(["the lowest towers", "should: older", "déjà vu ▁a"]) | st.text("then é,B"))
    at = data.draw(st.integers(0, len(history)))
    explain = WhyDropping(text, history, "all").explanation_at
    tokenizer = Tokenizer(history)

    def starts(steps: int) -> set[int]:
        return {*tokenizer.segmentation(text).tokens(steps).edges.tolist()}

    for byte in range(1, len(text.encode())):
        explanation = explain(byte, at)
        if explanation.kind in ("dropped", "pattern", "symbol"):
            continue
        assert explanation.is_cut == (byte in starts(at)), (byte, explanation)
        for step in explanation.steps if explanation.kind in ("joined", "fell", "later") else ():
            assert (byte in starts(step - 1)) != (byte in starts(step))
            assert f"step {step}" in explanation.sentence.lower()
        if explanation.kind == "fell":
            assert history[explanation.steps[0] - 1].right == NOTHING


@pytest.mark.parametrize("kind", KINDS)
def test_picky_trees_show_both_the_current_tokens_and_the_dropped_tokens(kind: dict[str, Any]) -> None:
    history = train_picky(**kind)
    for text, at in (("lowest", len(history)), ("should", 50), ("towers", 20)):
        rows = Tree(text=text, at=at).answer(Study(history)).table.records()
        there = [row for row in rows if row["falls_apart"] is None]
        outer = [row for row in there if not any(holds(other, row) for other in there)]
        ids = [row["id"] for row in sorted(outer, key=lambda row: row["first_symbol"])]
        assert ids == Tokenizer(history).encode(text, at=at)
        assert all(history[row["falls_apart"] - 1].right == NOTHING for row in rows if row["falls_apart"] is not None)


def holds(outer_row: dict[str, Any], inner_row: dict[str, Any]) -> bool:
    """Return whether the range of the outer row contains the range of the inner row. Equal ranges do not count."""
    edges, inner = ((row["first_symbol"], row["behind_symbol"]) for row in (outer_row, inner_row))
    return edges != inner and edges[0] <= inner[0] and inner[1] <= edges[1]


def test_the_first_candidate_of_picky_training_is_the_next_step() -> None:
    recipe = train_picky(tau=0.5, falls_into="parts").recipe
    words = words_of(TEXT, recipe)
    whole = train_picky(tau=0.5, falls_into="parts")
    drop = next(step.step for step in whole if step.right == NOTHING)
    for steps in (0, 7, drop - 2, drop - 1, drop):
        best, *others = Trainer(words, recipe, history=whole.first(steps)).candidates(5)
        assert (best.left, best.right, best.count) == (*whole.pair(steps), whole.columns.count[steps])
        if best.right != NOTHING:
            assert [candidate.count for candidate in others] == sorted(
                (candidate.count for candidate in others), reverse=True
            )
            assert (others[0].left, others[0].right) == whole[steps].runner_up


def test_progress_of_picky_training_counts_tokens_instead_of_steps() -> None:
    recipe = Recipe.preset("picky", merges=20, tau=0.8)
    trainer = Trainer(words_of(TEXT, recipe), recipe)
    assert trainer.progress() == Progress("training", 0, 20, "tokens")
    trainer.advance()
    assert trainer.progress().done == trainer.progress().total == trainer.history.vocabulary_size - 256
    assert len(trainer.history) > trainer.progress().done


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["merges.csv", "merges.json"])
def test_files_keep_all_steps_of_a_picky_run(tmp_path: Path, name: str, kind: dict[str, Any]) -> None:
    history = train_picky(**kind)
    path = tmp_path / name
    write_history(history, path)
    loaded = open_table(path).history
    assert (loaded.recipe, loaded.vocabulary.tolist()) == (history.recipe, history.vocabulary.tolist())
    assert loaded.reasons[TOKEN].tolist() == history.reasons[TOKEN].tolist()
    assert Tokenizer(loaded).encode(TEXT) == Tokenizer(history).encode(TEXT)


def test_the_word_counts_of_each_picky_step_add_up_to_the_count_of_the_step() -> None:
    text = "aaa aaaa aaab baaa aaaaaaa " * 3 + TEXT[:60]
    history = train(Corpus.from_texts([text]), Recipe.preset("picky", merges=30, min_frequency=1, tau=0.5))
    study = Study(history).with_texts([text])
    for step in history:
        assert sum(Paid(step=step.step).answer(study).table.columns["count"]) == step.count


@pytest.mark.parametrize("tau", [0, -0.5, 1.5, float("nan"), "much", True])
def test_a_tau_above_one_is_refused_for_the_picky_method(tau: object) -> None:
    with pytest.raises(RecipeError, match="tau must be a share above 0 and at most 1"):
        Recipe.preset("picky", tau=tau)


def test_picky_training_without_tau_drops_no_token() -> None:
    history = train_picky(tau=None)
    assert history.only_joins
    assert NOTHING not in history.columns.right.tolist()


def test_picky_training_reserves_enough_memory_for_texts_of_four_byte_characters() -> None:
    """An earlier version reserved one byte for each character, but a character has up to four bytes."""
    letters = "".join(map(chr, range(0x1F600, 0x1F620)))
    words = WordTable.from_counts({letters[start:] + letters[: start // 2]: 1 + start % 5 for start in range(24)})
    recipe = Recipe.preset("picky", base="characters", pattern="whitespace", merges=200, min_frequency=1, tau=1.0)
    assert METHOD.compiled is not None
    history = learn_in_short_calls(METHOD.compiled.learner, words, recipe, 2**60)
    assert all_columns(history) == all_columns(reference.train(words, recipe))
