"""Functions that convert a history to bytes and back, so that histories can be pickled and copied.

Equal histories give equal bytes, in any process. A header in JSON describes the arrays that follow it. The bytes hold
neither code nor cached results.

>>> from bpe_core.studies.making import train
>>> from bpe_core.history.history import History
>>> history = train(["low low lower"], "words", merges=2).history
>>> again = History(**unpacked(packed(history)))
>>> list(again) == list(history), packed(again) == packed(history)
(True, True)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bpe_core.history.alphabet import KINDS, Alphabet, LaidSymbols, RawTexts, SpelledSeeds
from bpe_core.history.columns import Columns, Scores
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.recipes.recipe import Recipe

if TYPE_CHECKING:  # imported only for types, as that module imports this one
    from bpe_core.history.history import History

Array = npt.NDArray[Any]
HEAD = 8  # bytes of the header's length
INTEGERS = ("<i1", "<i2", "<i4", "<i8")  # the narrowest types first
JOINING_CHOICES = ("whole_words", "joins_unknown", "left_out", "found_first", "hidden")


def packed(history: History) -> bytes:
    """Return a history as bytes.

    Parameters
    ----------
    history
        The history. Only its own steps are written, not later steps of the run.
    """
    alphabet = history.alphabet
    scores = history.scores
    joining = history.joining
    head: dict[str, Any] = {
        "recipe": history.recipe.to_dict(),
        "tokens_at_start": history.tokens_at_start,
        "end_reason": history.end_reason,
    }
    laid = LaidSymbols.of(alphabet.given)
    arrays: dict[str, Array] = {"kinds": laid.kinds}
    for name, texts in (("symbol", laid.texts), ("decoded", laid.decoded)):
        arrays |= {f"{name} bytes": texts.data, f"{name} lengths": np.diff(texts.starts)}
    if alphabet.spelled is not None:
        arrays |= {f"spelled {name}": column for name, column in alphabet.spelled._asdict().items()}
    arrays |= {f"column {name}": column for name, column in history.columns._asdict().items()}
    arrays |= {f"reason {name}": column for name, column in history.reasons.items()}
    if scores is not None:
        head["scores"] = [list(map(int, scores.since)), scores.waiting]
        arrays["dropped"] = scores.dropped
        arrays |= {f"score {place}": row for place, row in enumerate(scores.rows)}
    if joining is not None:
        head["joining"] = {name: getattr(joining, name) for name in JOINING_CHOICES}
        if joining.pairs is not None:
            arrays |= {f"pair {name}": column for name, column in joining.pairs._asdict().items()}
        if joining.priorities is not None:
            arrays["priorities"] = joining.priorities
    if history.numbers is not None:
        arrays["numbers"] = history.numbers
    narrow = {name: _narrowed(array) for name, array in arrays.items()}
    head["arrays"] = {
        name: (array.dtype.newbyteorder("<").str, len(array), narrow[name].dtype.str, len(narrow[name]))
        for name, array in arrays.items()
    }
    written = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    blobs = (narrow[name].tobytes() for name in sorted(narrow))
    return b"".join((len(written).to_bytes(HEAD, "little"), written, *blobs))


def unpacked(data: bytes, longest: int | None = None) -> dict[str, Any]:
    """Return the arguments for the class `History` that the function `packed` has stored in `data`.

    Parameters
    ----------
    data
        The bytes that `packed` returned.
    longest
        The largest number of values that an array may have, if the bytes come from a file. Raise ValueError if an array
        is longer.
    """
    place = HEAD + int.from_bytes(data[:HEAD], "little")
    head = json.loads(data[HEAD:place])
    arrays: dict[str, Array] = {}
    for name, (kind, length, stored_kind, stored) in sorted(head["arrays"].items()):
        if longest is not None and not 0 <= length <= longest:
            raise ValueError(f"the array {name!r} is too long")
        narrow = np.frombuffer(data, stored_kind, stored, place)
        place += narrow.nbytes
        native = np.dtype(kind).newbyteorder("=")
        arrays[name] = narrow.astype(native) if stored == length else np.full(length, narrow[0], native)
    columns = Columns(**_with_prefix("column ", arrays))
    spelled = _with_prefix("spelled ", arrays)
    symbols = LaidSymbols(_read_texts("symbol", arrays), _read_texts("decoded", arrays), arrays["kinds"])
    if not (len(symbols.texts.starts) == len(symbols.decoded.starts) == len(symbols) + 1):
        raise ValueError("the numbers of base symbols and of their texts differ")
    if len(symbols) and not 0 <= symbols.kinds.min() <= symbols.kinds.max() < len(KINDS):
        raise ValueError("a base symbol has an unknown kind")
    return {
        "recipe": Recipe.from_dict(head["recipe"]),
        "alphabet": Alphabet(symbols, SpelledSeeds(**spelled) if spelled else None),
        "columns": columns.first(len(columns.left)),
        "reasons": _with_prefix("reason ", arrays),
        "scores": _scores(head, arrays),
        "joining": _joining(head, arrays),
        "tokens_at_start": head["tokens_at_start"],
        "end_reason": head["end_reason"],
        "numbers": arrays.get("numbers"),
    }


def _scores(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> Scores | None:
    if "scores" not in head:
        return None
    since, waiting = head["scores"]
    rows = tuple(arrays[f"score {place}"] for place in range(len(since)))
    return Scores(tuple(since), rows, arrays["dropped"], waiting)


def _joining(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> MergePriorities | None:
    if "joining" not in head:
        return None
    pairs = _with_prefix("pair ", arrays)
    choices: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in head["joining"].items()
    }
    return MergePriorities(PairRows(**pairs) if pairs else None, arrays.get("priorities"), **choices)


def _with_prefix(beginning: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin with `beginning`. Remove this beginning from the names."""
    return {name.removeprefix(beginning): array for name, array in arrays.items() if name.startswith(beginning)}


def _read_texts(name: str, arrays: Mapping[str, Array]) -> RawTexts:
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(arrays[f"{name} lengths"])))
    return RawTexts(arrays[f"{name} bytes"], starts)


def _narrowed(array: Array) -> Array:
    """Return an array in a form that takes little space.

    Integers get the smallest type that can hold all of them. If all integers are equal, return only the first one.
    Values of other types keep their type and stay complete.
    """
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if array.dtype.kind == "i" and len(array):
        least = int(array.min())
        most = int(array.max())
        kinds = (np.dtype(kind) for kind in INTEGERS)
        array = array.astype(next(kind for kind in kinds if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))
        return array[:1] if least == most else array
    return array
