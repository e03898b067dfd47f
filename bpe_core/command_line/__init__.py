"""The commands of `bpe-explorer` that need no window: one file a command.

main.py chooses the command. Each command's file offers the same three things: SUMMARY (one
line), `add_arguments(parser)` and `run(options)`, which returns the exit code.
"""
