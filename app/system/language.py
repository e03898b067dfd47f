"""The language of the window and of the messages of the system."""

from __future__ import annotations

import locale

from PySide6.QtCore import QLocale


def use_english() -> None:
    """Use English in number fields and in messages of the system, whatever the language of the desktop.

    Call this after Qt's application object is made, because Qt then sets the language of the process. The system's
    reasons, such as "No such file or directory", are parts of English sentences.
    """
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    if hasattr(locale, "LC_MESSAGES"):  # Windows has no such setting
        locale.setlocale(locale.LC_MESSAGES, "C")
