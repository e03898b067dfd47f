"""Icons, styles, sample texts and pictures, found after any kind of installation."""
