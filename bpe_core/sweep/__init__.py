"""Many runs, planned in one file, learned one after the other or side by side, and measured at every size."""
