"""The entry point of the engine's command line, such as `python -m bpe_core train ...`.

Without arguments, the program prints examples for a beginner.
"""

import sys
from pathlib import Path

INTERRUPTED = 130  # as after Ctrl-C in a command
HERE = Path(__file__).parent
BEGIN = f"""\
The engine of BPE Explorer; `bpe-explorer` opens the window.

to begin:
  python -m bpe_core words low lower lowest          watch a few words being merged
  python -m bpe_core look tokenizer.json "a text"    the tokens of any tokenizer, their ids, and unusual tokens
  python -m bpe_core import --list                   the tokenizers in the Hugging Face cache
  python -m bpe_core train book.txt --vocab-size 2000 --output merges.csv
  python -m bpe_core --help                          all commands

in Python, or a notebook:
  import bpe_core as bpe
  study = bpe.open("tokenizer.json")                 a notebook shows it; study.encode("a text")

to read:
  {HERE / "methods/bpe/reference.py"}    the algorithm
  {HERE.parent / "resources" / "manual" / "start.md"}    the manual
"""


def main(arguments: list[str]) -> int:
    if not arguments:
        sys.stdout.write(BEGIN)
        return 0
    try:
        from bpe_core.command_line.main import run_as_process  # takes a moment, in which a person may press Ctrl-C

        return run_as_process(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
