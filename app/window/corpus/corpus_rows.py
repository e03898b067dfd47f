"""The rows of the corpus list: groups and texts, in their order, and what is written about each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from app.session.corpus_texts import IN_NONE, CorpusText, CorpusTexts
from app.session.counts import Counted, Outcome
from app.window.parts.wording import count_text, size_text
from bpe_core.history.token_texts import quoted
from bpe_core.insight.long_words import LONG_WORD
from bpe_core.recipes.mixture import By, Group, Mixture, share_text, weight_of


@dataclass(frozen=True)
class GroupRow:
    name: str

    @property
    def title(self) -> str:
        return self.name or IN_NONE


def rows_of(texts: Sequence[CorpusText]) -> list[GroupRow | CorpusText]:
    """List the texts, each group under its heading; without groups only the texts."""
    rows: list[GroupRow | CorpusText] = []
    last = ""
    for text in texts:
        if text.group != last or not rows:
            last = text.group
            rows.append(GroupRow(last))
        rows.append(text)
    has_groups = any(text.group for text in texts)
    return rows if has_groups else list(texts)


def line_of_group(row: GroupRow, mixture: Mixture) -> str:
    """Write a group's line as it is edited: `de = 70 %`."""
    return f"{row.title} = {_weight(mixture.of(row.name), mixture)}"


def read_group_line(line: str, row: GroupRow, mixture: Mixture) -> tuple[str, Fraction, By]:
    """Read name, weight and kind of weight from an edited line; what is left out stays."""
    name, equals, weight = line.rpartition("=")
    name = (name if equals else line).strip()
    name = "" if name == IN_NONE else name or row.name
    if not equals or not weight.strip():
        return name, mixture.of(row.name).weight, mixture.by
    by: By = "times" if not weight.strip().endswith("%") else "bytes" if mixture.by == "times" else mixture.by
    return name, weight_of(weight.replace("×", "")), by


def weight_text(group: Group, mixture: Mixture, sizes: dict[str, int]) -> str:
    """Describe a group's weight; the `sizes` of the groups turn a share into a factor."""
    parts = [_weight(group, mixture) if mixture.by == "times" else f"{_weight(group, mixture)} of {mixture.by}"]
    if mixture.by != "times" and group.weight and sizes.get(group.name):
        known = [sizes[one.name] / one.weight for one in mixture.groups if one.weight and sizes.get(one.name)]
        parts.append(f"{float(group.weight * max(known) / sizes[group.name]):.3g} ×")
    return " · ".join(parts)


def sample_text(group: Group) -> list[str]:
    """Describe what is taken of a group, where it is not everything."""
    parts, sample = [], group.sample
    if sample.first_bytes is not None:
        parts.append(f"first {size_text(sample.first_bytes)}")
    if sample.fraction < 1:
        draw = f", draw {sample.seed}" if sample.seed else ""
        parts.append(f"{share_text(sample.fraction)} of the {sample.of}{draw}")
    if group.unique:
        parts.append(f"no {group.unique} twice")
    return parts


def group_size_text(texts: Iterable[CorpusText], sizes: dict[int, int], outcomes: Iterable[Outcome | None]) -> str:
    numbers = [text.number for text in texts]
    counted = [one for one in outcomes if isinstance(one, Counted) and not one.is_of_group]
    in_folders = [one for one in counted if one.files > 1]
    files = len(numbers) + sum(one.files - 1 for one in in_folders)
    size = sum(sizes.get(number, 0) for number in numbers) + sum(one.size for one in in_folders)
    return f"{count_text(files, 'text')} · {size_text(size)}"


def _weight(group: Group, mixture: Mixture) -> str:
    if mixture.by != "times":
        return share_text(group.weight)
    number = group.weight
    return f"{number} ×" if number.denominator > 1 and 10**6 % number.denominator else f"{float(number):g} ×"


T = TypeVar("T")
Rows = list[GroupRow | CorpusText]


def texts_of(rows: Sequence[GroupRow | CorpusText]) -> CorpusTexts:
    """Return the texts in these rows, each in the group of the heading above it."""
    texts: list[CorpusText] = []
    group = ""
    for row in rows:
        if isinstance(row, GroupRow):
            group = row.name
        else:
            texts.append(row if row.group == group else replace(row, group=group))
    return tuple(texts)


def moved_to(rows: Sequence[GroupRow | CorpusText], chosen: Collection[int], place: int) -> Rows:
    """Move the chosen texts before a place among the others, and so perhaps into another group."""
    chosen = [row for row in sorted(chosen) if isinstance(rows[row], CorpusText)]
    others = [one for row, one in enumerate(rows) if row not in set(chosen)]
    place = max(place, 1) if others and isinstance(others[0], GroupRow) else place
    return [*others[:place], *(rows[row] for row in chosen), *others[place:]]


def moved_by(rows: Sequence[GroupRow | CorpusText], chosen: Collection[int], by: int) -> Rows:
    """Move the chosen rows up (-1) or down (1); a heading takes its whole group along."""
    groups = {row.name for row in (rows[one] for one in chosen) if isinstance(row, GroupRow)}
    if groups:
        blocks: list[Rows] = [
            [row, *(one for one in rows if isinstance(one, CorpusText) and one.group == row.name)]
            for row in rows
            if isinstance(row, GroupRow)
        ]
        moving = {
            place for place, (head, *_) in enumerate(blocks) if isinstance(head, GroupRow) and head.name in groups
        }
        return [one for block in _stepped(blocks, moving, by) for one in block]
    has_groups = isinstance(rows[0], GroupRow)
    return [*rows[:has_groups], *_stepped(rows[has_groups:], {row - has_groups for row in chosen}, by)]


def _stepped(things: Sequence[T], moving: Collection[int], by: int) -> list[T]:
    """Let each moving thing pass its neighbour, unless that is the end or could not move itself."""
    found, fixed = list(things), -1 if by < 0 else len(things)
    for place in sorted(moving, reverse=by > 0):
        if place + by == fixed:
            fixed = place
        else:
            found[place], found[place + by] = found[place + by], found[place]
    return found


LONGEST_SHOWN = 40  # bytes of a word


def how_read(counted: Counted) -> str:
    read = counted.read
    if read.is_word_list:
        return "a list of words"
    return f"column “{read.column}”" if read.column else counted.encoding.upper()


def frequent_words(counted: Counted) -> str:
    some = (f"{quoted(word[:LONGEST_SHOWN].decode(errors='replace'))} {n:,}" for word, n in counted.most_frequent)
    return f"Most frequent: {', '.join(some)}" if counted.most_frequent else ""


def warning_of(source: CorpusText, counted: Counted, splits: bool) -> str:
    found = counted.long_words
    if not splits or found is None:
        return ""
    share, longest = counted.share_in_long_words, counted.longest_word
    warning = f"{share:.0%} of {source.name} is in words of more than {LONG_WORD} bytes (the longest has {longest:,})"
    if counted.files > 1 and found.file:
        warning += f", such as in {found.file}"
    if found.better:
        return f"{warning}. This pattern does not split it well; {' or '.join(found.better[:2])} would do better there."
    return f"{warning}. No other pattern would split it better; is it text that you want to learn from?"
