"""The parts of the window that write files for other people: reports, web pages and films."""
