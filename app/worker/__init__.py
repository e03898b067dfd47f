"""The threads and jobs of slow work. The window need not wait for a job: the results arrive as messages."""
