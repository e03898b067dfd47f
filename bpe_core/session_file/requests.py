"""Requests to a training run in another process. A request is one word in a small file beside the run's session.

    echo pause > run.bpex.request      the run saves its steps and waits until the file is removed
    echo stop > run.bpex.request       the run saves its steps and ends

Anyone who can write to the folder can make a request.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal, get_args

from bpe_core.support.atomic import write_atomically

Request = Literal["pause", "stop"]
ENDING = ".request"
LONGEST = 64  # bytes that are read


def request_file(session: Path) -> Path:
    return session.with_name(session.name + ENDING)


def request_for(session: Path) -> Request | None:
    """Return the request that was made to the training run that writes this session.

    Return None if there is no valid request.
    """
    with contextlib.suppress(OSError), open(request_file(session), "rb") as file:
        word = file.read(LONGEST).strip().lower()
        return next((request for request in get_args(Request) if word == request.encode()), None)
    return None


def can_request(session: Path) -> bool:
    return os.access(session.parent, os.W_OK)


def make_request(session: Path, request: Request) -> None:
    with write_atomically(request_file(session)) as file:
        file.write(f"{request}\n".encode())


def withdraw_request(session: Path) -> None:
    with contextlib.suppress(OSError):
        request_file(session).unlink()
