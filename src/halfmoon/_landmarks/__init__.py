"""Landmarks: p of the n rows, on which a basis is built. Labels are not used."""
