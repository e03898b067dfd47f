"""The engine without its window: `python -m bpe_core train ...`."""

import sys

from bpe_core.command_line.main import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
