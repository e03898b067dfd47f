"""Tests of SuperBPE. The learner equals the specification.

Both stages learn the same merges as two trainings by the library tokenizers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.editing.growing import growing_recipe
from bpe_core.errors import CorpusError, RecipeError
from bpe_core.formats import write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, History
from bpe_core.history.token_texts import decoded
from bpe_core.insight.pairs import follow_pair, leading_pairs, ties
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.bpe import reference as plain
from bpe_core.methods.bpe.explain import Why
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.superbpe import METHOD, compiled
from bpe_core.methods.superbpe import reference as reference
from bpe_core.methods.superbpe.learn import STAGE, transition_in
from bpe_core.questions import ask
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import PATTERN_CUT
from bpe_core.segmenting.compiled_runs import CompiledSuperwords, first_across
from bpe_core.segmenting.cutting import Cutting
from bpe_core.session_file.reading import read_session
from bpe_core.splitting.splitter import split_words
from bpe_core.studies.sessions import write_run
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS, NO_SUPERWORD
from tests.core.learning import all_columns, learn_in_short_calls, train, words_of
from tests.core.random_training import BYTE_TIES
from tests.core.specified_encoder import specified_words

TEXT = (
    "By the way, the cat sat on the mat. By the end of the day, on the one hand: the cat; on the other hand: the mat.\n"
    "The end of the story is the end of the cat, by the way... 1234 cats on 12 mats -- at the end of the day.\n"
) * 2
LETTERS = ["ab ", "ab: ", "ab :.\n", "aB '1 \n", "aé漢 \u0301", "on the way: "]


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    merges = draw(st.integers(1, 50))
    return Recipe.preset(
        "superbpe",
        merges=merges,
        transition=draw(st.none() | st.integers(1, merges)),
        words_by=draw(st.sampled_from(["o200k", "o200k-apart", "gpt2", "english"])),
        whole_characters=draw(st.booleans()),
        most_words=draw(st.none() | st.integers(1, 4)),
        past_colons=draw(st.booleans()),
        min_frequency=draw(st.integers(1, 3)),
        max_token_length=draw(st.none() | st.integers(2, 9)),
        ties=draw(st.sampled_from(BYTE_TIES)),
    )


@pytest.mark.parametrize("way", [METHOD.plain, METHOD.compiled], ids=["plain", "compiled"])
@given(st.data())
def test_every_step_of_superbpe_training_matches_the_specification(way: object, data: st.DataObject) -> None:
    recipe = data.draw(recipes())
    text = data.draw(st.text(data.draw(st.sampled_from(LETTERS)), min_size=2, max_size=120))
    words = words_of(text, recipe)
    if len(words) == 0:
        return
    expected = reference.train(words, recipe)
    history = learn_in_short_calls(way.learner, words, recipe, data.draw(st.sampled_from([1, 10_000, 2**60])))  # type: ignore[attr-defined]
    assert all_columns(history) == all_columns(expected)
    assert history.reasons[STAGE].tolist() == expected.reasons[STAGE].tolist()
    assert (history.end_reason, history.tokens_at_start) == (expected.end_reason, expected.tokens_at_start)


@given(st.text("ab :.'1\n\tAé漢\u0301", max_size=80), st.sampled_from(["o200k", "o200k-apart", "gpt2", "english"]))
def test_superbpe_kernels_and_the_reference_find_the_same_words_inside_sequences_of_words(
    text: str, words_by: str
) -> None:
    recipe = Recipe.preset("superbpe", words_by=words_by)
    words = words_of(text, recipe)
    if len(words):
        assert list(compiled.words_inside(words, recipe)) == list(reference.words_inside(words, recipe))
        by_reference, by_kernels = reference.inside_of(words, recipe), compiled.inside_of(words, recipe)
        assert list(by_kernels.words) == list(by_reference.words)
        assert [by_kernels.rows.tolist(), by_kernels.first.tolist()] == [
            by_reference.rows.tolist(),
            by_reference.first.tolist(),
        ]


@given(st.text("ab :.'1/\r\n\tAé漢\u0301!\u00a0", max_size=60))
def test_a_run_of_words_ends_at_text_that_no_superword_may_contain(text: str) -> None:
    own = Recipe(pattern="custom", custom_pattern=NO_SUPERWORD)
    assert list(split_words(text, Recipe(pattern="superwords"))) == list(split_words(text, own))


def test_the_first_stage_of_superbpe_makes_the_same_merges_as_byte_pair_encoding_within_words() -> None:
    recipe = Recipe.preset("superbpe", merges=60, transition=40)
    pairs = train(Corpus.from_texts([TEXT]), recipe).pairs()
    assert pairs[:40] == train(Corpus.from_texts([TEXT]), Recipe.preset("o200k", merges=40)).pairs()
    texts = decoded(train(Corpus.from_texts([TEXT]), recipe))
    assert [text for text in texts[256:296] if b" " in text[1:]] == []
    assert b" the end of the" in texts[296:]
    assert not [text for text in texts if b": " in text or len(text.split()) > 4]


def test_both_stages_of_superbpe_give_the_same_merges_as_two_training_runs_of_the_tokenizers_library() -> None:
    """The library has no second stage, so the test trains twice, and replaces each token of the first training by one
    character.
    """
    tokenizers = pytest.importorskip("tokenizers")
    recipe = Recipe.preset(
        "superbpe", merges=120, transition=60, most_words=None, past_colons=True, ties="lowest-ids", min_frequency=2
    )
    history = train(Corpus.from_texts([TEXT]), recipe)
    first = Tokenizer(history.first(60))
    known = sorted({id for run in split_words(TEXT, recipe) for id in first.encode(run)})
    runs = ["".join(chr(0x4E00 + id) for id in first.encode(run)) for run in split_words(TEXT, recipe)]
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=len(known) + 60, min_frequency=2, show_progress=False)
    model.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\n"), "removed")
    model.train_from_iterator(["\n".join(runs)], trainer)
    texts = {id: bytes_of(token, decoded(history)) for token, id in model.get_vocab().items()}
    assert [texts[id] for id in range(len(known), len(texts))] == decoded(history)[256 + 60 :]


CODE = "".join(
    f"int f{i}(int a, char *b)\n{{\n\t\tif (a < {i} && b[0] == '{chr(97 + i)}')  \n"
    f"\t\t\treturn (a + {i});\t \n\t\t\t\t(void) b;  \n  \t\t}}\n\n"
    for i in range(20)
)


class TwoTrainings:
    """The method of SuperBPE's authors, written for the tests.

    It trains on all lines twice, and the second time it uses a different pattern.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.texts = [bytes([byte]) for byte in range(256)]
        self.pairs: list[tuple[int, int]] = []

    def words(self, expression: str) -> list[list[int]]:
        """Split every line into the matches of the expression and the texts between the matches.

        Then join all pairs that were learned so far.
        """
        pattern = regex.compile(f"({expression})")
        rows = [list(part.encode()) for line in self.lines for part in pattern.split(line) if part]
        for token, pair in enumerate(self.pairs, 256):
            rows = [plain.join(word, pair, token) for word in rows]
        return rows

    def can_continue(self, expression: str) -> bool:
        return any(len(word) > 1 for word in self.words(expression))

    def learned(
        self, expression: str, merges: int, may_join: Callable[[bytes], bool] = lambda text: True
    ) -> list[tuple[int, int]]:
        """Learn up to `merges` merges, and return all merges."""
        words = self.words(expression)
        while len(self.pairs) < merges:
            counts = Counter(pair for word in words for pair in pairwise(word))
            joinable = [pair for pair in counts if may_join(self.texts[pair[0]] + self.texts[pair[1]])]
            if not joinable:
                break
            best = min(joinable, key=lambda pair: (-counts[pair], pair))
            self.pairs.append(best)
            self.texts.append(self.texts[best[0]] + self.texts[best[1]])
            words = [plain.join(word, best, len(self.texts) - 1) for word in words]
        return self.pairs


