"""Threads and jobs: slow work is done here, so that the window need not wait, and answers come as messages."""
