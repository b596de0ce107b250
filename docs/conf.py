"""Configuration of the documentation. Building it needs no network."""

import sys
from pathlib import Path

import halfmoon

sys.path.insert(0, str(Path(__file__).resolve().parent))
from made_by_running import make

project = "halfmoon"
author = "halfmoon developers"
copyright = "halfmoon developers"
version = release = halfmoon.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "offline_math",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generated/*.txt", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
default_role = "literal"
nitpicky = False

# One page per public name: each module's page lists its __all__.
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False  # the template lists the members

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),  # what a script prints is shown, not what its last line is
    "write_computation_times": False,
    "abort_on_example_error": True,
}


def skip_routing(app, what, name, obj, skip, options):
    """Skip what scikit-learn adds to every class for metadata routing."""
    return skip or name == "get_metadata_routing" or name.endswith("_request")


def setup(app):
    """Register the hooks with Sphinx."""
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("builder-inited", make)


html_theme = "pydata_sphinx_theme"
html_title = f"halfmoon {release}"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