def holds_few_words(text: bytes) -> bool:
    return b": " not in text and len([word for word in text.split(b" ") if word]) <= 4


@pytest.mark.parametrize("way", [METHOD.plain, METHOD.compiled], ids=["plain", "compiled"])
@given(st.data())
@settings(max_examples=40)
def test_superbpe_training_with_a_first_stage_on_whole_lines_matches_the_specification(
    way: Any, data: st.DataObject
) -> None:
    recipe = data.draw(recipes()).with_changes(first_stage="lines", unit="line")
    text = data.draw(st.text(data.draw(st.sampled_from([*LETTERS, "ab\t\n ()"])), min_size=2, max_size=120))
    words = words_of(text, recipe)
    if len(words) == 0:
        return
    assert words.at_first is not None
    assert words.at_first.total_bytes == words.total_bytes
    expected = reference.train(words, recipe)
    history = learn_in_short_calls(way.learner, words, recipe, data.draw(st.sampled_from([1, 10_000, 2**60])))
    assert all_columns(history) == all_columns(expected)
    assert history.reasons[STAGE].tolist() == expected.reasons[STAGE].tolist()


LINES_OF_WORDS = ["aB \t", "ab(){};\t ", "ab: .,\n", "a1 23\n\t"]


@given(st.sampled_from(LINES_OF_WORDS), st.integers(1, 25), st.data())
@settings(max_examples=60)
def test_the_superbpe_recipe_of_the_authors_learns_the_same_merges_as_two_training_runs(
    letters: str, within: int, data: st.DataObject
) -> None:
    text = data.draw(st.text(letters + "\n", min_size=20, max_size=150))
    theirs = TwoTrainings(text)
    words_by = data.draw(st.sampled_from(["o200k", "o200k-apart", "gpt2"]))
    choices: dict[str, Any] = {"ties": "lowest-ids", "min_frequency": 1, "words_by": words_by}
    steps = len(theirs.learned(NAMED_PATTERNS[words_by].expression, within))
    if steps < within or not theirs.can_continue(NO_SUPERWORD):
        return
    theirs.learned(NO_SUPERWORD, within + 20, holds_few_words)
    recipe = Recipe.preset("superbpe-authors", merges=within + 20, transition=within, **choices)
    assert train(Corpus.from_texts([text]), recipe).pairs() == theirs.pairs


