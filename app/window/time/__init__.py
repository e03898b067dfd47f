"""The one moment that everything shows: its bar, its player, and ways to travel."""
