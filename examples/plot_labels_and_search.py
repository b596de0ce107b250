"""
Strings, None, and a grid search
================================

Labels may be text, with None for unlabeled rows. halfmoon's estimators work in
scikit-learn's tools: here a pipeline, and a grid search over parameters that
leave-one-out does not choose, with folds that split the labels only.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from halfmoon import FredholmClassifier
from halfmoon.model_selection import LabeledKFold, labeled_accuracy
from halfmoon.smoothers import Diffusion

# %%
# Digits by name, with six labels each.

X, digit = load_digits(return_X_y=True)
words = ["zero", "one", "two", "three", "four"]
words += ["five", "six", "seven", "eight", "nine"]
truth = np.array(words, dtype=object)[digit]
rng = np.random.default_rng(0)
y = np.full(len(X), None, dtype=object)
for each in words:
    shown = rng.choice(np.flatnonzero(truth == each), 6, replace=False)
    y[shown] = each
print(f"{len(X)} rows, {sum(label is not None for label in y)} labels")

# %%
# `LabeledKFold` keeps every unlabeled row in every fit and tests labeled rows only.
# scikit-learn's own folds would ask for the score of unlabeled rows.

model = make_pipeline(
    PCA(30, random_state=0), FredholmClassifier(smoother=Diffusion(), n_components=200)
)
search = GridSearchCV(
    model,
    {
        "fredholmclassifier__smoother__n_neighbors": [4, 8],
        "fredholmclassifier__smoother__restart": [0.3, 0.03],
        "fredholmclassifier__random_state": [0],
    },
    cv=LabeledKFold(3, random_state=0),
    scoring=labeled_accuracy,
).fit(X, y)
smoother = search.best_estimator_[-1].smoother
print(f"best: {smoother!r}, {search.best_score_:.1%} right in folds")

# %%
# Each fold fits with two thirds of the labels, the final model with all of them.

hidden = np.array([label is None for label in y])
predicted = search.predict(X[hidden])
right = np.mean(predicted == truth[hidden])
print(f"{right:.1%} of {hidden.sum()} unlabeled rows right")
for row in np.flatnonzero(hidden)[:3]:
    p = search.predict_proba(X[row : row + 1])[0]
    print(f"row {row}: {search.classes_[p.argmax()]} ({p.max():.0%}), is {truth[row]}")
