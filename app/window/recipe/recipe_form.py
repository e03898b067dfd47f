"""A model of the form that changes the recipe. It has the options of each choice, and says why a value is refused."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.session import Session
from app.session.time import timer
from app.window.parts.wording import without_options
from app.worker.job import Task
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import TokenTexts, shown
from bpe_core.methods.facts import FIRST_SIZE, MethodFacts
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.choice import LARGEST_VOCABULARY as LARGEST_VOCABULARY
from bpe_core.recipes.choice import Choice as Choice
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.parts import LearningChoices, MixtureChoices, Size, SplittingChoices, SteeringChoices, Symbols
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import CHOICES as CHOICES
from bpe_core.recipes.recipe import COMMON as COMMON
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.recipe import title_of as title_of
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import MATCHES_A_ROUND, part_without_table, split_words
from bpe_core.support.progress import CancelCheck, while_wanted
from bpe_core.text.patterns import NAMED_PATTERNS, SPELLED_OUT

PREVIEW_CHARACTERS = 2_000
PREVIEW_PAUSE_MILLISECONDS = 150


@dataclass(frozen=True)
class Option:
    value: Any
    title: str
    explanation: str


OPTIONS = {  # choices from a list
    "pattern": [
        *(Option(name, name, one.explanation) for name, one in (*NAMED_PATTERNS.items(), *SPELLED_OUT.items())),
        Option("custom", "my own …", f"Your own pattern. {CHOICES['custom_pattern'].tip}."),
    ],
    "ties": [Option(name, rule.label, f"The pair {rule.takes}.") for name, rule in TIE_RULES.items()],
    "base": [
        Option("bytes", "bytes", "The 256 bytes: every text in every language can be encoded."),
        Option("characters", "characters", "The characters of the corpus. Other characters are unknown."),
    ],
    "unit": [
        Option("file", "whole text", "A text is split as a whole."),
        Option("line", "line by line", "Each line, with its line break, is split separately."),
    ],
    "unicode_form": [
        Option("", "as it is", "Characters stay as they were typed."),
        Option("NFC", "NFC", "A letter and its accent become one character."),
        Option("NFKC", "NFKC", "Like NFC. In addition, forms such as ﬁ or ２ become ordinary characters."),
    ],
    "marker": [
        Option("none", "none", "Words are not marked."),
        Option("symbol", "</w> as a symbol", "Each word ends with a separate symbol."),
        Option("glued", "</w> attached", "The last character of each word carries the marker."),
        Option("prefix", "▁ in front", "Each word begins with the marker."),
        Option("continuation", "## inside words", "Tokens inside a word are shown with ##. The merges do not change."),
    ],
    "spelled_specials": [
        Option("", "not set", "A special token in the window, ordinary text in commands and Python."),
        Option("matched", "special token", "A special token, as in Hugging Face's libraries."),
        Option("text", "ordinary text", "Ordinary text, as in SentencePiece and tiktoken."),
    ],
    "unknown": [
        Option("unk", "<unk>", "A character outside the alphabet becomes the unknown token."),
        Option("bytes", "bytes", "A character outside the alphabet is encoded as bytes."),
    ],
}
NOT_OF_A_PRESET = {
    "min_frequency",
    "max_token_length",
    "ties",
    "older_unicode",
    "whole_characters",
}  # choices that may differ from a preset


def choices_of_methods() -> list[str]:
    """Return the names of the choices that exist only for some methods. The choices of plug-ins come last."""
    of_methods = (field.name for field in dataclasses.fields(LearningChoices))
    common = (name for name in of_methods if name not in {"method", *NOT_OF_A_PRESET})
    return [*common, *(name for name in CHOICES if name not in COMMON)]


def presets() -> dict[str, list[Option]]:
    by_method: dict[str, list[Option]] = {listed.title: [] for listed in METHODS.values()}
    for name, preset in PRESETS.items():
        by_method[METHODS[Recipe.preset(name).method].title].append(Option(name, name, preset.explanation))
    return {title: options for title, options in by_method.items() if options}


def methods(fits: Callable[[MethodFacts], bool] = lambda method: True) -> list[Option]:
    """Return the methods that `fits` accepts, as options of the form."""
    return [Option(name, method.title, method.explanation) for name, method in METHODS.items() if fits(method)]


def options(choice: str) -> list[Option]:
    if choice == "method":
        return methods()
    declared = CHOICES[choice]
    unlabelled = (Option(value, *declared.labels.get(value, (value.replace("-", " "), ""))) for value in declared.among)
    return OPTIONS.get(choice) or [*unlabelled]


def value_text(choice: str, recipe: Recipe, names: TokenTexts | None = None) -> str:
    """Return the value of a choice as the recipe panel shows it.

    >>> some = Recipe.preset("gpt2", special_tokens=("<s>",), lowercase=True)
    >>> [value_text(name, some) for name in ("ties", "vocab_size", "merges", "special_tokens", "lowercase", "mixture")]
    ['first seen', '32,000', '–', '<s>', 'yes', '–']
    >>> from bpe_core.text.preparation.normalizers import Replace
    >>> value_text("preparation", Recipe.preset("words", preparation=(Replace("``", False, '"'),)))
    '“``” becomes “"”.'
    """
    value = getattr(recipe, choice)
    if choice == "mixture" and value is not None:
        return str(value.in_words())
    if choice == "interventions" and names is not None:
        return "; ".join(_by_hand(item, names) for item in value) or "–"
    if choice == "preparation":
        return " ".join(step.words for step in value) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (tuple, int)):
        return f"{value:,}" if isinstance(value, int) else " ".join(map(str, value)) or "–"
    listed = (
        (item.title for item in options(choice) if item.value == value) if CHOICES[choice].kind is str else iter(())
    )
    return next(listed, value or "–")


def _by_hand(intervention: Intervention, names: TokenTexts) -> str:
    texts = (names.text[id] if id < len(names.text) else f"#{id}" for id in intervention.pair)
    act = intervention.act
    return f"{act} {' + '.join(texts)} {'from' if act == 'forbid' else 'at'} {intervention.step:,}"


class RecipeForm(QObject):
    """A form that changes one choice of the recipe at a time. If a value is impossible, a sentence says why."""

    changed = Signal()
    compared = Signal()  # the recipe or the run shown may be another
    refused = Signal(str, str)  # the choice, the sentence
    split = Signal(tuple)  # the words of the preview, as they are shown
    split_failed = Signal(str)
    slow = Signal(str)  # why the custom pattern is slow; empty if it is not

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        recipe = session.recipe
        text = session.text
        self._recipe = recipe
        self._text = text
        self._background = session.background
        self.standing: dict[str, tuple[Any, str]] = {}  # refused entries: the value that stays, and why
        self._own_size: Size | None = None  # the method that the user chose last
        self._sizes_by_itself = {recipe.value.part(Size), *(Recipe.preset(name).part(Size) for name in PRESETS)}
        self._preview_soon = timer(self, PREVIEW_PAUSE_MILLISECONDS, self.preview)
        self._runs = session.runs
        recipe.changed.connect(lambda _: self._recipe_changed())
        session.runs.changed.connect(self.compared)
        text.changed.connect(lambda _: self._preview_soon.start())

    def value(self, choice: str) -> Any:
        return getattr(self._recipe.value, choice)

    def applies(self, choice: str) -> bool:
        """Return whether a choice has an effect in the current recipe. A choice with a single option has no effect."""
        return self._recipe.value.applies(choice) and (choice != "method" or len(METHODS) > 1)

    @property
    def preset(self) -> str:
        """Return the name of the preset that equals the recipe, except for the vocabulary size.

        Return an empty string if the recipe differs from all presets.
        """
        recipe = self._recipe.value
        for name in PRESETS:
            differing = recipe.differing(Recipe.preset(name), SplittingChoices, Symbols, LearningChoices)
            if NOT_OF_A_PRESET.issuperset(differing):
                return name
        return ""

    @property
    def explanation(self) -> str:
        return PRESETS[self.preset].explanation if self.preset else "Your own choices."

    @property
    def shown_run(self) -> str:
        return "" if self._runs.shown is None else f"Run {self._runs.shown.number:,}"

    def _recipe_shown(self) -> Recipe | None:
        """Return the recipe of the run shown, with `grown_from` set to 0. Return None if no run is shown.

        If `grown_from` is not 0, the run extended a table.
        """
        return None if self._runs.shown is None else self._runs.shown.recipe.with_changes(grown_from=0)

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """Return a row for each choice in which this recipe differs from the recipe of the run shown.

        A row holds the title of the choice, its new value, and its value in the run.
        """
        recipe = self._recipe.value
        other = self._recipe_shown()
        if other is None:
            return []
        parts = (SplittingChoices, Symbols, Size, LearningChoices, SteeringChoices, MixtureChoices)
        names = recipe.differing(other, *parts)
        known = (name for name in CHOICES if name in names and (recipe.applies(name) or other.applies(name)))
        texts = None if self._runs.shown is None else self._runs.shown.names
        return [(title_of(name), value_text(name, recipe, texts), value_text(name, other, texts)) for name in known]

    def use_recipe_shown(self) -> None:
        recipe = self._recipe_shown()
        if recipe is not None:
            self._recipe.put(recipe, f"Use the recipe of {self.shown_run.lower()}")

    @property
    def shrinks(self) -> bool:
        """Return whether the training begins with too many tokens and drops tokens down to the vocabulary size."""
        return self._recipe.value.single == "drop" and self.method.has_seeds

    @property
    def method(self) -> MethodFacts:
        return METHODS[self._recipe.value.method]

    def choose_method(self, name: str, size: int | None = None) -> None:
        """Choose the first preset of a method. If it has no preset, change only the method of the recipe.

        If `size` is None, keep the current vocabulary size, if possible. If the user has not chosen that size and it is
        small, take the `first_size` of the method instead.
        """
        old = self._recipe.value
        preset = next((preset for preset in PRESETS if Recipe.preset(preset).method == name), None)
        try:
            recipe = old.with_changes(method=name) if preset is None else Recipe.preset(preset)
            recipe = recipe.with_changes(mixture=old.mixture)
            if preset is not None and old.vocab_size is not None and recipe.vocab_size is not None:
                is_first = size is None and not self.has_own_size and old.vocab_size <= FIRST_SIZE
                wanted = METHODS[name].first_size if is_first else size or old.vocab_size
                with contextlib.suppress(RecipeError):
                    recipe = recipe.with_changes(vocab_size=wanted)
                if is_first or size is not None:
                    self.note_size(recipe)
        except RecipeError as error:
            self.refuse("method", str(error))
        else:
            self._recipe.put(recipe, f"Method {METHODS[name].title}")

    @property
    def has_own_size(self) -> bool:
        size = self._recipe.value.part(Size)
        return size == self._own_size or size not in self._sizes_by_itself

    def note_size(self, recipe: Recipe) -> None:
        """Remember that the program chose the size in a recipe. Such a size does not count as the user's choice."""
        self._sizes_by_itself.add(recipe.part(Size))

    def choose_preset(self, name: str) -> None:
        """Choose a preset. If the user chose a vocabulary size that the preset allows, keep this size."""
        recipe = Recipe.preset(name, mixture=self._recipe.value.mixture)
        if self.has_own_size:
            with contextlib.suppress(RecipeError):
                recipe = recipe.with_changes(**dataclasses.asdict(self._recipe.value.part(Size)))
        self._recipe.put(recipe, f"Recipe {name}")

    def refuse(self, choice: str, sentence: str) -> None:
        """Mark a choice as refused, and show why. An empty sentence removes the mark."""
        sentence = without_options(sentence)
        self.standing.pop(choice, None)
        if sentence and CHOICES[choice].kind in (str, tuple):
            self.standing[choice] = self.value(choice), sentence
        self.refused.emit(choice, sentence)

    def choose(self, **changes: Any) -> bool:
        """Give these choices new values. Return False if the values are refused."""
        choice = next(iter(changes))
        if changes.get("pattern", "custom") != "custom":
            changes["custom_pattern"] = ""
        try:
            changed = self._recipe.value.with_changes(**changes)
        except RecipeError as error:
            self.refuse(choice, str(error))
            return False
        if choice in ("vocab_size", "merges"):
            self._own_size = changed.part(Size)
        self._recipe.put(changed, f"Recipe: {title_of(choice)}", joins=True)
        self.refuse(choice, "")
        return True

    def preview(self) -> None:
        """Split the beginning of the user's text into words, to show a preview.

        The text is split in a background task, because a pattern may be slow.
        """
        beginning = self._text.value[:PREVIEW_CHARACTERS]
        recipe = self._recipe.value

        def split(task: Task) -> tuple[str, ...]:
            return words_shown(beginning, recipe, task.cancelled)

        self._background.run("preview", split, self.split.emit, self.split_failed.emit)
        if recipe.pattern == "custom":
            self._background.run("own_pattern", lambda task: part_without_table(recipe), self.slow.emit)

    def _recipe_changed(self) -> None:
        self.standing = {
            choice: refused for choice, refused in self.standing.items() if self.value(choice) == refused[0]
        }
        self.changed.emit()
        self.compared.emit()
        self._preview_soon.start()


def words_shown(text: str, recipe: Recipe, cancelled: CancelCheck) -> tuple[str, ...]:
    """Return the words of a text.

    `cancelled` is called after every MATCHES_A_ROUND words, because a pattern may be slow.
    """
    words = while_wanted(split_words(normalize(text, recipe), recipe), cancelled, every=MATCHES_A_ROUND)
    return tuple(shown(word.encode()) for word in words)
