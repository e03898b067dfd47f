"""The session as a file: saving, opening, leaving, and bringing back what was not saved."""
