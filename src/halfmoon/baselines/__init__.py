"""Baselines: what the papers compare with, under the names that they give it."""

from halfmoon.baselines.tsvm import TSVMClassifier

__all__ = ["TSVMClassifier"]
