"""Plain Python for what no method owns: floors, mixtures, shares. A method has its own `reference.py` in its house."""
