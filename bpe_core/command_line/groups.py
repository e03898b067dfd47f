"""The options for groups of texts, their languages, and their mixture.

--group de texts/de --group code src lib/*.py --weights de=70% code=30% --by bytes
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bpe_core.command_line.arguments import LANGUAGES, OwnArguments, add_own_choices, number, text_argument
from bpe_core.errors import RecipeError
from bpe_core.methods.registry import METHODS
from bpe_core.support.limits import size_in
from bpe_core.text.mixture import By, Group, Mixture, Of, Sample, refuse_repeated, weight_of

if TYPE_CHECKING:  # loaded when files are read
    from bpe_core.text.corpus import Corpus


def add_groups(parser: argparse._ActionsContainer) -> None:
    group: dict[str, Any] = {"nargs": "+", "action": "append", "default": [], "metavar": ("NAME", "FILE")}
    group["help"] = "a group of texts: its name, then files and folders (may be repeated)"
    parser.add_argument("--group", type=text_argument, **group)
    folders = "make a group of each subfolder; the other files in FOLDER become one group with its name"
    parser.add_argument("--groups-of", metavar="FOLDER", help=folders)


def add_mixture(parser: argparse.ArgumentParser) -> None:
    groups = parser.add_argument_group("groups of texts, and how they are mixed")
    add_groups(groups)
    lists = (
        ("weights", "WEIGHT", "shares that add up to 100%%, such as de=70%% code=30%%; or factors: de=2 code=0.5"),
        (
            "sample",
            "PART",
            "take only a part of a group, such as its first 10MB or a random 5%%; without NAME=, of each group",
        ),
        (
            "unique",
            "WHAT",
            "leave out documents or lines that occurred earlier in their group; without NAME=, in each group",
        ),
    )
    for name, what, help in lists:
        taken: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "type": text_argument}
        groups.add_argument(f"--{name}", metavar=f"NAME={what}", help=help, **taken)
    bases = [by for by in get_args(By) if by != "times"]
    groups.add_argument("--by", choices=bases, help="the unit of shares (default: bytes)")
    groups.add_argument("--sample-of", choices=get_args(Of), default="documents", help="the unit of a random sample")
    groups.add_argument(
        "--rest", action="store_true", help="take the texts that --sample 90%% with the same seed leaves out"
    )
    groups.add_argument(
        "--seed",
        type=number,
        default=0,
        metavar="N",
        help="the seed of the random sample; another seed takes other texts",
    )
    groups.add_argument("--twice", action="store_true", help="a file that is named twice counts twice")


def add_languages(parser: argparse.ArgumentParser, own: OwnArguments) -> None:
    """Add the options for methods that compare languages."""
    serving = " or ".join(name for name, method in METHODS.items() if method.serves_languages)
    languages = parser.add_argument_group(f"{LANGUAGES} (each group is a language with --method {serving})")
    add = languages.add_argument
    dev: dict[str, Any] = {"nargs": "+", "action": "append", "default": [], "metavar": ("NAME", "FILE")}
    dev["help"] = (
        "the dev text of a language, with the same content as the dev texts of the other languages: it shows which "
        "language needs the most tokens, and is not learned from"
    )
    add("--dev", type=text_argument, **dev)
    ratio: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "type": text_argument}
    ratio["help"] = (
        "instead of dev texts: how many bytes a token of each language should have, relative to the others: de=1 fi=1.3"
    )
    add("--ratio", metavar="NAME=NUMBER", **ratio)
    add_own_choices(languages, own, LANGUAGES)


def groups_of(options: argparse.Namespace) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, *files in options.group:
        if not files:
            raise RecipeError(f"Which texts are in the group {name!r}? Write --group NAME FILE ...")
        groups.setdefault(name, []).extend(files)
    for language, *files in getattr(options, "dev", ()):
        if not files:
            raise RecipeError(f"Which text is the dev text of {language!r}? Write --dev NAME FILE ...")
        groups.setdefault(dev_name(language), []).extend(files)
    if options.groups_of is not None:
        from bpe_core.text.reading.folders import folders_in

        for name, paths in folders_in(Path(options.groups_of)).items():
            groups.setdefault(name, []).extend(map(str, paths))
    return groups


def dev_name(language: str) -> str:
    """Return the name of the group with the development texts of a language."""
    return f"{language} (dev)"


def mixture_of(options: argparse.Namespace, corpus: Corpus, before: Mixture | None) -> Mixture | None:
    """Return the recipe's mixture, changed by the arguments. Return None if no mixture is needed.

    A file of counted words may already have groups. Then the command line need not define them.
    """
    names = [] if corpus.groups == ("",) else list(corpus.groups)
    given: Mapping[str, Any] = vars(options)
    ratios = given.get("ratio", [])
    with_dev = {dev_name(language): language for language, *_ in given.get("dev", [])}
    if given.get("rest") and not any(part.endswith("%") for part in options.sample):
        raise RecipeError(
            "--rest uses the texts that a random --sample leaves out. Add --sample, such as --sample 90%."
        )
    if before is None and not (names or ratios or options.weights or options.by or options.sample or options.unique):
        return None
    mixing = _MixtureBuilder(names, before or Mixture())
    if options.weights:
        mixing.weigh(options.weights, options.by, with_dev)
    elif options.by and options.by != "times":
        mixing.by = options.by
    mixing.change(options.sample, lambda group, value: replace(group, sample=_sample(value, group.sample, options)))
    mixing.change(options.unique, lambda group, value: replace(group, unique=value))  # type: ignore[arg-type]  # it is checked
    mixing.set_ratios(ratios)
    mixing.groups |= {
        name: replace(mixing.groups.get(name, Group(name)), dev_of=language) for name, language in with_dev.items()
    }
    mixture = Mixture(tuple(mixing.groups.values()), mixing.by)
    return None if mixture.has_no_effect else mixture


class _MixtureBuilder:
    """A builder of a mixture from command-line arguments. Each argument changes one group or all groups."""

    def __init__(self, names: Sequence[str], before: Mixture) -> None:
        self.by: By = before.by
        self._names = names or [""]
        # If shares are given, a group without a share has none. The code that weighs the words reports this.
        unsaid = self._names if before.by == "times" else ()
        self.groups = {name: before.of(name) for name in [*unsaid, *(group.name for group in before.groups)]}

    def change(self, given: Sequence[str], change: Callable[[Group, str], Group]) -> None:
        """Change groups by arguments of the form NAME=VALUE or VALUE.

        NAME=VALUE changes the group NAME. A VALUE without a name changes all groups.
        """
        for argument in given:
            name, equals, value = argument.rpartition("=")
            for chosen in [name] if equals else self._names:
                self.groups[chosen] = change(self.groups.get(chosen, Group(chosen)), value)

    def weigh(self, weights: Sequence[str], by: By | None, with_dev: Collection[str]) -> None:
        """Set new weights for all groups.

        If the weights are shares, each group needs one, unless it is a group of dev texts. If they are factors, a group
        without one gets the factor 1.
        """
        are_shares = {weight.strip().endswith("%") for weight in weights}
        if len(are_shares) == 2:
            raise RecipeError("Give all weights as shares (70%) or all as factors (2, 0.5), not both.")
        self.by = (by or "bytes") if are_shares == {True} else "times"
        if any("=" not in weight for weight in weights):
            raise RecipeError("Name the group of each weight: --weights NAME=WEIGHT ...")
        usual = weight_of("1" if self.by == "times" else "0")
        self.groups = {name: replace(group, weight=usual) for name, group in self.groups.items()}
        weighed = [weight.rpartition("=")[0] for weight in weights]
        refuse_repeated(weighed, "--weights")
        unknown = [name for name in weighed if name not in {*self._names, *self.groups, *with_dev}]
        if unknown and self._names != [""]:
            raise RecipeError(f"--weights names {unknown[0][:40]!r}, but the groups are {', '.join(self._names)}.")
        without = [name for name in self._names if name not in weighed and name not in with_dev]
        if without and self.by != "times":
            raise RecipeError(f"The group {without[0]!r} has no share. Give each group a share. 0% is allowed.")
        self.change(weights, lambda group, value: replace(group, weight=weight_of(value)))

    def set_ratios(self, ratios: Sequence[str]) -> None:
        for ratio in ratios:
            name, equals, _ = ratio.rpartition("=")
            known = dict.fromkeys([*self._names, *self.groups])
            if not equals or name not in known:
                raise RecipeError(
                    f"--ratio {ratio}: write NAME=NUMBER with the name of a group. The groups are {', '.join(known)}."
                )
        refuse_repeated((ratio.rpartition("=")[0] for ratio in ratios), "--ratio")
        self.change(ratios, lambda group, value: replace(group, ratio=weight_of(value)))


def _sample(value: str, before: Sample, options: argparse.Namespace) -> Sample:
    """Return a copy of `before` with the size or the share of the sample that a user wrote as `value`.

    A size, such as "10 MB", takes the first bytes of a group. A share, such as "5%", takes a random sample.

    >>> _sample("10 MB", Sample(), argparse.Namespace(sample_of="lines", seed=0)).first_bytes
    10000000
    """
    if value.strip().endswith("%"):
        return replace(
            before,
            fraction=weight_of(value),
            of=options.sample_of,
            seed=options.seed,
            rest=getattr(options, "rest", False),
        )
    size = size_in(value)
    if size is None:
        raise RecipeError(
            f"{value[:40]!r} is not the size of a sample; write 10MB for the first bytes of a group, or 5% for a "
            "random sample."
        )
    return replace(before, first_bytes=size)
