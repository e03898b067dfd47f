"""The threads and jobs that do slow work. The window need not wait for a job: results arrive as messages."""
