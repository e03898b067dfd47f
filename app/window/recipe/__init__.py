"""The recipe as a form."""
