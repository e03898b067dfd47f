"""The references in plain Python for floors, mixtures and shares. Each method has its own `reference.py`."""
