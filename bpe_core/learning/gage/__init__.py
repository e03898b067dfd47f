"""Gage's compressor of 1994: where byte-pair encoding comes from."""
