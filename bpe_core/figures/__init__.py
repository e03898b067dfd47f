"""Figures as data, and the painter that draws them."""
