"""Figures: what they show as data, and the one painter that draws them."""
