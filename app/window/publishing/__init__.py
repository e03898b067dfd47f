"""The parts of the window that make files for other people: reports, web pages and films."""
