"""Tests of the warm-up.

After the warm-up, the kernels are compiled, so that no later work has to wait. Compiling would freeze the
window.
"""

from __future__ import annotations

import subprocess
import sys

from tests.shared import ROOT

REAL_WORK = """
import sys
import bpe_core as bpe
from bpe_core.text.corpus import Corpus
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.counting.count_words import count_words
from bpe_core.kernels import readiness
from bpe_core.methods.kit.method import Method
import bpe_core.methods.kit.compiled_pairs, bpe_core.counting.count_words
from bpe_core.segmenting.compiled_ranks import CompiledRanks
from bpe_core.methods.kit.layout import lay_out
from tests.core.learning import with_two_languages

readiness.SAMPLE = 0
bpe_core.methods.kit.compiled_pairs._ROOMY = 0  # the learner is imported, so it is used
text = "".join(f"word {i % 97} low lower λόγος {chr(0x4E00 + i % 900)}\\n" for i in range(1_500))
corpus = Corpus.from_texts([text, text[5:]])
many_words = " ".join(f"{i:09} {i}" for i in range(30_000))  # for which each table grows
count_words(Corpus.from_texts([many_words]), Recipe.preset("gpt2"))
for i, preset in enumerate(PRESETS):
    for ties in (("first-seen", "smallest-text"), ("lowest-ids", "largest-text"))[i % 2]:
        recipe = Recipe.preset(preset, merges=60, vocab_size=None)
        if "ties" not in METHODS[recipe.method].needs:
            recipe = recipe.with_changes(ties=ties)
        words = with_two_languages(count_words(corpus, recipe))
        trainer = Trainer(words, recipe)
        trainer.advance(max_merges=5)
        trainer.candidates(4)
        trainer.advance()
        again = Trainer(words, recipe, history=trainer.history)
        again.advance(max_merges=1)
        tokenizer = Tokenizer(trainer.history)
        for sample in (text[:200], text, many_words, "low" * 30_000, ""):
            tokenizer.encode(sample, at=3)
            tokenizer.encode_to_array(sample)
            if Method.of(recipe).has_ranks:
                CompiledRanks(trainer.history).of(lay_out(words, trainer.alphabet, recipe).symbols)
                tokenizer.boundaries(sample)
                tokenizer.encode_greedy(sample[:200])
assert "bpe_core.kernels.learn" in sys.modules and "bpe_core.kernels.count" in sys.modules
assert "numba" not in sys.modules
"""


def test_work_after_the_warm_up_compiles_no_kernel() -> None:
    ended = subprocess.run([sys.executable, "-c", REAL_WORK], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


EACH_PART = """
from bpe_core import warm_up
from bpe_core.counting.count_words import count_words
from bpe_core.kernels import calling, readiness, stored_code
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.corpus import Corpus
from tests.core.learning import with_two_languages

readiness.SAMPLE = 0
asked, make = [], calling.Kernel._made
calling.Kernel._made = lambda self, *how: asked.append(self.name) or make(self, *how)
corpus = Corpus.from_texts(["".join(f"word {i % 97} low lower {chr(0x4E00 + i % 900)}\\n" for i in range(900))])
words = with_two_languages(count_words(corpus, Recipe.preset("gpt2")))


def learned(preset):
    return learn(words, Recipe.preset(preset, merges=40, vocab_size=None))


def encode():
    Tokenizer(learned("gpt2")).encode_to_array("low lower " * 900)


WORK = {
    stored_code.COUNTING: lambda: count_words(corpus, Recipe.preset("gpt2")),
    stored_code.LEARNING: lambda: [learned("gpt2"), learned("parity")],
    stored_code.ENCODING: lambda: [encode(), learned("superbpe")],
    stored_code.SCORING: lambda: learned("wordpiece"),
    stored_code.DROPPING: lambda: learned("boundless"),
    stored_code.WEIGHING: lambda: [learned("unigram"), learned("mingram")],
    stored_code.COMPRESSING: lambda: learned("gage"),
    stored_code.PRICING: lambda: learned("best"),
}
for part, warm in warm_up.PARTS.items():
    warm()
    asked.clear()
    WORK.get(part, list)()
    assert not asked, f"{part} lacks {asked}"
"""


def test_each_part_of_machine_code_contains_all_kernels_that_its_tasks_call() -> None:
    ended = subprocess.run([sys.executable, "-c", EACH_PART], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
