"""Functions that write numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath


def count_text(count: int, thing: str, things: str = "") -> str:
    """Return a number with its noun.

    >>> count_text(1, "merge"), count_text(1200, "merge"), count_text(0, "byte")
    ('1 merge', '1,200 merges', '0 bytes')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def as_call(name: str, /, *values: object, **named: object) -> str:
    """Return the text of a call with these arguments, as Python code.

    >>> as_call("Group", "en", weight="2/5")
    "Group('en', weight='2/5')"
    """
    return f"{name}({', '.join([*map(repr, values), *(f'{key}={value!r}' for key, value in named.items())])})"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question that suggests the most similar name for a mistyped word.

    Return an empty text if no name is similar.

    >>> did_you_mean("trian", ["train", "trim"]), did_you_mean("fly", ["train", "trim"])
    ('; did you mean train?', '')
    """
    from difflib import get_close_matches  # needed only after a mistake

    alike = get_close_matches(word, list(names), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""


def short_names(names: Sequence[str]) -> list[str]:
    """Return short names that distinguish these paths. Common folders, endings and beginnings are removed.

    >>> short_names(["dom/multi-de.txt", "dom/multi-fr.txt"]), short_names(["ours.json", "gpt2"])
    (['de', 'fr'], ['ours.json', 'gpt2'])
    """
    if not any("/" in name or "\\" in name for name in names):
        return list(names)
    paths = [PurePosixPath(name.replace("\\", "/")) for name in names]
    parts = [path.parts for path in paths]
    shared = _shared_beginning([part[:-1] for part in parts])  # folders
    endings = {path.suffix for path in paths}
    short = ["/".join(part[shared:]) for part in parts]
    if len(endings) == 1:
        short = [name.removesuffix(*endings) for name in short]
    if len(names) > 1:
        beginning = short[0][: _shared_beginning(short)]
        cut = max(beginning.rfind(sign) for sign in "-_. ") + 1
        short = [name[cut:] for name in short]
    return short if len(set(short)) == len(set(names)) and all(short) else list(names)


def _shared_beginning(rows: Iterable[Sequence[str]]) -> int:
    """Return how many items at the beginning are equal in all rows."""
    alike = 0
    for items in zip(*rows, strict=False):
        if len(set(items)) > 1:
            break
        alike += 1
    return alike
