"""The weights and the samples of groups of texts. A recipe stores them under the names of the groups.

A weight is either a factor or a share. A factor ("2", "0.5", "1/3") multiplies the count of each word of the group. A
share is a part of all bytes or of all words. Both are fractions, so the weighted counts are exact
(`bpe_core.counting.grouped`).

>>> mixture = Mixture((Group("de", weight_of("70%")), Group("code", weight_of("30%"))), by="bytes")
>>> Mixture.from_json_value(mixture.to_json_value()) == mixture
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from bpe_core.errors import CorpusError, RecipeError
from bpe_core.support.former_names import former_attributes
from bpe_core.support.wording import as_call

By = Literal["times", "bytes", "words"]  # the kinds of weights: factors, or shares by bytes or words
Of = Literal["documents", "lines"]  # the units that are drawn from a group at random

LONGEST_NAME = 200  # characters
LARGEST_PART = 10**15  # the largest numerator or denominator of a weight
LARGEST_SEED = 2**63 - 1
MOST_NAMED = 4  # groups in one sentence
MOST_PARTS = 10**9  # the largest denominator of a number with a binary point: 1/3 and 0.1 + 0.2 mean what is written
_WHOLE = Fraction(1)

Weight = Fraction | float | str  # as a user gives it


@dataclass(frozen=True, init=False, repr=False)
class Sample:
    """A sample of a group: the first bytes of its texts, random documents, or random lines.

    If `first_bytes` and `fraction` are given, the sample is the first bytes of the random documents or lines.

    Parameters
    ----------
    first_bytes
        How many bytes of the group's texts are read. All bytes are read if this is left out.
    fraction
        The share of the group's documents or lines that is drawn: 0.1, "10%" or a `Fraction`.
    of
        Whether "documents" or "lines" are drawn.
    seed
        The seed of the draw.
    rest
        Whether the sample is everything that the draw leaves out, such as the test part of a train/test split.

    Examples
    --------
    >>> Sample(fraction=0.1, of="lines") == Sample(fraction="10%", of="lines")
    True
    """

    first_bytes: int | None = None
    fraction: Fraction = _WHOLE
    of: Of = "documents"
    seed: int = 0
    rest: bool = False

    def __init__(
        self,
        first_bytes: int | None = None,
        fraction: Weight = _WHOLE,
        of: Of = "documents",
        seed: int = 0,
        rest: bool = False,
    ) -> None:
        values: dict[str, Any] = {"first_bytes": first_bytes, "fraction": exact(fraction, "A sample")}
        values |= {"of": of, "seed": seed, "rest": rest}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def __repr__(self) -> str:
        return as_call("Sample", **_unusual_values(self, Sample()))

    def _check(self) -> None:
        if self.first_bytes is not None:
            _check_number("The first bytes of a sample", self.first_bytes, 1)
        _check_number("The seed of a sample", self.seed, 0)
        if not 0 < self.fraction <= 1:
            raise RecipeError(f"A sample must be a share above 0 and at most 1 of a group, not {self.fraction}.")
        if self.of not in get_args(Of):
            raise RecipeError(f"A sample must consist of documents or lines, not of {self.of!r}.")
        if not isinstance(self.rest, bool):
            raise RecipeError(f"“rest” of a sample must be true or false, not {self.rest!r}.")
        if self.rest and self.fraction == 1:
            raise RecipeError("A sample of the whole group leaves no rest: choose a smaller sample, such as 90%.")

    @property
    def takes_all(self) -> bool:
        return self.first_bytes is None and self.fraction == 1


@dataclass(frozen=True, init=False, repr=False)
class Group:
    """A group of texts, with its weight in a mixture and its sample.

    Parameters
    ----------
    name
        The name of the group.
    weight
        The weight: 0.4, "40%" or a `Fraction`. In a mixture the weight is a factor, or a share of the bytes or
        words.
    sample
        The part of the group's texts that is read.
    unique
        The unit whose repetitions are skipped: "documents" or "lines". If this is empty, repeated texts are read again.
    dev_of
        The language whose dev text this group is. Nothing is learned from a dev text. It shows how well the language is
        split.
    ratio
        The wanted compression of this group relative to the other groups, such as 2 for tokens with twice as many
        bytes on average. The ratio is used if no language has a dev text.

    Examples
    --------
    >>> Mixture((Group("en", weight=0.4), Group("code", weight=0.6)), by="bytes").in_words()
    'en 40 %, code 60 % (by bytes)'
    """

    name: str
    weight: Fraction = _WHOLE
    sample: Sample = field(default_factory=Sample)
    unique: Of | Literal[""] = ""
    dev_of: str = ""
    ratio: Fraction | None = None

    def __init__(
        self,
        name: str,
        weight: Weight = _WHOLE,
        sample: Sample | None = None,
        unique: Of | Literal[""] = "",
        dev_of: str = "",
        ratio: Weight | None = None,
    ) -> None:
        values: dict[str, Any] = {"name": name, "unique": unique, "dev_of": dev_of}
        values["sample"] = Sample() if sample is None else sample
        values["weight"] = exact(weight, f"The weight of the group {name!r}")
        values["ratio"] = None if ratio is None else exact(ratio, f"The ratio of {name!r}")
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def __repr__(self) -> str:
        return as_call("Group", self.name, **_unusual_values(self, Group(self.name)))

    def _check(self) -> None:
        if not isinstance(self.name, str) or len(self.name) > LONGEST_NAME:
            raise RecipeError(f"The name of a group must be a text of at most {LONGEST_NAME} characters.")
        if not isinstance(self.dev_of, str) or (self.dev_of and self.dev_of == self.name):
            raise RecipeError(
                f"The group {self.name!r} cannot be its own dev text: put the dev text into another group."
            )
        if self.dev_of:
            object.__setattr__(self, "weight", Fraction(0))
        if self.ratio is not None and self.ratio <= 0:
            raise RecipeError(f"The ratio of {self.name!r} must be a number above 0, not {self.ratio}.")
        if self.weight < 0:
            raise RecipeError(f"The group {self.name!r} has the weight {self.weight}; weights cannot be negative.")
        if self.unique not in ("", *get_args(Of)):
            raise RecipeError(f"Only duplicate documents or lines can be left out, not {self.unique!r}.")

    @property
    def takes_all(self) -> bool:
        return self.sample.takes_all and not self.unique

    @property
    def role(self) -> str:
        """Return a phrase for the role of the group when languages are compared.

        Return an empty string if the group has no role.
        """
        if self.dev_of:
            return f"is the dev text of {self.dev_of}"
        return "" if self.ratio is None else f"has the ratio {float(self.ratio):g}"

    @property
    def must_be_read_whole(self) -> bool:
        """Return whether the group must be read as a whole, because its sample depends on the order of its texts."""
        return bool(self.unique) or self.sample.first_bytes is not None

    if not TYPE_CHECKING:
        __getattr__ = former_attributes(hangs_together="must_be_read_whole")


@dataclass(frozen=True)
class Mixture:
    """A mixture of groups, each with a weight and a sample.

    If the weights are factors, a group that is not in the mixture has the weight 1, and all its texts are read.

    Parameters
    ----------
    groups
        The groups with their weights.
    by
        The meaning of the weights: "times" for factors, "bytes" or "words" for shares of all bytes or words.

    Examples
    --------
    >>> Mixture((Group("en", 0.4), Group("code", 0.6)), by="bytes").in_words()
    'en 40 %, code 60 % (by bytes)'
    """

    groups: tuple[Group, ...] = ()
    by: By = "times"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))
        if self.by not in get_args(By):
            raise RecipeError(f"Weights must be factors, or shares of bytes or of words, not {self.by!r}.")
        names = [group.name for group in self.groups]
        for name in names:
            if names.count(name) > 1:
                raise RecipeError(f"The group {name!r} is listed twice in the mixture.")
        weights = [group.weight for group in self.groups]
        with_dev = [group.dev_of for group in self.groups if group.dev_of]
        if with_dev and any(group.ratio is not None for group in self.groups):
            raise RecipeError("Languages are compared by dev texts or by ratios; remove the dev texts or the ratios.")
        for name in with_dev:
            if with_dev.count(name) > 1:
                raise RecipeError(f"The language {name!r} has two dev texts; put both into one group.")
        if weights and not any(weights) and not with_dev:
            raise RecipeError("All weights of the mixture are zero; give at least one group a weight above 0.")
        if self.by != "times" and sum(weights) != 1:
            said = " + ".join(share_text(weight) for weight in weights[:MOST_NAMED])
            more = " + ..." if len(weights) > MOST_NAMED else ""
            total = share_text(sum(weights, Fraction()))
            raise RecipeError(f"The shares of a mixture must add up to 100 %; {said}{more} are {total}.")

    @property
    def has_no_effect(self) -> bool:
        return self.by == "times" and all(group == Group(group.name) for group in self.groups)

    if not TYPE_CHECKING:
        __getattr__ = former_attributes(says_nothing="has_no_effect")

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages with a development text or, if there are none, those with a ratio.

        They are in the order of the groups.
        """
        with_dev = tuple(group.dev_of for group in self.groups if group.dev_of)
        return with_dev or tuple(group.name for group in self.groups if group.ratio is not None)

    def of(self, name: str) -> Group:
        return next((group for group in self.groups if group.name == name), Group(name))

    def matched(self, names: Sequence[str]) -> tuple[Group, ...]:
        """Return the entry of the mixture for each group of a corpus, given the names of the groups.

        Raise CorpusError if a group of the mixture is not in the corpus, or if a group of the corpus has no share. In a
        mixture by times, a group without an entry counts once.
        """
        lacking = [group.name for group in self.groups if group.name not in names]
        if lacking and not any(names):
            raise CorpusError(
                f"The recipe mixes the groups {listed(group.name for group in self.groups)}, but the texts are in no "
                "groups; put each text into a group."
            )
        if lacking:
            raise CorpusError(
                f"The recipe's mixture has the group {lacking[0]!r}, but the texts are in the groups "
                f"{listed(names)}; rename one of them, or change the mixture."
            )
        known = {group.name for group in self.groups}
        without = [name for name in names if name not in known]
        if without and self.by != "times":
            raise CorpusError(
                f"The group {without[0]!r} has no share in the mixture. Give each group a share, which may be 0."
            )
        return tuple(map(self.of, names))

    def in_words(self) -> str:
        """Return a phrase that describes the mixture.

        >>> Mixture((Group("de", Fraction(7, 10)), Group("code", Fraction(3, 10))), by="bytes").in_words()
        'de 70 %, code 30 % (by bytes)'
        """
        weights = [f"{group.weight} times" if self.by == "times" else share_text(group.weight) for group in self.groups]
        weighed = zip(self.groups, weights, strict=True)
        said = ", ".join(f"{group.name} {group.role or weight}" for group, weight in weighed)
        return said if self.by == "times" else f"{said} (by {self.by})"

    def with_group(self, group: Group) -> Mixture:
        if all(known.name != group.name for known in self.groups):
            return replace(self, groups=(*self.groups, group))
        return replace(self, groups=tuple(group if known.name == group.name else known for known in self.groups))

    def to_json_value(self) -> dict[str, Any]:
        """Return the mixture as a JSON object without default values."""
        return {"by": self.by, "groups": [_as_json(group) for group in self.groups]}

    @classmethod
    def from_json_value(cls, value: object) -> Mixture:
        if not isinstance(value, dict) or not isinstance(value.get("groups"), list):
            raise RecipeError("A mixture must be an object with a list of groups.")
        _refuse_unknown(value, {"by", "groups"}, "A mixture")
        return cls(tuple(_from_json(group) for group in value["groups"]), value.get("by", "times"))


