"""Checks, on a small text, that a method does what the rest of the program expects.

    >>> from bpe_core.methods.bpe import METHOD
    >>> check_method(METHOD)[:2]
    ('the method has a name, a title and an explanation', 'the method learns from a small text')

The tests run the checks for each method of the project. Authors of a method run `check_method`, as they would run
`check_estimator` of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, NothingToLearn, plain
from bpe_core.formats import open_table, write_history
from bpe_core.history.history import Columns, History
from bpe_core.insight.token_life import life_without_words
from bpe_core.insight.ways import DRAWN, ways_of
from bpe_core.kernels import readiness
from bpe_core.lessons.lessons import lesson_from
from bpe_core.methods.kit.explanation import NoTree
from bpe_core.methods.kit.learner import UNLIMITED
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.sharing.lesson_contents import lesson_contents
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture

TEXT = (
    "The old lighthouse keeper kept the lights of the old lighthouse, and lower down the lowest lights were lower.\n"
    "He wrote: newer nets, newest nets, the widest nets. Nine nets in the new net house!\n"
) * 3
OTHER_TEXT = "Zebras and quaggas graze.\nQuaggas and zebras graze again.\n" * 3
ODD_TEXTS = ("", " ", "\0", "e\N{COMBINING ACUTE ACCENT}\t\r\n", "שלום, 世界! \N{GRINNING FACE}", "lights" * 300)
LANGUAGES = ("first", "second")  # languages whose lines alternate in the text, for a method that serves languages
STEPS = 12
MOST_WORDS = 20
NO_TOKEN_HAS = 10**9  # an id


class MethodIsWrong(BpeError):
    """An error that is raised when a method does not do what the rest of the program expects."""


def check_method(method: Method, recipe: Recipe | None = None, text: str = TEXT) -> tuple[str, ...]:
    """Check on a small text that a method follows all rules. Raise `MethodIsWrong` for the first rule that it breaks.

    Parameters
    ----------
    method
        The method. It need not be registered yet.
    recipe
        A recipe of the method. The default is the method's first preset with a few steps. If there is no preset, the
        recipe is made from `needs`.
    text
        The text to learn from and to split, by default a few lines of English. If the recipe mixes groups, the groups
        take turns in getting a line.

    Returns
    -------
    tuple of str
        The rules that the method follows.

    Examples
    --------
    >>> from bpe_core.methods.bpe import METHOD
    >>> check_method(METHOD)[0]
    'the method has a name, a title and an explanation'
    """
    with _registered(method):
        check = _Check(method, recipe or _small_recipe(method), text)
        held: list[str] = []
        for sentence, holds in check.sentences():
            try:
                holds()
            except MethodIsWrong as error:
                raise MethodIsWrong(
                    f"{method.title or type(method).__name__} does not keep this rule: {sentence}. {error}"
                ) from error
            held.append(sentence)
        return tuple(held)


@contextmanager
def _registered(method: Method) -> Iterator[None]:
    """Register the method during the check, so that recipes can name it."""
    name = method.name
    if name in METHODS and METHODS[name] is method:
        yield
        return
    method.name = name or "method-to-check"
    before = METHODS.get(method.name)
    METHODS[method.name] = method
    try:
        yield
    finally:
        if before is None:
            del METHODS[method.name]
        else:
            METHODS[method.name] = before
        method.name = name


def _small_recipe(method: Method) -> Recipe:
    recipe = Recipe.preset(next(iter(method.presets))) if method.presets else Recipe(method=method.name, **method.needs)
    small = recipe.with_changes(merges=STEPS, min_frequency=2)
    if method.serves_languages and small.mixture is None:
        groups = tuple(Group(name, ratio=Fraction(1)) for name in LANGUAGES)
        return small.with_changes(mixture=Mixture(groups))
    return small


def _corpus(text: str, recipe: Recipe) -> Corpus:
    if recipe.mixture is None:
        return Corpus.from_texts([text])
    lines = text.splitlines(keepends=True)
    names = [group.name for group in recipe.mixture.groups]
    dealt = {name: "".join(lines[place :: len(names)]) for place, name in enumerate(names)}
    return Corpus.grouped({name: Corpus.from_texts([part]) for name, part in dealt.items()})


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise MethodIsWrong(otherwise)


class _Check:
    def __init__(self, method: Method, recipe: Recipe, text: str) -> None:
        self.method = method
        self.recipe = recipe
        self.text = text

    def sentences(self) -> Iterator[tuple[str, Callable[[], None]]]:
        yield "the method has a name, a title and an explanation", self._is_named
        yield "the method learns from a small text", self._learns
        yield "stopping and continuing after every step gives the same history", self._goes_on
        yield "repeating the first steps of a history gives the same history", self._replays
        yield "the next step merges the first candidate", self._foretells
        if self.method.specification is not None:
            yield "the method makes the same steps as its specification", self._follows_its_specification
        compiled = self.method.compiled
        if compiled is not None and self.method.plain is not None and readiness.is_ready(compiled.part):
            yield "machine code and plain Python make the same steps", self._is_as_fast_code
        yield "encoding and splitting give the same tokens after every step", self._agrees_with_itself
        yield "after some steps a text is split as if there were no later steps", self._travels
        yield "every byte of a text belongs to at most one token, and the tokens are in order", self._covers
        yield "decoding the ids of a text gives the text again", self._decodes
        yield "empty texts and texts with unusual characters are encoded and decoded", self._splits_odd_texts
        yield "each place of a text has an explanation, which agrees with the split", self._explains
        yield "the tokens in the merge tree of a word are the tokens that the text is split into", self._builds_trees
        yield (
            "the life of a token can be described, and the ways to split a word cover the whole word",
            self._lives_and_has_ways,
        )
        yield "the table is the same after writing and reading", self._is_kept
        yield "a text without words is refused with a message", self._refuses_nothing
        yield (
            "a vocabulary size that is too small, steps of another text and unknown ids are refused with a message",
            self._refuses,
        )
        if self.method.lessons:
            yield "each lesson about the method can be completed", self._teaches

    def _is_named(self) -> None:
        method = self.method
        _require(bool(method.name and method.title), "The method needs a name and a title.")
        _require(method.explanation.endswith("."), "The explanation of the method must end with a full stop.")
        _require(
            Recipe.from_json(self.recipe.to_json()) == self.recipe, "The recipe differs after writing and reading."
        )

    def _teaches(self) -> None:
        for name, toml in self.method.lessons.items():
            try:
                lesson_contents(lesson_from(name, toml))
            except (BpeError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise MethodIsWrong(f"In the lesson {name} something is wrong: {plain(str(error))}") from error

    def _counted(self, text: str) -> WordTable:
        return count_words(_corpus(text, self.recipe), self.recipe)

    def _learns(self) -> None:
        self.words: WordTable = self._counted(self.text)
        self.history: History = learn(self.words, self.recipe)
        _require(len(self.history) > 0, "The method made no step.")
        planned = self.method.steps_planned(self.recipe, self.history.alphabet)
        _require(
            len(self.history) <= planned, f"The method made {len(self.history)} steps, but planned only {planned}."
        )

    def _goes_on(self) -> None:
        trainer = Trainer(self.words, self.recipe)
        while not trainer.advance(max_merges=1).finished:
            pass
        self._require_same(trainer.history, "Learning one step at a time")

    def _replays(self) -> None:
        for steps in {1, len(self.history) // 2, len(self.history)}:
            again = learn(self.words, self.recipe, history=self.history.first(steps))
            self._require_same(again, f"Continuing after {steps} steps")

    def _foretells(self) -> None:
        trainer = Trainer(self.words, self.recipe)
        for step in range(min(3, len(self.history))):
            trainer.look_ahead()
            leading = trainer.candidates(1)
            trainer.advance(max_merges=1)
            if leading:
                row = trainer.history.columns
                made = int(row.left[step]), int(row.right[step])
                expected = leading[0].left, leading[0].right
                _require(
                    expected == made,
                    f"At step {step + 1} the first candidate was the pair {expected}, but the pair {made} was merged.",
                )

    def _follows_its_specification(self) -> None:
        assert self.method.specification is not None
        self._require_same(self.method.specification(self.words, self.recipe), "The specification")

    def _is_as_fast_code(self) -> None:
        for fast in (False, True):
            alphabet, learner = self.method.begin(self.words, self.recipe, fast=fast)
            planned = self.method.steps_planned(self.recipe, alphabet)
            columns = Columns.with_room(planned)
            end = ""
            while not end and learner.learned < planned:
                end = learner.learn(columns, planned, UNLIMITED)
            learned = History(self.recipe, alphabet, columns.first(learner.learned))
            self._require_same(learned, "The machine code" if fast else "The plain Python")

    def _require_same(self, other: History, who: str) -> None:
        for name in ("left", "right", "count", "tokens_left"):
            ours = getattr(self.history.columns, name)
            theirs = getattr(other.columns, name)
            _require(len(ours) == len(theirs), f"{who} makes {len(theirs)} steps, not {len(ours)}.")
            differs = np.flatnonzero(ours != theirs)
            if len(differs):
                step = int(differs[0])
                raise MethodIsWrong(
                    f"{who} gives another {name!r} at step {step + 1}: {theirs[step]}, not {ours[step]}."
                )

    def _moments(self) -> list[int]:
        return sorted({0, 1, len(self.history) // 2, len(self.history)})

    def _agrees_with_itself(self) -> None:
        tokenizer = Tokenizer(self.history)
        segmentation = tokenizer.segmentation(self.text)
        for at in self._moments():
            tokens = segmentation.with_empty(segmentation.tokens(at), at)
            ids = tokens.ids[tokens.ids != NO_TOKEN].tolist()
            encoded = tokenizer.encode(self.text, at=at)
            _require(
                ids == encoded,
                f"After {at} steps the text is split into the ids {ids[:9]}…, but encoded as {encoded[:9]}….",
            )

    def _travels(self) -> None:
        whole = Tokenizer(self.history)
        for at in self._moments():
            then, now = (tokenizer.encode(self.text, at=at) for tokenizer in (whole, Tokenizer(self.history.first(at))))
            _require(
                then == now,
                f"The whole history gives the ids {then[:9]}… after {at} steps, but its first {at} steps alone give "
                f"{now[:9]}….",
            )

    def _covers(self) -> None:
        segmentation = Tokenizer(self.history).segmentation(self.text)
        for at in self._moments():
            edges = segmentation.tokens(at).edges
            reaches = edges[0] == 0 and edges[-1] == len(self.text.encode())
            rises = bool((np.diff(edges) >= 0).all())
            _require(
                reaches and rises,
                f"After {at} steps the edges of the tokens are not sorted, or do not reach the end of the text.",
            )

    def _decodes(self) -> None:
        for at in self._moments():
            self._comes_back(self.text, at)

    def _splits_odd_texts(self) -> None:
        tokenizer = Tokenizer(self.history)
        for text in ODD_TEXTS:
            for at in (0, len(self.history)):
                self._comes_back(text, at)
                edges = tokenizer.segmentation(text).tokens(at).edges
                _require(
                    edges[-1] == len(text.encode()),
                    f"After {at} steps the text {text[:9]!r} is not split up to its end.",
                )

    def _comes_back(self, text: str, at: int) -> None:
        tokenizer = Tokenizer(self.history)
        ids = tokenizer.encode(text, at=at)
        back = tokenizer.decode(ids)
        if self.recipe.base == "bytes" and not self.recipe.normalizes:
            _require(back == text, f"After {at} steps decoding gives another text: {back[:40]!r}.")
        elif text is self.text:  # this text has no unknown characters
            _require(tokenizer.encode(back, at=at) == ids, f"After {at} steps the decoded text has other ids.")

    def _explains(self) -> None:
        at = len(self.history)
        line = self.text.splitlines()[0]
        explained = self.method.explain(line, self.history, ())
        edges = set(Tokenizer(self.history).segmentation(line).tokens(at).edges.tolist())
        for byte in range(1, len(line.encode())):
            explanation = explained.explanation_at(byte, at)
            _require(bool(explanation.sentence), f"The explanation of byte {byte} has no sentence.")
            if explanation.kind in ("joined", "inside", "tokens"):
                _require(
                    explanation.is_cut == (byte in edges),
                    f"The explanation of byte {byte} has is_cut={explanation.is_cut}, but the text is split "
                    "differently.",
                )

    def _builds_trees(self) -> None:
        at = len(self.history)
        line = self.text.splitlines()[0]
        explained = self.method.explain(line, self.history, ())
        edges = set(Tokenizer(self.history).segmentation(line).tokens(at).edges.tolist())
        for byte in range(1, len(line.encode())):
            try:
                word = explained.word_at(byte, at)
            except NoTree:
                continue
            there = {word.byte_at(piece.start) for piece in word.tokens(at)}
            _require(
                there <= edges,
                f"The tree at byte {byte} has tokens that begin at {sorted(there - edges)}, but the text is not "
                "split there.",
            )
            _require(set(word.tokens(at)) <= set(word.pieces(at)), f"The tree at byte {byte} lacks a token.")

    def _lives_and_has_ways(self) -> None:
        history = self.history
        at = len(self.history)
        token = int(history.indices[0])
        life = self.method.life(token, at, history, self.words, lambda: life_without_words(history, token, at))
        _require(
            (life.token, life.at) == (token, at),
            "The method describes the life of another token, or a life after another number of steps.",
        )
        try:
            ways = ways_of(history)
        except BpeError:  # the method splits no words
            return
        for word, _ in self.words.most_frequent(MOST_WORDS):
            covered = len(ways.lattice(word).symbols)
            for way in (way for way in ways.known if way not in DRAWN):
                length = sum(ways.length(id) for id in ways.cut(way, word))
                _require(
                    length == covered,
                    f"The way {way} covers {length} symbols of {word!r}, but this word has {covered}.",
                )

    def _is_kept(self) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "table.json"
            write_history(self.history, path)
            self._require_same(open_table(path).history, "The table that was read back")

    def _refuses_nothing(self) -> None:
        for nothing in ("", "\n"):
            try:
                learn(self._counted(nothing), self.recipe)
            except NothingToLearn as error:
                _require(bool(str(error)), "An empty text is refused without a message.")
            except BpeError:
                continue

    def _refuses(self) -> None:
        def learn_too_few() -> History:
            return learn(self.words, self.recipe.with_changes(merges=None, vocab_size=1))

        _refused(learn_too_few, "A vocabulary of one token", or_done=self.method.single == "drop")
        other = self._counted(OTHER_TEXT)
        _refused(lambda: learn(other, self.recipe, history=self.history), "A history of another text")
        _refused(lambda: Tokenizer(self.history).decode([NO_TOKEN_HAS]), "An id without a token")


def _refused(work: Callable[[], object], what: str, *, or_done: bool = False) -> None:
    try:
        work()
    except BpeError as error:
        _require(bool(str(error)), f"{what} is refused without a message.")
    except Exception as error:
        raise MethodIsWrong(
            f"{what} ends in {type(error).__name__} instead of a BpeError with a sentence: {error}"
        ) from error
    else:
        _require(or_done, f"{what} is not refused.")
