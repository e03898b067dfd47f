"""Encoding whole texts into files of ids."""
