"""The measurement of a shared page in Chromium.

It measures the size of the page, and the times to open the page, to type, and to move the slider.

    python -m tests.benchmarks.shared_page

A key press in 10,000 characters should take 16 ms, and loading 50,000 merges should take half a second. The
command prints medians. It also prints the shortest time of a key press, because the median is larger on a
busy machine. The merges are learned from texts. If the texts have too few merges, random merges are added.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

import bpe_core as bpe
from tests.browser import PROGRAM, browser
from tests.shared import available_texts, text_of

SIZES = (256, 5_000, 50_000, 200_000)
CHARACTERS = 10_000
LOAD = """(async () => {
  const begun = performance.now(), data = await unpacked(document.getElementById("data").textContent.trim());
  new Run(data.runs[0]);
  return performance.now() - begun;
})()"""
# Type into the middle, or move the slider, and let the browser lay the page out.
TIMES = """((act) => Array.from({ length: 20 }, (_, i) => {
  const begun = performance.now();
  act(i);
  document.body.offsetHeight;
  return performance.now() - begun;
}))"""
KEY = "(i) => { page.input.setRangeText('x', 250 * i, 250 * i); page.show(); }"
SLIDE = "(i) => page.goTo(page.timeline.last * (i + 1) / 20)"


REAL = ("data/wikitext2-train-unk.txt", "data/udhr-languages.txt")


def history_of(merges: int) -> bpe.History:
    """Return a history of `merges` merges. If too few merges can be learned from our texts, random merges are added."""
    texts = [path.read_text(encoding="utf-8") for path in Path("tests/texts").glob("*.txt")]
    texts += [text_of(name) for name in available_texts(*REAL)]
    learned = bpe.train(texts, "gpt2", vocab_size=None, merges=merges, min_frequency=1).history
    if len(learned) == merges:
        return learned
    chance, more = np.random.default_rng(1), merges - len(learned)
    pairs = np.array([*learned.pairs(), *chance.integers(256, 256 + len(learned), (more, 2)).tolist()])
    return bpe.History.from_pairs(learned.recipe, learned.alphabet, pairs)


def main() -> int:
    if PROGRAM is None:
        sys.exit("There is no Chromium here.")
    text = (text_of("prose") * 10)[:CHARACTERS]
    titles = ("page (kB)", "load (ms)", "key (ms)", "least", "slider (ms)")
    print(f"{'merges':>10}" + "".join(f"{title:>12}" for title in titles))
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "home") as page:
        for merges in SIZES:
            path = Path(folder) / "run.html"
            bpe.share(bpe.Study(history_of(merges)), path, text=text)
            page.open(path)
            load = statistics.median(page.value(LOAD) for _ in range(5))
            keys, slides = (page.value(f"{TIMES}({act})") for act in (KEY, SLIDE))
            figures = load, statistics.median(keys), min(keys), statistics.median(slides)
            print(
                f"{merges:>10,}{path.stat().st_size / 1e3:>12,.0f}" + "".join(f"{figure:>12.1f}" for figure in figures)
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
