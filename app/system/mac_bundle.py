"""A small application for macOS that starts this program: only what stands in a bundle can own a kind of file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from bpe_core.atomic import write_atomically
from bpe_core.session_file import EXTENSION

IDENTIFIER = "org.bpe-explorer.window"
SESSION_TYPE = "org.bpe-explorer.session"
STARTER = "start"


def write_bundle(bundle: Path, name: str, description: str, command: Sequence[str]) -> None:
    """Make or replace it; the starter becomes the program, so that it is the bundle's own process."""
    import plistlib

    starter = f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'
    contents = bundle / "Contents"
    for path, data in (
        (contents / "MacOS" / STARTER, starter.encode()),
        (contents / "Info.plist", plistlib.dumps(_properties(name, description))),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(data)
    (contents / "MacOS" / STARTER).chmod(0o755)


def _properties(name: str, description: str) -> dict[str, object]:
    return {
        "CFBundleName": name,
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleExecutable": STARTER,
        "CFBundlePackageType": "APPL",
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": description,
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [SESSION_TYPE],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": SESSION_TYPE,
                "UTTypeDescription": description,
                "UTTypeConformsTo": ["public.database", "public.data"],
                "UTTypeTagSpecification": {"public.filename-extension": [EXTENSION.lstrip(".")]},
            }
        ],
    }