@pytest.mark.parametrize("text", [CODE, TEXT, CODE.replace("    ", "\t")], ids=["code", "prose", "tabs"])
def test_the_superbpe_authors_preset_learns_the_same_merges_as_training_followed_by_extension(text: str) -> None:
    """The recipe is compared with the authors' trainer, and with our training and extension in two stages."""
    theirs = TwoTrainings(text)
    theirs.learned(NAMED_PATTERNS["o200k"].expression, 40)
    theirs.learned(NO_SUPERWORD, 90, holds_few_words)
    choices: dict[str, Any] = {"merges": 90, "transition": 40, "min_frequency": 1}
    by_ids = bpe.train([text], "superbpe-authors", ties="lowest-ids", **choices)
    assert by_ids.history.pairs() == theirs.pairs
    first = bpe.train([text], "o200k", merges=40, unit="line", ties="byte-alphabet", min_frequency=1)
    extended = bpe.extend(bpe.Corpus.from_texts([text]), first, by=50, across_words=True)
    assert bpe.train([text], "superbpe-authors", **choices).history.pairs() == extended.history.pairs()


def test_a_mixture_weights_the_words_of_both_superbpe_stages_and_a_session_keeps_these_words(tmp_path: Path) -> None:
    mixture = bpe.Mixture((bpe.Group("code"), bpe.Group("prose", weight=3)))
    choices: dict[str, Any] = {"merges": 60, "transition": 30, "ties": "lowest-ids"}
    study = bpe.train({"code": [CODE], "prose": [TEXT]}, "superbpe-authors", mixture=mixture, **choices)
    theirs = TwoTrainings(CODE + 3 * TEXT)
    theirs.learned(NAMED_PATTERNS["o200k"].expression, 30)
    theirs.learned(NO_SUPERWORD, 60, holds_few_words)
    assert study.history.pairs() == theirs.pairs
    words = study.inside.words()
    path = tmp_path / "run.bpex"
    write_run(study.history.first(20), words, path, ())
    (run,) = read_session(path).runs
    assert run.words is not None
    assert run.words.at_first is not None
    assert words.at_first is not None
    assert run.words.at_first.has_words_of(words.at_first)
    trainer = Trainer(run.words, study.history.recipe, history=run.history)
    trainer.advance()
    assert trainer.history.pairs() == study.history.pairs()


