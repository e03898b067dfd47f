"""How what is saved was made, beside it."""
