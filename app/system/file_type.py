"""The file type of sessions.

On request, the program registers it for this user, so that a double click opens a session.
"""

from __future__ import annotations

import errno
import os
import plistlib
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QProcess, QSettings

from bpe_core.errors import OutputError
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.schema import APPLICATION_ID
from bpe_core.support.atomic import write_atomically
from bpe_core.support.private_folder import home
from resources import icon_svg

MIME_TYPE = "application/x-bpe-explorer-session"
NAME = "bpe-explorer"  # the name of the files written, and of the window for the desktop
TITLE = "BPE Explorer"
DESCRIPTION = f"{TITLE} session"
LAUNCH_SERVICES = (
    "/System/Library/Frameworks/CoreServices.framework/Frameworks/LaunchServices.framework/Support/lsregister"
)
WINDOWS_CLASSES = r"HKEY_CURRENT_USER\Software\Classes"
WINDOWS_TYPE = "BPEExplorer.Session"

MIME_PACKAGE = f"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MIME_TYPE}">
    <comment>{DESCRIPTION}</comment>
    <icon name="{NAME}"/>
    <magic priority="60">
      <match type="string" offset="0" value="SQLite format 3">
        <match type="big32" offset="68" value="{APPLICATION_ID:#x}"/>
      </match>
    </magic>
    <glob pattern="*{EXTENSION}"/>
  </mime-type>
</mime-info>
"""

DESKTOP_ENTRY = """[Desktop Entry]
Type=Application
Name=BPE Explorer
Comment=Watch a byte-pair-encoding tokenizer being learned
Exec={command} %F
Icon={name}
Terminal=false
Categories=Education;Science;
MimeType={mime_type};
"""


def claim_sessions() -> str:
    """Register this program for session files. Return a sentence about the result."""
    try:
        if sys.platform == "win32":
            _claim_on_windows()
        elif sys.platform == "darwin":
            claim_on_mac(_home() / "Applications")
        else:
            _claim_on_freedesktop(data_home())
    except OSError as error:
        return f"The desktop did not register the file type: {error.strerror or error}."
    except OutputError as error:
        return str(error)
    return f"A double-click on a file that ends in {EXTENSION} opens it in BPE Explorer from now on."


def data_home() -> Path:
    """Return the folder for the user's data, according to the rules of freedesktop.org."""
    chosen = os.environ.get("XDG_DATA_HOME")
    return Path(chosen) if chosen else _home() / ".local" / "share"


def _home() -> Path:
    folder = home()
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, "this user has no home folder")
    return folder


def command() -> list[str]:
    started_as = Path(sys.argv[0])
    script = started_as if started_as.stem == NAME and started_as.exists() else shutil.which(NAME)
    return [sys.executable, "-m", "app"] if script is None else [str(Path(script).absolute())]


def _claim_on_freedesktop(folder: Path) -> None:
    entry = DESKTOP_ENTRY.format(command=" ".join(map(_quoted, command())), name=NAME, mime_type=MIME_TYPE)
    files = {
        folder / "mime" / "packages" / f"{NAME}.xml": MIME_PACKAGE.encode(),
        folder / "applications" / f"{NAME}.desktop": entry.encode(),
        folder / "icons" / "hicolor" / "scalable" / "apps" / f"{NAME}.svg": icon_svg("app").encode(),
    }
    _write(files)
    # If these programs are missing, the desktop finds the files by itself later.
    _start("update-mime-database", str(folder / "mime"))
    _start("update-desktop-database", str(folder / "applications"))
    _start("xdg-mime", "default", f"{NAME}.desktop", MIME_TYPE)


def _write(files: Mapping[Path, bytes]) -> None:
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(data)


def _quoted(argument: str) -> str:
    """Return an argument in quotes for a desktop entry.

    >>> _quoted("/opt/my programs/100%")
    '"/opt/my programs/100%%"'
    """
    for special in ("\\", '"', "`", "$"):
        argument = argument.replace(special, "\\" + special)
    return '"' + argument.replace("%", "%%") + '"'


def _start(program: str, *arguments: str) -> None:
    path = shutil.which(program)
    if path is not None:
        QProcess.startDetached(path, list(arguments))  # it may take seconds


def claim_on_mac(folder: Path) -> None:
    """Write an application bundle into a folder. The bundle's start script runs the program with `exec`.

    So the program runs as the bundle's own process, and receives the events of macOS.
    """
    bundle = folder / f"{TITLE}.app"
    starter = bundle / "Contents" / "MacOS" / STARTER
    files = {
        starter: f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n'.encode(),
        bundle / "Contents" / "Info.plist": plistlib.dumps(PROPERTIES),
    }
    _write(files)
    starter.chmod(0o755)
    _start(LAUNCH_SERVICES, "-f", str(bundle))  # without it, the desktop finds the bundle by itself later


def _claim_on_windows() -> None:
    classes = QSettings(WINDOWS_CLASSES, QSettings.Format.NativeFormat)
    classes.setValue(f"{EXTENSION}/Default", WINDOWS_TYPE)
    classes.setValue(f"{WINDOWS_TYPE}/Default", DESCRIPTION)
    line = " ".join(f'"{part}"' for part in [*command(), "%1"])
    classes.setValue(f"{WINDOWS_TYPE}/shell/open/command/Default", line)
    classes.sync()


SESSION_TYPE = "org.bpe-explorer.session"
STARTER = "start"


PROPERTIES = {
    "CFBundleName": TITLE,
    "CFBundleIdentifier": "org.bpe-explorer.window",
    "CFBundleExecutable": STARTER,
    "CFBundlePackageType": "APPL",
    "NSHighResolutionCapable": True,
    "CFBundleDocumentTypes": [
        {
            "CFBundleTypeName": DESCRIPTION,
            "CFBundleTypeRole": "Editor",
            "LSHandlerRank": "Owner",
            "LSItemContentTypes": [SESSION_TYPE],
        }
    ],
    "UTExportedTypeDeclarations": [
        {
            "UTTypeIdentifier": SESSION_TYPE,
            "UTTypeDescription": DESCRIPTION,
            "UTTypeConformsTo": ["public.database", "public.data"],
            "UTTypeTagSpecification": {"public.filename-extension": [EXTENSION.lstrip(".")]},
        }
    ],
}
