"""Counting the corpus into a file, by a process of its own: on this computer or on a cluster."""
