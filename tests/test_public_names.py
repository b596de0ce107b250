"""What users may import, imported when it is asked for; all else has an underscore."""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import halfmoon

PUBLIC = {
    "halfmoon.baselines": "HarmonicClassifier HarmonicRegressor "
    "LabelSpreadingClassifier LapRLSClassifier LapRLSRegressor "
    "PrincipalComponentRegressor RLSClassifier TSVMClassifier",
    "halfmoon.bases": "Basis Exact FredholmKernel Nystrom RandomFeatures RandomUnits "
    "Smoothed WithDerivatives",
    "halfmoon.blocks": "Stream",
    "halfmoon.datasets": "concentric_circles noisy_circles noisy_line reveal "
    "two_gaussians",
    "halfmoon.filters": "Cutoff GradientFlow Heat IteratedTikhonov Landweber Tikhonov",
    "halfmoon.kernels": "Gaussian Kernel Laplace Linear Logarithmic Matern "
    "Multiquadric NNGP NTK PeriodicSobolev Polyharmonic Polynomial ProductLaplace "
    "RationalQuadratic ThinPlate conditional_degree_of least_eigenvalue",
    "halfmoon.losses": "Huber Quantile Softmax",
    "halfmoon.model_selection": "LabeledKFold labeled_accuracy "
    "labeled_balanced_accuracy labeled_log_loss labeled_mean_squared_error labeled_r2 "
    "labeled_scorer",
    "halfmoon.plotting": "BoundaryDisplay ComparisonDisplay EigenfunctionDisplay "
    "HardThresholdDisplay LearningCurveDisplay LeaveOneOutDisplay",
    "halfmoon.problem": "Fit Problem solve_filter solve_iteratively solve_locally "
    "solve_loss solve_ridge",
    "halfmoon.queries": "Forecast forecast_learning_curve informative margin maximin "
    "random suspicious_labels variance_reduction",
    "halfmoon.smoothers": "Diffusion KernelWeights Neighbors Smoother",
    "halfmoon.table": "Filled FilledFrame Settings TableError TableModel fill_folder "
    "fill_table fill_targets open_table predict_folder predict_table",
    "halfmoon.theory": "conditional_learner cost_of_conditioning eigenlearning "
    "fredholm_constant fredholm_inner_product fredholm_linear_noise fredholm_width "
    "gaussian_noise laplacian_schedule linear_noise outer_width residual_kernel "
    "should_condition should_condition_from_data soft_threshold_spectrum",
    "halfmoon.unpenalized": "Constant Eigenfunctions Features GaussianDraws "
    "HiddenLayer Polynomials Unpenalized",
    "halfmoon.weak": "CandidateSetClassifier IntervalRegressor StructuredPredictor",
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_modules_have_these_names(name):
    if name in {"halfmoon.table"}:
        pytest.importorskip("pyarrow")
    assert sorted(import_module(name).__all__) == sorted(PUBLIC[name].split())


def test_every_other_module_is_private():
    public = {
        module.name
        for module in pkgutil.walk_packages(halfmoon.__path__, "halfmoon.")
        if not re.search(r"[.]_", module.name)
    }
    assert public == set(PUBLIC)


def test_the_reference_lists_the_public_modules():
    page = Path(__file__).parents[1] / "docs/api.rst"
    if not page.exists():
        pytest.skip("the documentation is not part of this distribution")
    text = page.read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (halfmoon[.]\w+)$", text, re.M))
    top = set(halfmoon.__all__) - {"__version__", "Problem", "Fit"}
    assert listed == set(PUBLIC) | {f"halfmoon.{name}" for name in top}


@pytest.mark.parametrize("name", halfmoon.__all__)
def test_every_public_name_is_there(name):
    value = getattr(halfmoon, name)
    assert getattr(value, "__name__", name) == name
    assert name in dir(halfmoon)


def test_all_names_at_once():
    names = {}
    exec("from halfmoon import *", names)
    assert set(halfmoon.__all__) <= set(names)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Fullmoon'"):
        halfmoon.Fullmoon  # noqa: B018


def test_packages_are_imported_when_they_are_first_needed():
    code = """
import halfmoon, sys
print("sklearn" in sys.modules, halfmoon.kernels.Gaussian.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "Gaussian"]
