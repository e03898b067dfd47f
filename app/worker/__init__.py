"""Threads and jobs: what would make the window wait happens here, and comes back as messages."""
