"""The few-label league: errors compared with other models, at 20 to 100 labels."""
