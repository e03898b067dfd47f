"""Byte-pair encoding in which each merge serves the language that is worst off."""