def test_training_superbpe_on_counted_words_is_refused_if_its_first_stage_needs_whole_lines(tmp_path: Path) -> None:
    words = words_of(TEXT, Recipe.preset("superbpe"))
    with pytest.raises(CorpusError, match="only runs of words are known"):
        bpe.train(words, "superbpe-authors", merges=9)
    (tmp_path / "words.csv").write_text("word,count\nby the way,3\n")
    with pytest.raises(CorpusError, match="known only as counted words"):
        bpe.train(tmp_path / "words.csv", "superbpe-authors", merges=9)


def test_questions_about_superbpe_count_pairs_in_whole_lines_if_the_first_stage_used_them() -> None:
    study = bpe.train([CODE], "superbpe-authors", merges=60, transition=30)
    for step in (1, 10, 30, 31, 60):
        answer = ask(study, "paid", step=step)
        assert sum(answer.columns["count"]) == study.history.columns.count[step - 1]
    assert any("whole lines" in sentence for sentence in [METHOD.choices_in_words(study.history)])


def test_extending_a_table_trained_on_whole_lines_gives_the_merges_of_the_superbpe_authors_two_trainings() -> None:
    theirs = TwoTrainings(CODE)
    theirs.learned(NAMED_PATTERNS["o200k"].expression, 30)
    first = bpe.train([CODE], "o200k", merges=30, unit="line", ties="lowest-ids")
    assert first.history.pairs() == theirs.pairs
    theirs.learned(NO_SUPERWORD, 60, holds_few_words)
    extended = bpe.extend(bpe.Corpus.from_texts([CODE]), first, by=30, across_words=True)
    assert extended.history.pairs() == theirs.pairs
    at_once = bpe.train([CODE], "superbpe", merges=60, transition=30, ties="lowest-ids")
    assert at_once.history.pairs() != theirs.pairs, "the first stage of one training sees runs alone"


def bytes_of(token: str, texts: list[bytes]) -> bytes:
    return b"".join(texts[ord(character) - 0x4E00] for character in token)


@given(st.data())
@settings(max_examples=30)
def test_superbpe_encoding_after_any_step_equals_applying_the_merges_in_order(data: st.DataObject) -> None:
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("superbpe", merges=80, transition=40))
    text = data.draw(st.sampled_from([TEXT[:200], "by the end of the day: the cat 12 34\n\nthe mat"]) | st.text())
    at, tokenizer = data.draw(st.integers(0, 80)), Tokenizer(history)
    ids = tokenizer.encode(text, at=at)
    assert ids == plain.encode(text, history, at=at)
    assert tokenizer.decode(ids) == text


@st.composite
def superword_tables(draw: st.DrawFn) -> History:
    """Draw merges in any order. Some join parts of a word, and some join words."""
    symbols, pairs = [*b"ab ,.\n", *"é".encode()], list[tuple[int, int]]()
    for step in range(draw(st.integers(0, 25))):
        pairs.append((draw(st.sampled_from(symbols)), draw(st.sampled_from(symbols))))
        symbols += [256 + step] * 2
    return History.from_pairs(Recipe.preset("superbpe", merges=len(pairs)), Alphabet.of_bytes(), pairs)


