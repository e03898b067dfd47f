"""The texts that commands read, their groups and how these are mixed.

Texts that were passed over, or changed while they were read, are reported on standard error.

--group de texts/de --group code src lib/*.py --weights de=70% code=30% --by bytes
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from bpe_core.command_line.arguments import USUAL_WINDOW, number, shares, text_argument
from bpe_core.errors import CorpusError, RecipeError, plain
from bpe_core.recipes.mixture import By, Group, Mixture, Of, Sample, weight_of
from bpe_core.studies.texts import CorpusTexts
from bpe_core.support.limits import size_in

if TYPE_CHECKING:  # loaded where files are read
    from bpe_core.text.corpus import Corpus, Skipped

FIELD = (
    "in .jsonl, .csv, .parquet and .arrow files, where the text is: body, doc.body, messages[].content; "
    "otherwise text, content, body or document, or the only one that holds text"
)
WORD_LIST = (
    "the files hold words and how often each occurs (word<TAB>count, CSV, Parquet), or not; otherwise only "
    "those do whose two columns are named so"
)
_said: ContextVar[Mapping[str, Any]] = ContextVar("how files are read", default=MappingProxyType({}))


def add_corpus(parser: argparse.ArgumentParser, purpose: str, *, required: bool = False) -> None:
    parser.add_argument("--corpus", nargs="+", required=required, default=[], metavar="FILE", help=purpose)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Declare how files are read; it holds for all that a command reads."""
    parser.set_defaults(reading_as=read_as)
    reading = parser.add_argument_group("how files are read")
    add = reading.add_argument
    add("--encoding", metavar="NAME", help="such as latin-1; otherwise UTF-8, or what the file's mark says")
    invalid = "bytes that are not text: refuse the file (the default), show them as U+FFFD, or leave them out"
    add("--on-invalid", choices=["strict", "replace", "skip"], default="strict", help=invalid)
    add("--include", action="append", metavar="PATTERN", help="in folders, only such files: '*.txt'")
    add("--field", metavar="NAME", help=FIELD)
    add("--word-list", action=argparse.BooleanOptionalAction, help=WORD_LIST)
    add("--on-bad-row", choices=["error", "skip"], default="error", help="rows of such files that are broken")


@contextmanager
def read_as(options: argparse.Namespace) -> Iterator[None]:
    said = {name: getattr(options, name) for name in ("encoding", "on_invalid", "field", "word_list", "on_bad_row")}
    token = _said.set({**said, "file_patterns": tuple(options.include or ["*"])})
    try:
        yield
    finally:
        _said.reset(token)


@contextmanager
def reading(
    files: Sequence[str],
    reported: Sequence[Skipped] = (),
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    twice: bool = False,
) -> Iterator[Corpus]:
    """Open these files or groups; afterwards report odd things about them, except those `reported` before."""
    corpus = _corpus_of(files, groups or {}, twice, _said.get())
    yield corpus
    for skipped in corpus.skipped:
        if skipped not in reported:
            sys.stderr.write(f"{plain(str(skipped))}\n")


def _corpus_of(
    files: Sequence[str], groups: Mapping[str, Sequence[str]], twice: bool, choices: Mapping[str, Any]
) -> Corpus:
    from bpe_core.text.corpus import Corpus

    if not groups:
        return Corpus.from_files(list(files), twice=twice, **choices)
    if files:
        raise CorpusError(f"{files[0]} is in no group; put all texts into groups (--group NAME FILE ...), or none.")
    corpora = {name: Corpus.from_files(list(paths), twice=twice, **choices) for name, paths in groups.items()}
    return Corpus.grouped(corpora, twice=twice)


def named_texts(files: Sequence[str], groups: Mapping[str, Sequence[str]] = MappingProxyType({})) -> CorpusTexts:
    """Return texts that may be read several times; odd things about them are reported once."""
    reported: list[Skipped] = []

    @contextmanager
    def opened() -> Iterator[Corpus]:
        with reading(files, tuple(reported), groups=groups) as corpus:
            yield corpus
        reported.extend(corpus.skipped)

    return CorpusTexts(opened, list(files) or list(groups))


def add_groups(parser: argparse._ActionsContainer) -> None:
    group: dict[str, Any] = {"nargs": "+", "action": "append", "default": [], "metavar": ("NAME", "FILE")}
    group["help"] = "a group of texts: its name, then files and folders (may be repeated)"
    parser.add_argument("--group", type=text_argument, **group)
    folders = "each folder in this one is a group, by its name; files beside them, too"
    parser.add_argument("--groups-of", metavar="FOLDER", help=folders)


def add_mixture(parser: argparse.ArgumentParser) -> None:
    groups = parser.add_argument_group("groups of texts, and how they are mixed")
    add_groups(groups)
    lists = (
        ("weights", "WEIGHT", "shares that add up to 100%%, such as de=70%% code=30%%; or factors: de=2 code=0.5"),
        ("sample", "PART", "take only the first 10MB of a group, or 5%% of it by chance; without NAME= of each"),
        ("unique", "WHAT", "leave out documents, or lines, met before in their group; without NAME= in each"),
    )
    for name, what, help in lists:
        taken: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "type": text_argument}
        groups.add_argument(f"--{name}", metavar=f"NAME={what}", help=help, **taken)
    bases = [by for by in get_args(By) if by != "times"]
    groups.add_argument("--by", choices=bases, help="what shares are parts of; else bytes")
    groups.add_argument("--sample-of", choices=get_args(Of), default="documents", help="what is taken by chance")
    groups.add_argument("--seed", type=number, default=0, metavar="N", help="another one takes others by chance")
    groups.add_argument("--twice", action="store_true", help="a file that is named twice counts twice")


