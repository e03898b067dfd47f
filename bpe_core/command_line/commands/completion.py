"""The command `bpe-explorer completion`.

It prints a script that completes the commands and their arguments in a shell.
"""

from __future__ import annotations

import argparse

from bpe_core.command_line.completion import SCRIPTS, completed_commands

examples = """\
examples:
  bpe-explorer completion bash > ~/.local/share/bash-completion/completions/bpe-explorer
      From the next shell on, Bash completes commands, options, their values and files.

  bpe-explorer completion zsh > ~/.zfunc/_bpe-explorer
      For zsh, write the script to a folder of $fpath, where compinit finds the script.

  bpe-explorer completion fish > ~/.config/fish/completions/bpe-explorer.fish
      Write the script for fish.

The script lists the current commands, methods and plug-ins. Print it again after an update.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SCRIPTS, help="the shell that reads the script")


def run(options: argparse.Namespace) -> int:
    print(SCRIPTS[options.shell](completed_commands()), end="")
    return 0
