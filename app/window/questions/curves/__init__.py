"""A measure of many runs over the size of their vocabularies; sweeps, which learn them by a plan."""