@given(st.data(), superword_tables(), st.sampled_from(["file", "line"]))
def test_superbpe_kernels_and_plain_python_give_the_same_ids_after_any_merge(
    data: st.DataObject, table: History, unit: str
) -> None:
    recipe = table.recipe.with_changes(unit=unit)
    history, cutting = History(recipe, table.alphabet, table.columns), Cutting(recipe)
    kernels, plainly = CompiledSuperwords(history, cutting), specified_words(history)
    texts = data.draw(st.lists(st.text("ab ,.\né1", max_size=40), max_size=4))
    edges = np.cumsum([0, *(len(text.encode()) for text in texts)])
    for at in data.draw(st.lists(st.integers(0, len(history)), min_size=1, max_size=3)):
        ids, begins = kernels.ids_of_texts(np.frombuffer("".join(texts).encode(), np.uint8), edges, at)
        wanted = [plainly.ids(text, at).tolist() for text in texts]
        assert [ids[start:stop].tolist() for start, stop in pairwise(begins.tolist())] == wanted
        assert [kernels.ids(text, at).tolist() for text in texts] == wanted


def test_the_first_merge_across_words_is_found_in_a_superbpe_table() -> None:
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("superbpe", merges=80, transition=40))
    assert first_across(history) == 40
    assert first_across(history.first(30)) == 30
    no_break = History.from_pairs(history.recipe, history.alphabet, [(0xC2, 0xA0), (256, 32), (97, 32)])
    assert first_across(no_break) == 2  # U+00A0 is no word


