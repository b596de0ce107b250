"""Labels: the target column, read and checked before learning."""
