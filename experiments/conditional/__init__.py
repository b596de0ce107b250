"""Takhanov, Assylbekov, "Conditional KRR", 2026."""