@pytest.mark.parametrize("at", [30, 80])
def test_the_tokenizers_library_splits_superwords_as_the_program_does(tmp_path: Path, at: int) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("superbpe", merges=80, transition=40)).first(at)
    path = tmp_path / "tokenizer.json"
    write_history(history, path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    text = TEXT + "  one\n\n  two:  three\t4 5678... the end of the day"
    assert theirs.encode(text).ids == Tokenizer(history).encode(text)
    assert theirs.decode(theirs.encode(text).ids) == text


def test_superbpe_training_can_be_resumed_from_any_step() -> None:
    recipe = Recipe.preset("superbpe", merges=60, transition=20)
    words = words_of(TEXT, recipe)
    whole = train(Corpus.from_texts([TEXT]), recipe)
    for steps in (0, 10, 20, 21, 60):
        trainer = Trainer(words, recipe, history=whole.first(steps))
        trainer.advance()
        assert all_columns(trainer.history) == all_columns(whole)
        assert trainer.history.reasons[STAGE].tolist() == whole.reasons[STAGE].tolist()


@pytest.mark.parametrize("make_kernels_due", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("steps", [25, 40])
def test_extending_an_imported_table_across_words_learns_the_next_merges_of_the_original_run(
    steps: int, make_kernels_due: bool
) -> None:
    """An extended table learns the merges that its original run would have learned next.

    Tables with and without superwords are tested.
    """
    recipe = Recipe.preset("superbpe", merges=60, transition=25, words_by="gpt2")
    corpus = Corpus.from_texts([TEXT])
    whole = train(corpus, recipe)
    file = History.from_pairs(Recipe.preset("gpt2", merges=steps), Alphabet.of_bytes(), whole.pairs()[:steps])
    growing = growing_recipe(file, 60 - steps, across_words=True)
    assert (growing.words_by, growing.transition, growing.unit) == ("gpt2", steps, "line")
    way = METHOD.compiled if make_kernels_due else METHOD.plain
    assert way is not None
    learner = way.learner(words_of(TEXT, growing), Alphabet.of_bytes(), growing, file)
    columns = Columns.with_room(60)
    while learner.learned < 60 and not learner.learn(columns, 60, 2**60):
        pass
    behind = columns.behind(steps)
    assert list(zip(behind.left, behind.right, strict=True)) == whole.pairs()[steps:]
    assert behind.count.tolist() == whole.columns.count[steps:].tolist()


def test_superbpe_merges_are_counted_in_words_before_the_transition_and_across_words_afterwards() -> None:
    recipe = Recipe.preset("superbpe", merges=60, transition=25)
    study = bpe.train(TEXT, "superbpe", merges=60, transition=25)
    history = study.history
    inside, runs = (
        dict(table) for table in (reference.words_inside(words_of(TEXT, recipe), recipe), words_of(TEXT, recipe))
    )
    for step in (1, 3, 25, 26, 60):
        answer = ask(study, "paid", step=step)
        paid = {bytes.fromhex(word) for word in answer.columns["hex"]}
        assert sum(answer.columns["count"]) == history.columns.count[step - 1]
        assert paid <= (inside.keys() if step <= 25 else runs.keys())
        assert sum(answer.facts["parts"].values()) == history.columns.count[step - 1]


@given(st.text("ab :.'\n", min_size=2, max_size=60), st.integers(0, 12), st.data())
@settings(max_examples=40)
def test_superbpe_tokens_are_counted_in_words_before_the_transition_and_across_words_afterwards(
    text: str, transition: int, data: st.DataObject
) -> None:
    first_stage = data.draw(st.sampled_from(["runs", "lines"]))
    recipe = Recipe.preset(
        "superbpe", merges=12, transition=transition or None, min_frequency=1, first_stage=first_stage
    )
    words = words_of(text, recipe)
    if len(words) == 0:
        return
    at_first = reference.words_inside(words, recipe) if words.at_first is None else words.at_first
    history = reference.train(words, recipe)
    turn, counted = transition_in(history), list[Counter[int | tuple[int, int]]]()
    stages = [
        [(Alphabet.of_bytes().symbols_of(word, recipe), count) for word, count in table] for table in (at_first, words)
    ]
    for step in range(len(history) + 1):
        if step:
            pair, token = history.pair(step - 1), 255 + step
            stages = [[(plain.join(word, pair, token), count) for word, count in symbol] for symbol in stages]
        now = stages[step >= turn]
        counted.append(Counter(plain.count_pairs(now)) + Counter())
        for word, count in now:
            for token in word:
                counted[-1][token] += count
    ranked, every = RankedWords.of(words, history), np.arange(len(history) + 1)
    met = sorted({symbol for counts in counted for symbol in counts}, key=str)
    if not met:
        return
    symbol = data.draw(st.sampled_from(met))
    followed = follow_pair(ranked, symbol if isinstance(symbol, tuple) else (symbol, NOTHING))
    assert followed.counts_at(every).tolist() == [counts[symbol] for counts in counted]
    assert followed.peak == max(counts[symbol] for counts in counted) == followed.count_at(followed.peak_at)


def test_superbpe_reasons_and_pair_counts_use_runs_of_words_only_after_the_transition() -> None:
    study, text = bpe.train(TEXT, "superbpe", merges=60, transition=25), "by the end of the day: the cat"

    def told(at: int) -> dict[int, str]:
        columns = ask(study, "why", text=text, at=at).columns
        return dict(zip(columns["byte"], columns["reason"], strict=True))

    inner = {match.start() for match in re.finditer("[ :]", text)}
    for at in (0, 24):
        assert {byte for byte, reason in told(at).items() if reason.startswith("Two words meet here")} == inner
    assert told(24)[10] == (
        "Two words meet here. Up to merge 25 no merge joins two words. Merge 26 joins ␣end + ␣of here."
    )
    assert told(25)[10] == "␣end + ␣of is only learned later, as merge 26."
    assert 10 not in told(26)
    assert told(40)[17] == "␣the␣end␣of␣the + ␣day would hold more than 4 words, which the recipe does not allow."
    assert told(40)[22] == ": + ␣the␣cat would hold a colon and the space after it, which the recipe does not allow."
    trees = [ask(study, "tree", text=text, byte=8, at=at).columns["text"][-1] for at in (24, 29)]
    assert trees == ["␣end", "␣cat"]
    fate = ask(study, "race", steps=(26,))
    assert fate.sentences[0] == "␣end + ␣of: 8 times after step 25, merged at step 26."
    assert list(zip(fate.columns["after_step"], fate.columns["count"], strict=True)) == [(25, 8), (26, 0)]


@given(st.sampled_from(LINES_OF_WORDS), st.sampled_from(["o200k", "o200k-apart", "gpt2"]), st.data())
@settings(max_examples=40)
def test_before_the_superbpe_transition_a_word_boundary_is_the_reason_only_at_starts_of_words(
    letters: str, words_by: str, data: st.DataObject
) -> None:
    random = data.draw(st.randoms(use_true_random=False))
    learned, text = ("".join(random.choices(letters, k=length)) for length in (200, 60))
    recipe = Recipe.preset(
        "superbpe-authors", merges=30, transition=15, min_frequency=1, words_by=words_by, special_tokens=("(ab)",)
    )
    history = train(Corpus.from_texts([learned]), recipe)
    turn = transition_in(history)
    parts = re.split(r"(\(ab\)|(?<=\n))", text)
    words = [
        part if part == "(ab)" else match[0]
        for part in parts
        for match in regex.finditer("(?s).+" if part == "(ab)" else NAMED_PATTERNS[words_by].expression, part)
    ]
    begins = {len("".join(words[:place])) for place in range(len(words))}
    why = Why(text, history, allowed_special="all")
    boundaries = Tokenizer(history).boundaries(text, allowed_special="all").ranks.tolist()
    for byte in range(1, len(text)):
        stays = turn <= boundaries[byte] != PATTERN_CUT
        kinds = {why.at_byte(byte, at).kind for at in range(turn)}
        assert not stays or (kinds == {"words"}) == (byte in begins) == ("words" in kinds)
        assert stays or "words" not in kinds


def test_superbpe_splits_two_tabs_before_punctuation_only_if_its_first_stage_uses_whole_lines() -> None:
    kinds = []
    for first_stage in ("lines", "runs"):
        text = "def f():\n\treturn a\nif a:\n\tf()\n" * 9
        study = bpe.train([text], "superbpe", merges=30, transition=15, first_stage=first_stage)
        columns = ask(study, "why", text="} \t\t)}(", at=0).columns
        kinds.append(columns["kind"][list(columns["byte"]).index(3)])
    assert kinds == ["words", "never"]


@pytest.mark.parametrize("merges", [25, 26, 60])
def test_ties_in_superbpe_occur_only_between_pairs_of_the_same_stage(merges: int) -> None:
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("superbpe", merges=merges, transition=25))
    words = words_of(TEXT, history.recipe)
    for tie in ties(history):
        leading = leading_pairs(words, history, tie.step - 1, 2)
        assert [(candidate.left, candidate.right, candidate.count) for candidate in leading] == [
            (*tie.winner, tie.count),
            (*tie.loser, tie.count),
        ]


def test_only_tables_of_byte_merges_can_be_extended_across_words() -> None:
    for preset, refused in (
        ("sentencepiece-like", "Superwords can be added only to a table of byte merges"),
        ("gpt2", ""),
    ):
        history = History.from_pairs(Recipe.preset(preset, merges=1), Alphabet.of_bytes(), [(32, 97)])
        with pytest.raises(RecipeError, match=refused) if refused else nullcontext():
            growing_recipe(history, 5, across_words=True, most_words=2, past_colons=True)
    with pytest.raises(RecipeError, match="Most words limits only superwords"):
        growing_recipe(history, 5, most_words=2)


def test_the_first_candidate_of_superbpe_is_the_next_pair_before_and_after_the_transition() -> None:
    recipe = Recipe.preset("superbpe", merges=30, transition=10)
    whole, words = train(Corpus.from_texts([TEXT]), recipe), words_of(TEXT, recipe)
    for steps in (9, 10, 11):
        trainer = Trainer(words, recipe, history=whole.first(steps))
        best = trainer.candidates(1)[0]
        assert (best.left, best.right, best.count) == (*whole.pair(steps), whole.columns.count[steps])


def test_a_superbpe_transition_after_the_last_merge_is_refused() -> None:
    recipe = Recipe.preset("superbpe", merges=60, transition=61)
    with pytest.raises(RecipeError, match="after 61 merges is never reached: this run makes only 60"):
        train(Corpus.from_texts([TEXT]), recipe)


def test_the_second_stage_of_superbpe_begins_early_if_words_have_no_more_pairs() -> None:
    history = train(Corpus.from_texts(["a b a b a b"]), Recipe.preset("superbpe", merges=9, transition=8))
    assert np.unique(history.reasons[STAGE]).tolist() == [1, 2]
    assert decoded(history)[256:] == [b" b", b" a", b" b a"]
