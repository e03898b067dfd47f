"""A monitor that detects every attempt of this process to reach a network, by Python or by other code.

`listen()` writes a line to standard error for each attempt that Python makes. It uses an audit hook, which no code can
remove. `network_sockets()` asks the Linux kernel for open sockets, so it also finds the sockets of other code.
"""

from __future__ import annotations

import sys
from pathlib import Path

HEARD = "NETWORK"
HARMLESS = {"socket.gethostname", "socket.__new__"}  # the computer's own name; a socket that is not connected yet
HEADS = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.")


def listen() -> None:
    """Print a line for each attempt to reach a network, from now until the process ends."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(HEADS) and event not in HARMLESS:
        sys.stderr.write(f"{HEARD} {event} {arguments}\n")


def network_sockets(process: str = "self") -> list[str]:
    """Return the Internet sockets that a process has open, as the kernel lists them."""
    own = {link.removeprefix("socket:[").removesuffix("]") for link in _open_files(process) if "socket:" in link}
    sockets = []
    for protocol in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        table = Path("/proc") / process / "net" / protocol
        if table.exists():
            rows = table.read_text(encoding="ascii").splitlines()[1:]
            sockets += [f"{protocol} {row}" for row in rows if row.split()[9] in own]
    return sockets


def _open_files(process: str) -> list[str]:
    links = []
    for entry in (Path("/proc") / process / "fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except OSError:  # closed meanwhile
            continue
    return links
