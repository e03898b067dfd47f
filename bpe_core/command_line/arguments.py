"""Functions that declare and read the arguments that several commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from bpe_core.errors import CorpusError, EncodingError, OutputError, RecipeError
from bpe_core.history.token_texts import quoted
from bpe_core.methods.facts import MethodFacts
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.choice import Argument, Choice
from bpe_core.recipes.parts import CUSTOM_PATTERN, OF_SYMBOLS, BaseSymbols
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import CHOICES, Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.foreign import json_of, toml_of
from bpe_core.support.limits import size_in
from bpe_core.support.numbered_symbols import LARGEST
from bpe_core.support.small_files import read_small_file
from bpe_core.text.mixture import weight_of
from bpe_core.text.patterns import NAMED_PATTERNS, SPELLED_OUT

ANY_TABLE = "a merge table or session written by `train`, a tokenizer that `convert` reads, or hf:owner/name"
# The common choices that are arguments.
OF_ALL = ("method", "vocab_size", "merges", "min_frequency", "ties", "pattern", "marker", "border", "whole_characters")
LIMITS, LANGUAGES = "when training stops", "languages"  # groups of arguments that every command has
OwnArguments = Mapping[str, tuple[Choice, Argument]]  # choices that only some methods have, by name
MOST_DIGITS = 25  # beyond 64 bits; each reader sets its own limit


def text_argument(value: str) -> str:
    """Return an argument unchanged, or refuse it if it is not valid UTF-8.

    Python passes bytes that are not valid UTF-8 as lone surrogates.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not valid UTF-8") from error
    return value


def number(value: str) -> int:
    if len(value) > MOST_DIGITS or not value.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError(f"{quoted(value)} is not a whole number of at most {MOST_DIGITS} digits")
    return int(value)


def percentage_of_factor(value: str) -> int:
    """Convert a factor of at least 1, such as `1.2`, to a percentage.

    >>> percentage_of_factor("1.2")
    120
    """
    share = 100 * weight_of(value)
    if share < 100:
        raise argparse.ArgumentTypeError(f"{quoted(value)} is too small; give 1 or more")
    if share.denominator > 1:
        raise argparse.ArgumentTypeError(f"{quoted(value)} has more than two digits after the decimal point")
    return int(share)


