"""The sweeps: many runs that one file plans.

They are learned one after another or in parallel, and measured at each size.
"""
