"""The specifications of floors, mixtures and shares in plain Python. Each method has its own `reference.py`."""