def add_languages(parser: argparse.ArgumentParser) -> None:
    """Declare what a method that serves languages needs to know of them."""
    languages = parser.add_argument_group("languages, which are the groups by --method parity")
    add = languages.add_argument
    dev: dict[str, Any] = {"nargs": "+", "action": "append", "default": [], "metavar": ("NAME", "FILE")}
    dev["help"] = "the text of a language that shows who is worst off, the same in all; it is not learned from"
    add("--dev", type=text_argument, **dev)
    ratio: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "type": text_argument}
    ratio["help"] = "or, without such texts, how much shorter than others each is to become: de=1 fi=1.3"
    add("--ratio", metavar="NAME=NUMBER", **ratio)
    add("--global-merges", type=number, metavar="N", help="the first N merges serve all languages together")
    add("--variant", choices=["base", "window"], help="window: none is served much more often than others in a row")
    add("--window-size", type=number, metavar="N", help=f"of so many merges ({USUAL_WINDOW})")
    add("--alpha", type=shares, metavar="NUMBER", help="a language gets at most so many equal shares of a window (2)")


def groups_of(options: argparse.Namespace) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, *files in options.group:
        if not files:
            raise RecipeError(f"Which texts are in the group {name!r}? Write --group NAME FILE ...")
        found.setdefault(name, []).extend(files)
    for language, *files in getattr(options, "dev", ()):
        if not files:
            raise RecipeError(f"Which text is the dev text of {language!r}? Write --dev NAME FILE ...")
        found.setdefault(dev_name(language), []).extend(files)
    if options.groups_of is not None:
        from bpe_core.text.reading.folders import folders_in

        for name, paths in folders_in(Path(options.groups_of)).items():
            found.setdefault(name, []).extend(map(str, paths))
    return found


def names_of(files: Sequence[str], groups: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[str]:
    """Return what a session calls these texts: the names of files, without their folders.

    >>> names_of(["texts/a.txt", "-"], {"en": ["/home/me/en.txt"]})
    ['a.txt', 'standard input', 'en.txt']
    """
    given = chain(files, *groups.values())
    return ["standard input" if file == "-" else Path(file).name or file for file in given]


def dev_name(language: str) -> str:
    """Name the group of a language's dev texts."""
    return f"{language} (dev)"


def mixture_of(options: argparse.Namespace, names: Sequence[str], before: Mixture | None) -> Mixture | None:
    """Change the recipe's mixture by what was given as arguments."""
    given: Mapping[str, Any] = vars(options)
    ratios, with_dev = given.get("ratio", []), {dev_name(language): language for language, *_ in given.get("dev", [])}
    if before is None and not (names or ratios or options.weights or options.by or options.sample or options.unique):
        return None
    names, told = names or [""], before or Mixture()
    said = {name: told.of(name) for name in [*names, *(one.name for one in told.groups)]}

    def each(given: Sequence[str], change: Callable[[Group, str], Group]) -> None:
        for one in given:
            name, equals, value = one.rpartition("=")
            for chosen in [name] if equals else names:
                said[chosen] = change(said.get(chosen, Group(chosen)), value)

    by: By = told.by
    if options.weights:
        are_shares = {one.strip().endswith("%") for one in options.weights}
        if len(are_shares) == 2:
            raise RecipeError("Give all weights as shares (70%) or all as factors (2, 0.5), not both.")
        by = (options.by or "bytes") if are_shares == {True} else "times"
        if any("=" not in one for one in options.weights):
            raise RecipeError("Say which group a weight is of: --weights NAME=WEIGHT ...")
        said = {name: replace(group, weight=weight_of("1" if by == "times" else "0")) for name, group in said.items()}
        weighed = {one.rpartition("=")[0] for one in options.weights}
        without = [name for name in names if name not in weighed and name not in with_dev]
        if without and by != "times":
            raise RecipeError(f"The group {without[0]!r} has no share; give each group one (0% is one).")
        each(options.weights, lambda group, value: replace(group, weight=weight_of(value)))
    elif options.by and by != "times":
        by = options.by
    each(options.sample, lambda group, value: replace(group, sample=_sample(value, group.sample, options)))
    each(options.unique, lambda group, value: replace(group, unique=value))  # type: ignore[arg-type]  # it is checked
    for one in ratios:
        name, equals, _ = one.rpartition("=")
        if not equals or name not in said:
            known = ", ".join(said) or "none"
            raise RecipeError(f"--ratio {one}: write NAME=NUMBER with the name of a group; there are {known}.")
    each(ratios, lambda group, value: replace(group, ratio=weight_of(value)))
    said |= {name: replace(said[name], dev_of=language) for name, language in with_dev.items()}
    mixture = Mixture(tuple(said.values()), by)
    return None if mixture.says_nothing else mixture


def _sample(value: str, before: Sample, options: argparse.Namespace) -> Sample:
    """
    >>> _sample("10 MB", Sample(), argparse.Namespace(sample_of="lines", seed=0)).first_bytes
    10000000
    """
    if value.strip().endswith("%"):
        return replace(before, fraction=weight_of(value), of=options.sample_of, seed=options.seed)
    size = size_in(value)
    if size is None:
        raise RecipeError(
            f"{value[:40]!r} is no part of a group; write it as 10MB (the first bytes) or 5% (by chance)."
        )
    return replace(before, first_bytes=size)