def _unusual_values(given: Sample | Group, usual: Sample | Group) -> dict[str, object]:
    """Return the values that differ from the usual values.

    Fractions are returned as text, such as "7/10".
    """
    values = {field.name: getattr(given, field.name) for field in fields(given)}
    changed = {name: value for name, value in values.items() if value != getattr(usual, name)}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in changed.items()}


def weight_of(text: str) -> Fraction:
    """Parse a weight as a user writes it.

    >>> weight_of("70%"), weight_of("0.5"), weight_of(" 1/3 ")
    (Fraction(7, 10), Fraction(1, 2), Fraction(1, 3))
    """
    stripped = text.strip()
    number = stripped.removesuffix("%").strip()
    try:
        if len(number) > 40 or "e" in number.lower() or "_" in number:
            raise ValueError
        weight = Fraction(number.replace(",", ".") if "/" not in number else number)
    except (ValueError, ZeroDivisionError) as error:
        raise RecipeError(f"{stripped[:40]!r} is not a weight; write it as 70%, 2, 0.5 or 1/3.") from error
    weight = weight / 100 if stripped.endswith("%") else weight
    if max(abs(weight.numerator), weight.denominator) > LARGEST_PART:
        raise RecipeError(f"The weight {text[:40]!r} has too many digits; write at most 15.")
    return weight


