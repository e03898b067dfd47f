"""How pairs fared against each other."""
