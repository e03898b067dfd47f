"""The threads and jobs of slow work. The window need not wait for a job, and its results arrive as messages."""
