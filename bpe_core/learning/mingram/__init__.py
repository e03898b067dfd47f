"""MinGram: begins with a tenth more of byte-pair encoding's tokens than asked for, drops those that are used least."""
