"""The package that turns training runs into films.

It draws every pixel with its own code, so the frames of a film are the same on every machine.
"""
