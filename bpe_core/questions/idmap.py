"""The question `idmap`. It asks which id each token of an old table has in a new table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Pair, Question, parameter
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import NPZ, npz_of, read_id_map
from bpe_core.figures.figure import Bar, BarFigure
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

MOST_PARTS = 4  # bars of new tokens by their number of parts; the last bar holds this number and more


@dataclass(frozen=True)
class Idmap(Question):
    """Show what happens to each id if one table replaces another.

    A token that both tables have keeps its row of a model's embeddings. The text of any other new token is split into
    tokens of the old table. The mean of the rows of these tokens can be the row of the new token before it is trained.
    """

    about = "other tokenizers"
    asks = "What becomes of each id?"
    turn = 5
    studies = (2, 2)
    roles = ("old", "new")
    own_endings = (NPZ,)
    takes_moments = False
    examples = """\
examples:
  bpe-explorer idmap old/tokenizer.json new/tokenizer.json
      Show how many ids stay, which ids are new, and which old tokens their texts become.

  bpe-explorer idmap old.json new.json -o idmap.npz
      Write the map as arrays for NumPy and PyTorch. The manual shows the ten lines that resize embeddings by it.

  bpe-explorer idmap old.json new.json --check new/idmap.npz
      Check whether a map belongs to these two tables.

The exit code is 3 if the checked map belongs to other tables, and otherwise 0.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.idmap(study.at(3), study).columns["parts"][-1]
        (32, 257, 256)
    """

    renamed: tuple[Pair, ...] = parameter(
        (),
        help="a special token that was renamed from OLD to NEW, so it keeps its row of the embeddings",
        metavar="OLD NEW",
        repeated=True,
        in_json_only=True,
    )
    check: str = parameter(
        "",
        help="a saved map of ids; say whether it is still the map of these tables",
        metavar="FILE",
        path="file",
        title="Compared with the map",
        in_words={"": "none"},
    )

    @classmethod
    def title(cls) -> str:
        return "Id map"

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        given = read_id_map(self.check) if self.check else None
        (old, new) = studies.values()
        id_map = IdMap.of(old, new, renamed=dict(self.renamed), cancelled=work.cancelled)
        sentences = sentences_of(id_map)
        difference = "" if given is None else id_map.difference(given)
        if difference:
            sentences = (f"{self.check} is a map of other tables: {difference}.", *sentences)
        elif given is not None:
            sentences = (f"{self.check} is the map of these tables.", *sentences)
        figure = BarFigure("idmap", "What becomes of each id.", sentences[-1], _bars(id_map), "Ids")
        return Answer(
            id_map.table(),
            sentences,
            figure,
            ("new", "old", "text", "special", "parts"),
            rows=_order_of_rows(id_map),
            facts=_facts(id_map),
            differs=bool(difference),
            files={NPZ: lambda: npz_of(id_map)},
        )


def sentences_of(id_map: IdMap) -> tuple[str, ...]:
    """Return sentences that say how many tokens stay, how many ids are new, and how the old table splits the new
    tokens."""
    facts = _facts(id_map)
    kept = facts["kept"]
    olds = kept + facts["gone"]
    same = "all" if facts["same_id"] == kept else f"{facts['same_id']:,}"
    stay = (
        f"{kept:,} of {count_text(olds, 'old token stays', 'old tokens stay')}, {same} with the same id. "
        f"{count_text(facts['gone'], 'old token is', 'old tokens are')} removed."
    )
    added = facts["added"]
    if not added:
        return (f"{stay} No id is new.",)
    lengths = id_map.lengths[id_map.added]
    new = f"{count_text(added, 'id is', 'ids are')} new: the old table splits the text of each"
    without = int(np.count_nonzero(lengths == 0))
    rest = f" {count_text(without, 'new id has', 'new ids have')} no parts." if without else ""
    return (stay, f"{new} into {lengths.mean():.2f} tokens on average, {lengths.max():,} at most.{rest}")


def _facts(id_map: IdMap) -> dict[str, int]:
    return {
        "kept": int(np.count_nonzero(id_map.kept)),
        "same_id": int(np.count_nonzero(id_map.kept & (id_map.new == id_map.old))),
        "added": int(np.count_nonzero(id_map.added)),
        "gone": int(np.count_nonzero(id_map.gone)),
    }


def _bars(id_map: IdMap) -> list[Bar]:
    facts = _facts(id_map)
    lengths = np.minimum(id_map.lengths[id_map.added], MOST_PARTS)
    counts = {
        "kept, same id": facts["same_id"],
        "kept, different id": facts["kept"] - facts["same_id"],
    }
    for parts in range(MOST_PARTS + 1):
        more = "+" if parts == MOST_PARTS else ""
        name = f"new, {parts}{more} {'part' if parts == 1 else 'parts'}"
        counts[name] = int(np.count_nonzero(lengths == parts))
    counts["gone"] = facts["gone"]
    return [Bar(name, float(count), f"{count:,}") for name, count in counts.items() if count]


def _order_of_rows(id_map: IdMap) -> Sequence[int]:
    """Return the order in which the rows are shown: new tokens, removed tokens, changed ids, and unchanged ids."""
    order = np.select([id_map.added, id_map.gone, id_map.new != id_map.old], [0, 1, 2], 3)
    rows: list[int] = np.argsort(order, kind="stable").tolist()
    return rows
