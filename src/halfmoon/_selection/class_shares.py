r"""The cost of predictions whose class shares could not have given the labels.

Let s be the class shares of the predictions at all points, and n the class counts of
the l labels. Labels may be drawn at random. Or k labels of each class are given first,
because somebody wanted examples of each, and only the rest is drawn at random. So the
cost of s, in nats, is

.. math:: -\log \sum_k P(k) \, Mult(n - k; s) - \frac{1}{C} \sum_c \log s_c

minus its smallest value. Mult is the multinomial probability; k goes from 0 to the
smallest count. P(0) is 0.99, and the rest is divided equally among the other k, so that
nothing changes unless the counts are unlikely at random. With two labels of each of
seven classes and six more of the largest, k = 2 explains the counts by far better than
any shares do. Then only the six tell of the shares. The last term is a Dirichlet prior,
worth one label: no class of a table is empty.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from halfmoon._rows import Array, Indices

__all__ = ["share_costs"]

GIVEN_FIRST = 0.01  # probability that some labels of each class were given first


def share_costs(
    predicted: Indices,  # (e, C), counts of predicted classes
    labels: Indices,  # (C,), counts of labels
) -> Array:  # (e,)
    """Return the costs given above.

    Examples
    --------
    >>> predicted = np.array([[50, 50], [90, 10], [100, 0]])
    >>> share_costs(predicted, np.array([5, 5])).round(1)
    array([0. , 4.6, 6.8])
    >>> share_costs(predicted, np.array([9, 2])).round(1)
    array([2.1, 0.6, 6.2])
    """
    C, K = len(labels), int(labels.min())
    drawn = labels - np.arange(K + 1.0)[:, None]  # (K + 1, C), at random, for each k
    log_prior = np.log(
        np.r_[1.0 - GIVEN_FIRST * (K > 0), np.full(K, GIVEN_FIRST / max(K, 1))]
    )
    log_count = gammaln(drawn.sum(axis=1) + 1) - gammaln(drawn + 1).sum(axis=1)

    def cost(shares: Array) -> Array:
        logs = np.log(shares)
        likelihood = logsumexp(log_prior + log_count + logs @ drawn.T, axis=1)
        return np.asarray(-likelihood - logs.sum(axis=1) / C)

    # The likeliest shares for each k; one of them nearly has the smallest cost.
    likeliest = (drawn + 1.0 / C) / (drawn.sum(axis=1, keepdims=True) + 1.0)
    # One more prediction, shared as the labels are, so that no share is 0.
    m = predicted.sum(axis=1, keepdims=True)
    shares = (predicted + likeliest[0]) / (m + 1.0)
    return cost(shares) - float(cost(likeliest).min())