def share(value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{quoted(value)} is not a number such as 0.9") from error


def size(value: str) -> int:
    number_of_bytes = size_in(value)
    if not number_of_bytes:
        raise argparse.ArgumentTypeError(f"{quoted(value)} is not a size; write it as 500MB or 2GB")
    return number_of_bytes


def add_merge_limits(parser: argparse.ArgumentParser, own: OwnArguments = MappingProxyType({})) -> None:
    limits = parser.add_argument_group(LIMITS)
    size = limits.add_mutually_exclusive_group()
    size.add_argument(
        "--vocab-size",
        type=number,
        metavar="N",
        help="number of tokens in the vocabulary: base symbols, learned tokens and special tokens",
    )
    steps = "instead of --vocab-size: the number of steps to make, such as merges and drops"
    size.add_argument("--merges", type=number, metavar="N", help=steps)
    limits.add_argument(
        "--min-frequency", type=number, metavar="N", help="merge only pairs that occur at least N times"
    )
    for group in dict.fromkeys(argument.group for _, argument in own.values()):
        if group not in (LIMITS, LANGUAGES):
            add_own_choices(parser.add_argument_group(group), own, group)
    add_own_choices(limits, own, LIMITS)


def own_arguments(command: str, methods: Iterable[MethodFacts] | None = None) -> OwnArguments:
    """Return the choices that only some methods have, and for which the command has an option.

    The result is a dictionary from the name of each choice to the choice and its option. By default, return the choices
    of all methods.
    """
    choices: dict[str, tuple[Choice, Argument]] = {}
    for method in METHODS.values() if methods is None else methods:
        for name, declared in method.own_choices.items():
            if declared.argument is not None and command in declared.argument.commands:
                choices.setdefault(name, (declared, declared.argument))
    return choices


def add_own_choices(parser: argparse._ActionsContainer, own: OwnArguments, group: str | None = None) -> None:
    """Add options for choices that only some methods have.

    With `group`, add only the choices of this group.
    """
    for name, (declared, argument) in own.items():
        if group is None or argument.group == group:
            with suppress(argparse.ArgumentError):  # an option of a plug-in may have the name of a command's option
                _add_own_choice(parser, name, declared, argument)


def _add_own_choice(parser: argparse._ActionsContainer, name: str, declared: Choice, argument: Argument) -> None:
    if argument.variants is not None:
        help = argument.variants.help
        parser.add_argument(f"--{argument.variants.option}", choices=[*argument.variants.values], help=help)
    taken: dict[str, Any] = {"dest": name, "help": argument.help}
    if declared.kind is bool:
        taken |= {"action": "store_true", "default": None}
    else:
        taken |= {"metavar": argument.metavar or None}
        taken |= {"choices": declared.among} if declared.among else {"type": _reader(declared, argument)}
    parser.add_argument(option_of(name, argument), **taken)


def _reader(declared: Choice, argument: Argument) -> Callable[[str], Any]:
    if argument.in_shares:
        return percentage_of_factor
    if declared.is_share:
        return share
    return text_argument if declared.least is None else number


def option_of(name: str, argument: Argument | None) -> str:
    """Return the option for a choice, such as `--vocab-size` for `vocab_size`."""
    return f"--{((argument and argument.option) or name).replace('_', '-')}"


def add_tie_rule(parser: argparse._ActionsContainer) -> None:
    help = f"which pair wins among equally frequent pairs: {', '.join(TIE_RULES)}"
    parser.add_argument("--ties", choices=TIE_RULES, metavar="RULE", help=help)


FURTHER = "extend"  # the command whose options of methods all commands that learn further have


def add_further_learning(parser: argparse.ArgumentParser, savings: str) -> None:
    """Add the options for learning more tokens.

    `savings` is a part of the help of the option --held-out. With "the swap saves", the help is "show how many
    tokens the swap saves in these texts, by file".
    """
    held_out = f"show how many tokens {savings} in these texts, by file"
    parser.add_argument("--held-out", nargs="+", default=[], metavar="FILE", help=held_out)
    rare = "add only pairs that occur at least N times"
    parser.add_argument("--min-frequency", type=number, metavar="N", help=rare)
    add_own_choices(parser, own_arguments(FURTHER))
    add_tie_rule(parser)


def choices_for_further_learning(options: argparse.Namespace) -> dict[str, Any]:
    return changes_in(options, ("min_frequency", "ties"), own_arguments(FURTHER))


def add_recipe(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    recipe = parser.add_argument_group(title)
    start = recipe.add_mutually_exclusive_group()
    start.add_argument(
        "--preset", choices=PRESETS, metavar="NAME", help=f"a recipe that the program knows: {', '.join(PRESETS)}"
    )
    file = "instead of --preset: a recipe in a file: JSON (as `presets NAME` prints it), TOML, or a session"
    start.add_argument("--recipe", metavar="FILE", help=file)
    add = recipe.add_argument
    patterns = (*NAMED_PATTERNS, *SPELLED_OUT)
    pattern = f"how text is split into words: {', '.join(patterns)}"
    add("--pattern", choices=patterns, metavar="NAME", help=pattern)
    add("--regex", type=text_argument, metavar="EXPR", help="instead of --pattern: your own regular expression")
    whole = "merge the bytes of a character before anything else, so that no token holds half a character"
    add("--whole-characters", action="store_true", default=None, help=whole)
    border = (
        "a character that marks borders in the texts, as in mor|phe|mes: no merge crosses a border, and tokens "
        "leave this character out"
    )
    base = (
        "what the files hold instead of text: integers (.npy and .npz files of NumPy), or lines (a symbol in each "
        "line, each letter of FASTA, or each item of a list in JSON)"
    )
    add("--base", dest="base_symbols", choices=[name for name in get_args(BaseSymbols) if name], help=base)
    names = 'with --base integers: the names of the integers, as a list in JSON, or as an object such as {"60": "C4"}'
    add("--names", metavar="FILE", help=names)
    add("--border", type=text_argument, metavar="SIGN", help=border)
    special = "a special token: a text that is never split (may be repeated)"
    add("--special", action="append", type=text_argument, metavar="TOKEN", help=special)
    return recipe


def changes_in(options: argparse.Namespace, names: Iterable[str], own: OwnArguments) -> dict[str, Any]:
    """Return the choices of a recipe that are given on the command line.

    `names` are the choices of all methods. `own` are the choices that only some methods have.
    """
    given: Mapping[str, Any] = vars(options)
    changes = {name: given[name] for name in (*names, *own) if given.get(name) is not None}
    for name, (_, argument) in own.items():
        if argument.zero_is_none and changes.get(name) == 0:
            changes[name] = None
        if argument.variants is not None and (variant := given.get(argument.variants.option)) is not None:
            value = argument.variants.values[variant]
            changes = {**changes, name: None} if value is None else {name: value, **changes}
    return changes


def chosen_recipe(options: argparse.Namespace, preset: str, own: OwnArguments = MappingProxyType({})) -> Recipe:
    """Return the recipe of the command: the recipe file or the preset, with the changes that the arguments ask for."""
    given: dict[str, Any] = vars(options)
    changes = changes_in(options, OF_ALL, own)
    if given.get("regex") is not None:
        if "pattern" in changes:
            raise RecipeError("Give either --pattern or --regex, not both.")
        changes |= {"pattern": CUSTOM_PATTERN, "custom_pattern": given["regex"]}
    elif "pattern" in changes:
        changes["custom_pattern"] = ""
    if given.get("base_symbols"):
        changes = {**OF_SYMBOLS, "name": (kind := given["base_symbols"]), "base_symbols": kind, **changes}
    if given.get("special"):
        changes["special_tokens"] = tuple(given["special"])
    recipe = _recipe_in(given["recipe"]) if given.get("recipe") else Recipe.preset(preset)
    if given.get("names"):
        if changes.get("base_symbols", recipe.base_symbols) != "integers":
            raise RecipeError("--names gives names to integers; add --base integers, or leave out --names.")
        changes["symbol_names"] = _read_names(given["names"])
    recipe = recipe.with_changes(**changes)
    if recipe.base_symbols == "integers" and "border" in changes:
        recipe = recipe.with_changes(border=recipe.names.text_of([recipe.border]))
    for name in ("whole_characters", *own):
        if name in changes and not recipe.applies(name):
            option = option_of(name, CHOICES[name].argument)
            raise RecipeError(f"{option} applies only to {_methods_with(name)}. Otherwise leave {option} out.")
    return recipe


def _read_names(path: str) -> list[str]:
    """Read the names of symbols from a file. The names are in the order of the symbols' numbers.

    A symbol without a name has an empty string.
    """
    names = json_of(read_small_file(path, "the names", RecipeError), f"{path} is not valid JSON", RecipeError)
    if isinstance(names, dict):
        by_number = {int(key): name for key, name in names.items() if key.isdecimal() and len(key) < 7}
        if len(by_number) < len(names) or max(by_number, default=0) > LARGEST:
            raise RecipeError(f'{path}: the keys must be integers from 0 to {LARGEST:,}, as in {{"60": "C4"}}.')
        return [by_number.get(number, "") for number in range(max(by_number, default=-1) + 1)]
    if not isinstance(names, list):
        raise RecipeError(f'{path} must hold a list of names, or an object such as {{"60": "C4"}}.')
    return names


def _methods_with(choice: str) -> str:
    """Return a phrase that lists the methods that have this choice, and the option that selects such a method."""
    argument = CHOICES[choice].argument
    if argument is not None and argument.whose:
        return argument.whose
    owners = [name for name, method in METHODS.items() if choice in method.own_choices and choice not in method.needs]
    if owners:
        titles = " and ".join(METHODS[name].title for name in owners)
        return f"{titles}: choose --method {' or '.join(owners)}"
    *others, last = [name for name, method in METHODS.items() if method.keeps_characters]
    return f"byte-pair encoding of bytes: choose --method {', '.join(others)} or {last}"


def _recipe_in(path: str) -> Recipe:
    from bpe_core.session_file import is_session_file  # rarely needed
    from bpe_core.session_file.reading import read_session  # rarely needed

    if is_session_file(path):
        return read_session(path).recipe
    text = read_small_file(path, "the recipe", CorpusError)
    try:
        return _of_toml(text) if Path(path).suffix.lower() == ".toml" else Recipe.from_json(text)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from error


def _of_toml(text: str) -> Recipe:
    values = toml_of(text, "The recipe is not valid TOML", RecipeError)
    size_unless_said: dict[str, Any] = {"vocab_size": None} if "merges" in values else {}  # TOML has no null
    return Recipe.from_dict(size_unless_said | values)


def add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_merge_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--merges", required=True, metavar="FILE", help=ANY_TABLE)


def unused_name(name: str) -> str:
    """Return the default name of an output file, if no file has this name yet.

    Raise OutputError if such a file exists, so that no file is replaced by accident.
    """
    if Path(name).exists():
        raise OutputError(f"The file {name} exists already; name another output file with -o.")
    return name


def text_or_standard_input(words: Sequence[str]) -> str:
    """Join the arguments with spaces, as `echo` does.

    Without arguments, read all of standard input.
    """
    if words:
        return " ".join(words)
    data = sys.stdin.buffer.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"Standard input is not UTF-8: the byte 0x{data[error.start]:02X} at offset {error.start:,} begins no "
            "valid character."
        ) from error
