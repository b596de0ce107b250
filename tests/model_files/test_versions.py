"""One version warning, only for packages whose objects are in the file."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import halfmoon
from halfmoon._model_files import ModelVersionWarning


@pytest.fixture
def other_versions(tmp_path, saved, forge):
    def rewrite(model, **versions):
        halfmoon.save(model, tmp_path / "file")
        document, arrays = saved(tmp_path / "file")
        versions = {name.replace("_", "-"): v for name, v in versions.items()}
        document["versions"] |= versions
        return forge(tmp_path / "file", document, arrays)

    return rewrite


def test_versions_are_named(other_versions):
    model = StandardScaler().fit(np.eye(3))
    path = other_versions(model, scikit_learn="1.0", halfmoon="0.0.1")
    with pytest.warns(ModelVersionWarning) as caught:
        halfmoon.load(path)
    (warning,) = caught
    message = str(warning.message)
    assert (
        "was written with halfmoon 0.0.1, scikit-learn 1.0; installed here: " in message
    )
    assert "scipy" not in message
    assert "numpy" not in message
    assert warning.filename == __file__


def test_versions_of_unused_packages_do_not_matter(other_versions):
    path = other_versions(
        {"a": np.eye(2)}, scikit_learn="1.0", numpy="1.0", scipy="1.0"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        halfmoon.load(path)


def test_versions_of_the_writer_are_in_the_file(tmp_path, saved):
    halfmoon.save(1, tmp_path / "file")
    versions = saved(tmp_path / "file")[0]["versions"]
    assert versions["halfmoon"] == halfmoon.__version__
    assert versions["numpy"] == np.__version__
    assert set(versions) == {"halfmoon", "numpy", "scipy", "scikit-learn"}
