"""Other tools for the same job, on the same rows, splits and labels."""