def exact(value: object, what: str) -> Fraction:
    """Return a number or a text as an exact fraction.

    Raise RecipeError if the value is not a number. The message begins with `what`.

    >>> exact(0.4, "It"), exact("40%", "It"), exact(1 / 3, "It"), exact(2, "It")
    (Fraction(2, 5), Fraction(2, 5), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return weight_of(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or not isfinite(value):
        raise RecipeError(f"{what} must be a number, such as 0.4 or '40%', not {value!r}.")
    fraction = Fraction(str(value)).limit_denominator(MOST_PARTS)
    if not fraction and value:
        raise RecipeError(f"{what} is too small: {value!r}. Give a larger number.")
    return fraction


def refuse_repeated(names: Iterable[str], option: str) -> None:
    """Raise RecipeError if a name occurs twice, because only one of its two values would be used.

    `option` is the command-line option that has the names.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise RecipeError(f"{option} names {repeated[0][:40]!r} twice. Name it once.")


def share_text(share: Fraction) -> str:
    """Return a fraction in percent, as text.

    >>> share_text(Fraction(7, 10)), share_text(Fraction(1, 3))
    ('70 %', '33.333 %')
    """
    return f"{float(100 * share):.3f}".rstrip("0").rstrip(".") + " %"


def listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    return ", ".join(repr(name[:40]) for name in known[:MOST_NAMED]) + more


