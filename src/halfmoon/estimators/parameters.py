"""What the estimators' parameters mean: said once, shown with each of them."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from typing import Any, TypeVar

__all__ = ["documented"]

Class = TypeVar("Class", bound=type)

PARAMETERS = {
    "kernel": """
        Kernel, str or callable. An object of `halfmoon.kernels`, its name, a function
        of two tables that returns the whole matrix, or "precomputed": X is then the
        kernel matrix. By name its length scale is the median distance between rows,
        and beside an energy by gradients ``"local"``, which sees gaps: three
        times the distance to the third nearest row, at most the median distance.
        Of several, a list of kernels, ``Gaussian([0.5, 1.0])`` or ``Gaussian("auto")``,
        the one with the least leave-one-out error is used: ``kernels_`` has it, and
        ``kernel_errors_`` the error of each.""",
    "outer kernel": """
        Kernel, str or callable. The outer kernel k, whose weights average over all
        rows; it need not be positive definite. By name its length scale is a
        third of the distance to the tenth nearest row. "auto" is Gaussian; where the
        inner kernel is "auto" too and the basis exact, half of this distance, with half
        of the median distance inside, is tried as well, and taken where its
        leave-one-out error is a tenth lower.""",
    "inner_kernel": """
        Kernel, str or callable. The kernel that is averaged. By name its length scale
        is the median distance between rows; "auto" is Gaussian.""",
    "normalize": """
        bool. Let the weights of the average sum to 1 for each row.""",
    "smoother": """
        Smoother or None. Averages in place of the outer kernel's: `Neighbors` or
        `Diffusion` of `halfmoon.smoothers`. None is ``KernelWeights(kernel,
        normalize)``.""",
    "n_components": """
        int or None. Number of landmarks or random features. None takes all rows while
        they fit `memory_limit`, and as many landmarks as fit beyond it; of Dask rows
        beside an energy, 1,000 landmarks.""",
    "landmarks": """
        {"rpcholesky", "uniform", "kmeans++", "leverage"} or array. How landmarks are
        chosen, or the numbers of the rows, or the landmarks themselves.""",
    "basis": """
        {"auto", "exact", "nystrom", "random_features", "derivatives"} or Basis. The
        functions that a fit is made of; "derivatives" is exact with an energy by
        gradients, for small tables. A basis of `halfmoon.bases` is used as it is, and
        composes any lever with any other.""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty beside the
        **averaged** loss: `KernelRidge(alpha=a)` of scikit-learn is ``alpha=a /
        n_labeled``. Of a sequence the best is taken by exact leave-one-out. "auto" is
        1e-8 to 10 times the mean prior variance of the labeled rows, so that units do
        not matter; where a class has a single label, which leave-one-out cannot
        predict, the best of them is taken by restricted likelihood.""",
    "mu": """
        float, sequence of float or None. Weight of the norm beside the energy; None is
        1 / n. A sequence is searched as alpha is.""",
    "energy": """
        {"gradient", "graph"}, sparse matrix or None. What is to be small over all rows:
        squared gradients, or differences along the edges of a neighbor graph, or of a
        graph given by its Laplacian. None leaves the norm alone.""",
    "filter": """
        Filter, str or None. A spectral filter of `halfmoon.filters` in place of ridge.
        By name ("tikhonov", "cutoff", "iterated_tikhonov", "landweber",
        "gradient_flow", "heat") its strength is alpha, searched by folds.""",
    "covariance": """
        {"labeled", "all"}. The rows over which the covariance of the fit is taken: the
        labeled ones, as in ridge, or all, as in the filter form of the paper.""",
    "unpenalized": """
        None, str, int, sequence, callable or object. Features that are used freely:
        "constant", "linear", a degree, columns, a transformer, a function of the rows,
        a fitted network or an object of `halfmoon.unpenalized`. Among several objects,
        or several k, the best is chosen by folds in which the features are fitted
        anew. "auto" is the constant; beside an energy by gradients, and by ridge, it is
        none where this makes the leave-one-out error a tenth lower, as it does where
        labels are few.""",
    "loss": """
        str or Loss. Of numbers "squared", "huber" or "quantile", of classes "squared",
        "hinge" or "logistic", or an object of `halfmoon.losses` such as
        ``Quantile(0.9)``. With any but "squared" alpha is chosen by leave-one-out after
        one Newton step, and a fit takes O(l^3) time and O(l^2) memory for l labels.""",
    "memory_limit": """
        int or str. What a fit may hold beside the table, such as "512MB".""",
    "random_state": """
        None, int, RandomState or Generator. For what is drawn: landmarks, random
        features, samples of rows.""",
    "n_jobs": """
        int or None. Number of threads; None is all cores.""",
    "verbose": """
        int. 1 shows one line of progress and the outcome; 2 writes each step to the log
        "halfmoon".""",
    "unlabeled": """
        object. A value of y that means "no label" besides missing ones, such as -1.""",
    "budget": """
        float. Seconds that the search may take; what was found by then is used.""",
    "safe": """
        bool. Use the unlabeled rows only where they clearly help; else the supervised
        twin answers.""",
}

ATTRIBUTES = {
    "n_labeled_": "int. Number of labeled rows: those with at least one output.",
    "alpha_": """
        float. The penalty weight that was used; where outputs have gaps, an array of
        shape (t,), as each group of outputs with the same labeled rows has its own.
        `mu_`, `alphas_` and `loo_errors_` then have a column for each output too.""",
    "coef_": "ndarray of shape (k,) or (k, t). Weights of the unpenalized features.",
    "dual_coef_": """
        ndarray of shape (n_labeled,) or (n_labeled, t). Weights of labeled rows.""",
    "loo_score_": """
        float. Of left-out rows: R^2 of a regressor, accuracy of a classifier.""",
    "alphas_": "ndarray. The alphas that were compared, as numbers.",
    "loo_errors_": """
        ndarray or None. Mean loss of left-out rows of each alpha, squared residuals
        unless `loss` says otherwise; None where there was one, or where likelihood
        chose.""",
    "fold_errors_": """
        ndarray or None. Mean loss on folds of each choice of unpenalized
        features and each alpha, where there were several choices.""",
    "solution_": "Fit. The fitted function.",
}

SEARCH_ATTRIBUTES = {
    "n_labeled_": ATTRIBUTES["n_labeled_"],
    "comparison_": """
        Comparison, a dict. Each candidate beside the supervised twin, in columns of
        equal length.""",
    "used_unlabeled_": "bool. Unlabeled rows have a part in the answer.",
    "twin_": "estimator. The supervised twin, fitted.",
    "coef_": """
        ndarray of shape (k,) or (k, t). Weights of the unpenalized features, where
        `unpenalized` gives some.""",
    "loo_score_": """
        float. R^2 or accuracy of left-out rows, by weights of the candidates that were
        chosen without the labels of these rows.""",
    "solution_": "Average. The fitted function.",
}


#: Of regressors.
NOISE_VARIANCE = """
    float or ndarray of shape (t,). Estimate of the variance of the noise in the labels:
    the mean square of left-out residuals less the mean variance of the function."""


def documented(
    cls: Class,
    parameters: dict[str, str] | None = None,
    attributes: dict[str, str] | None = None,
) -> Class:
    """Write the parameters and attributes into a class's docstring.

    Parameters
    ----------
    cls : type
    parameters : dict or None
        What the parameters mean that are the class's own.
    attributes : dict or None
        The attributes; None is those of a lever, or of the search over all levers.
    """
    head, examples = cls.__doc__.split("Examples\n", 1)  # type: ignore[union-attr]
    names = [field.name for field in fields(cls)]
    known = PARAMETERS | (parameters or {})
    meanings = {name: known[name] for name in names}
    if "inner_kernel" in names:
        meanings["kernel"] = PARAMETERS["outer kernel"]
    if attributes is None:
        attributes = dict(SEARCH_ATTRIBUTES if "budget" in names else ATTRIBUTES)
    if hasattr(cls, "noise_variance_"):
        attributes["noise_variance_"] = NOISE_VARIANCE
    sections = [
        _section("Parameters", meanings),
        _section("Attributes", attributes),
    ]
    body = textwrap.indent("\n".join(sections), "    ")
    cls.__doc__ = f"{head.rstrip()}\n\n{body}\n    Examples\n{examples}"
    return cls


def _section(title: str, entries: dict[str, Any]) -> str:
    lines = [title, "-" * len(title)]
    for name, text in entries.items():
        kind, _, meaning = " ".join(text.split()).partition(". ")
        lines.append(f"{name} : {kind}")
        lines += textwrap.wrap(meaning or kind, 76, initial_indent="    ",
                               subsequent_indent="    ")  # fmt: skip
    return "\n".join(lines) + "\n"
