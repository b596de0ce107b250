"""Model selection and averaging behind `HalfmoonClassifier` and `HalfmoonRegressor`.

Candidates (`families.py`), each a problem of `halfmoon.problem`, are fitted on shared
data (`search_data.py`), judged by a criterion (`criteria.py`), averaged
(`average_weights.py`), compared with the supervised twin (`comparison.py`), and
refitted to all labels (`refit.py`).
"""
