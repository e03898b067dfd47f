"""Many runs, planned in one file, learned one after another or in parallel, and measured at every size."""
