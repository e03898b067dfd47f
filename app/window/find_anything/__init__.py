"""One field that finds whatever can be done or looked at: actions, files, lessons, tokens and steps."""
