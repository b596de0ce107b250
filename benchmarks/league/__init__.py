"""The few-label league: errors beside those of other models, at 20 to 100 labels."""
