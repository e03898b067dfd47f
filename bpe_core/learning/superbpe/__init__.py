"""Byte-pair encoding within words first, then across them."""
