"""Docstrings of the estimators' parameters and attributes, written once for all."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from inspect import cleandoc
from typing import Any, TypeVar

__all__ = ["with_parameter_docs"]

Class = TypeVar("Class", bound=type)

PARAMETERS = {
    "kernel": """
        Kernel, str or callable. An object of `halfmoon.kernels`, its name, a function
        of two tables that returns the kernel matrix, or "precomputed" if X is the
        kernel matrix. A kernel given by name has the median distance between rows as
        its length scale; with an energy by gradients it has ``"local"``: three times
        the distance to the third nearest row, at most the median distance. Of several
        kernels (a list, ``Gaussian([0.5, 1.0])`` or ``Gaussian("auto")``), the one with
        the least leave-one-out error is used: see ``kernels_`` and
        ``kernel_errors_``.""",
    "outer kernel": """
        Kernel, str or callable. The outer kernel k, whose weights average over all
        rows; it need not be positive definite. A kernel given by name has a third of
        the distance to the tenth nearest row as its length scale. "auto" is Gaussian.
        If the inner kernel is "auto" too and the basis exact, half of this distance,
        with half of the median distance for the inner kernel, is tried as well. It is
        used if its leave-one-out error is at least a tenth lower.""",
    "inner_kernel": """
        Kernel, str or callable. The kernel that is averaged. A kernel given by name has
        the median distance between rows as its length scale; "auto" is Gaussian.""",
    "normalize": """
        bool. Whether the weights of the average sum to 1 for each row.""",
    "smoother": """
        Smoother or None. Averages by a smoother in place of the outer kernel:
        `Neighbors` or `Diffusion` of `halfmoon.smoothers`. None is
        ``KernelWeights(kernel, normalize)``.""",
    "n_components": """
        int or None. Number of landmarks or random features. None uses all rows if they
        fit in `memory_limit`, and else as many landmarks as fit; for Dask rows with an
        energy, 1,000 landmarks.""",
    "landmarks": """
        {"rpcholesky", "uniform", "kmeans++", "leverage"} or array. How landmarks are
        chosen, or their row numbers, or the landmarks themselves.""",
    "basis": """
        {"auto", "exact", "nystrom", "random_features", "derivatives"} or Basis. The
        functions that the fit is a combination of; "derivatives" is exact with an
        energy by gradients, for small tables. A basis of `halfmoon.bases` is used
        unchanged, so that any two levers can be combined.""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty relative to the
        **averaged** loss: `KernelRidge(alpha=a)` of scikit-learn is ``alpha=a /
        n_labeled``. Of several, exact leave-one-out chooses. "auto" is 1e-8 to 10 times
        the mean prior variance of the labeled rows, so that units do not matter. If a
        class has a single label, which leave-one-out cannot predict, "auto" is chosen
        by restricted likelihood.""",
    "mu": """
        float, sequence of float or None. Weight of the norm relative to the energy;
        None is 1 / n. A sequence is searched like alpha.""",
    "energy": """
        {"gradient", "graph"}, sparse matrix or None. What the penalty keeps small over
        all rows: squared gradients, differences along the edges of a neighbor graph, or
        of a graph given by its Laplacian. None penalizes the norm only.""",
    "filter": """
        Filter, str or None. A spectral filter of `halfmoon.filters` in place of ridge.
        Given by name ("tikhonov", "cutoff", "iterated_tikhonov", "landweber",
        "gradient_flow", "heat"), its strength is alpha, searched by folds.""",
    "covariance": """
        {"labeled", "all"}. The rows whose covariance the fit uses: the labeled ones, as
        in ridge, or all, as in the filter form of the paper.""",
    "unpenalized": """
        None, str, int, sequence, callable or object. Features without a penalty:
        "constant", "linear", a degree, columns, a transformer, a function of the rows,
        a fitted network or an object of `halfmoon.unpenalized`. Several objects, or
        several k, are compared by folds in which the features are refitted. "auto" is
        the constant; with an energy by gradients and a fit by ridge it is no feature
        where this makes the leave-one-out error a tenth lower, as with few labels.""",
    "loss": """
        str or Loss. For numbers "squared", "huber" or "quantile", for classes
        "squared", "hinge" or "logistic", or an object of `halfmoon.losses` such as
        ``Quantile(0.9)``. With a loss other than "squared", leave-one-out is an
        approximation, and a fit takes O(l^3) time and O(l^2) memory for l labels.""",
    "memory_limit": """
        int or str. Memory that a fit may use in addition to the table, such as
        "512MB".""",
    "random_state": """
        None, int, RandomState or Generator. Seed for landmarks, random features and
        samples of rows.""",
    "n_jobs": """
        int or None. Number of threads; None is all cores.""",
    "verbose": """
        int. 1 shows one line of progress and the outcome; 2 also writes each step to
        the log "halfmoon".""",
    "unlabeled": """
        object. A value of y that marks unlabeled rows, in addition to missing values;
        for example -1.""",
    "budget": """
        float. Seconds that the search may take. It then uses the best found so far.""",
    "safe": """
        bool. Use unlabeled rows only where they clearly help, and else the supervised
        twin.""",
}

ATTRIBUTES = {
    "n_features_in_": "int. Number of columns of X.",
    "n_labeled_": "int. Number of rows with at least one label.",
    "alpha_": """
        float. The alpha that was used. Where rows lack some outputs, an array of shape
        (t,): outputs with the same labeled rows share an alpha. `mu_`, `alphas_` and
        `loo_errors_` then have a column for each output too.""",
    "coef_": "ndarray of shape (k,) or (k, t). Weights of the unpenalized features.",
    "dual_coef_": """
        ndarray of shape (n_labeled,) or (n_labeled, t). Weights of labeled rows.""",
    "loo_score_": """
        float. Leave-one-out score: R^2 of a regressor, accuracy of a classifier.""",
    "alphas_": "ndarray. The alphas that were compared, as numbers.",
    "loo_errors_": """
        ndarray or None. Mean leave-one-out loss of each alpha, by default the squared
        residual; None if there was one alpha, or if likelihood chose.""",
    "fold_errors_": """
        ndarray or None. Mean loss on folds for each choice of unpenalized features and
        each alpha; None if there was one choice.""",
    "solution_": "Fit. The fitted function.",
}

SEARCH_ATTRIBUTES = {
    "n_features_in_": ATTRIBUTES["n_features_in_"],
    "n_labeled_": ATTRIBUTES["n_labeled_"],
    "comparison_": """
        Comparison, a dict. A table (``pandas.DataFrame(model.comparison_)``) with a row
        for the supervised twin, for the average of all, and for each candidate. Its
        columns are ``loo_error`` (leave-one-out mean squared error or log loss), the
        ``difference`` from the twin with its 95 % interval (``low``, ``high``), whether
        unlabeled rows were used (``unlabeled``), the number of labels compared
        (``labels``), and the ``weight`` in the prediction. With more than 300 labels,
        local fits have rows of their own. With more than 500, candidates are compared
        on 500 of them, and the members of the refitted average have rows as well.""",
    "used_unlabeled_": "bool. Whether unlabeled rows contribute to the prediction.",
    "twin_": "estimator. The supervised twin, fitted.",
    "coef_": """
        ndarray of shape (k,) or (k, t). Weights of the unpenalized features, if
        `unpenalized` gives some.""",
    "loo_score_": """
        float. Leave-one-out R^2 or accuracy. The weights of the candidates are chosen
        without the label of the row.""",
    "solution_": "Average. The fitted function.",
}

#: Of classifiers.
CLASS_ATTRIBUTES = {
    "classes_": "ndarray. The classes, sorted; `predict_proba` has a column for each.",
    "temperature_": """
        float. Scores are multiplied by it before they become probabilities; fitted to
        leave-one-out scores.""",
}

NOISE_VARIANCE = """
    float or ndarray of shape (t,). Estimated variance of the noise in the labels: the
    mean square of leave-one-out residuals minus the mean variance of the function."""


def with_parameter_docs(
    cls: Class,
    parameters: dict[str, str] | None = None,
    attributes: dict[str, str] | None = None,
) -> Class:
    """Write the parameters and attributes into a class's docstring.

    `parameters` are those that only this class has. If `attributes` is None, they are
    `ATTRIBUTES` or `SEARCH_ATTRIBUTES`.
    """
    # Python before 3.13 keeps the indentation of a docstring.
    head, mark, examples = cleandoc(cls.__doc__ or "").partition("Examples\n")
    if not mark:  # ``python -OO`` drops docstrings
        return cls
    names = [field.name for field in fields(cls)]
    known = PARAMETERS | (parameters or {})
    meanings = {name: known[name] for name in names}
    if "inner_kernel" in names:
        meanings["kernel"] = PARAMETERS["outer kernel"]
    if attributes is None:
        attributes = dict(SEARCH_ATTRIBUTES if "budget" in names else ATTRIBUTES)
    if hasattr(cls, "predict_proba"):
        attributes |= CLASS_ATTRIBUTES
    if hasattr(cls, "noise_variance_"):
        attributes["noise_variance_"] = NOISE_VARIANCE
    sections = _section("Parameters", meanings), _section("Attributes", attributes)
    cls.__doc__ = "\n".join([f"{head.rstrip()}\n", *sections, mark + examples])
    return cls


def _section(title: str, entries: dict[str, Any]) -> str:
    lines = [title, "-" * len(title)]
    for name, text in entries.items():
        kind, _, meaning = " ".join(text.split()).partition(". ")
        lines.append(f"{name} : {kind}")
        lines += textwrap.indent(textwrap.fill(meaning or kind, 72), "    ").split("\n")
    return "\n".join(lines) + "\n"
