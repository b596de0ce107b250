"""
What more labels would gain
===========================

Sixty digits are labeled. Is it worth labeling fifty more, or two hundred? We measure
the error with a quarter, a half and three quarters of the labels, and extrapolate the
curve through these points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from halfmoon import ConditionalClassifier
from halfmoon.plotting import LearningCurveDisplay
from halfmoon.queries import forecast_learning_curve

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))


def with_labels(n):
    known = np.full(len(y), np.nan)
    known[order[:n]] = y[order[:n]]
    return known


model = ConditionalClassifier().fit(X, with_labels(60))
found = forecast_learning_curve(model, X, with_labels(60), [50, 100, 200])
print(found)

# %%
# Here all labels are known, so we can look ahead: crosses are the errors of fits to
# more labels, on rows that none of them has seen.

display = LearningCurveDisplay.from_forecast(found)
test = order[400:]
for n in (60, 110, 160, 260):
    fitted = ConditionalClassifier().fit(X, with_labels(n))
    error = 100 * (fitted.predict(X[test]) != y[test]).mean()
    display.ax_.plot(n, error, "x", color="C3", markersize=9, markeredgewidth=2)
plt.show()

# %%
# The band is wide: sixty labels determine the error only roughly. The gain is known
# better, because both errors are uncertain in the same way.

for n, gain, low, high in zip(
    found.n_labels, found.gain, found.gain_low, found.gain_high, strict=True
):
    about, ends = f"{100 * gain:.0f}", f"{100 * low:.0f} to {100 * high:.0f}"
    print(f"{n} more labels: accuracy {about} points higher ({ends})")
