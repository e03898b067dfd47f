"""Figures as data, and the one painter that draws them."""
