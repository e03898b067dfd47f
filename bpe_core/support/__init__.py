"""The package of tools that every part of the engine may use: files, locks, limits, threads, progress, tables."""