def _as_json(group: Group) -> dict[str, Any]:
    value: dict[str, Any] = {"name": group.name, "weight": str(group.weight)}
    if not group.sample.takes_all:
        sample = group.sample
        value["sample"] = {"fraction": str(sample.fraction), "of": sample.of, "seed": sample.seed}
        if sample.first_bytes is not None:
            value["sample"]["first_bytes"] = sample.first_bytes
        if sample.rest:
            value["sample"]["rest"] = True
    value |= {"unique": group.unique} if group.unique else {}
    value |= {"dev_of": group.dev_of} if group.dev_of else {}
    value |= {} if group.ratio is None else {"ratio": str(group.ratio)}
    return value


def _from_json(value: object) -> Group:
    if not isinstance(value, dict):
        raise RecipeError("A group of a mixture must be an object with a name and a weight.")
    known = {"name", "weight", "sample", "unique", "dev_of", "ratio"}
    _refuse_unknown(value, known, "A group of a mixture")
    sample = value.get("sample", {})
    if not isinstance(sample, dict):
        raise RecipeError("The sample of a group must be an object.")
    _refuse_unknown(sample, {"first_bytes", "fraction", "of", "seed", "rest"}, "A sample")
    if "fraction" in sample:
        sample = {**sample, "fraction": _fraction(sample["fraction"])}
    weight = _fraction(value.get("weight", "1"))
    ratio = _fraction(value["ratio"]) if "ratio" in value else None
    return Group(
        value.get("name", ""), weight, Sample(**sample), value.get("unique", ""), value.get("dev_of", ""), ratio
    )


def _fraction(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecipeError(f"A weight or share must be a number, not {value!r}.")
    return weight_of(str(value))


def _refuse_unknown(value: dict[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(str(key) for key in value if key not in known)
    if unknown:
        raise RecipeError(f"{what} has no entry named {unknown[0][:40]!r}; its entries are {', '.join(sorted(known))}.")


def _check_number(what: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST_SEED:
        raise RecipeError(f"{what} must be a whole number of at least {least}, not {value!r}.")


def mixture_of(value: object) -> Mixture | None:
    """Return a mixture from a JSON value or from a `Mixture`. Return None if the mixture changes nothing."""
    mixture = value if value is None or isinstance(value, Mixture) else Mixture.from_json_value(value)
    return None if mixture is None or mixture.has_no_effect else mixture
