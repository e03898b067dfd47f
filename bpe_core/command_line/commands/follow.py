"""The command `bpe-explorer follow`. It prints the steps of a run that another program trains."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from bpe_core.following.file_follower import FileFollower
from bpe_core.following.followed_run import OVER
from bpe_core.following.step_lines import StepLines
from bpe_core.following.stream_follower import StreamFollower

SECONDS_BETWEEN_LOOKS = 0.3
TIMES_THE_LOOK = 3  # a long run is looked at less often
STANDARD_INPUT = "-"

examples = """\
examples:
  bpe-explorer follow run.bpex
      Print each step of a training as a line of JSON while `train -o run.bpex` writes this session.

  ssh host bpe-explorer follow run.bpex | bpe-explorer --follow -
      Watch a training on another computer in a window here.

  bpe-explorer follow run.bpex --once
      Print the steps that are saved now, and end.

The session is only read. It may be missing at first, vanish for a while, or be replaced. If the training is killed
and started again, the lines go on. The command ends when the training has ended.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = "a session (.bpex) that a training writes, or - for the lines of another `follow` on standard input"
    parser.add_argument("session", metavar="SESSION", help=what)
    parser.add_argument("--once", action="store_true", help="print the steps that are saved so far, and end")


def run(options: argparse.Namespace) -> int:
    is_stream = options.session == STANDARD_INPUT
    follower = StreamFollower(sys.stdin.buffer) if is_stream else FileFollower(Path(options.session))
    lines = StepLines()
    said = ""
    while True:
        began = time.monotonic()
        followed = follower.look()
        sys.stdout.buffer.writelines(lines.new_lines(followed))
        sys.stdout.buffer.flush()
        if followed.state == "waiting" and followed.sentence != said:
            said = followed.sentence
            sys.stderr.write(f"{said}\n")
        if followed.state in OVER or options.once:
            if followed.state == "cut":
                sys.stderr.write(f"{followed.sentence} {followed.why}".rstrip() + "\n")
            return int(followed.state == "cut")
        if not is_stream:
            time.sleep(max(SECONDS_BETWEEN_LOOKS, TIMES_THE_LOOK * (time.monotonic() - began)))
