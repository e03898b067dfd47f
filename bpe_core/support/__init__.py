"""The package of tools for all parts of the engine: files, locks, limits, threads, progress, tables."""
