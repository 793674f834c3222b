"""Settings of the documentation site; `make docs` builds it into build/docs, without network."""

import os
import re
from typing import Any

import manyview

os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "manyview"
author = "The manyview developers"
copyright = "The manyview developers"  # noqa: A001 (Sphinx wants this name)
version = release = manyview.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
nitpicky = True
# Links to scikit-learn's pages would need their inventory, from the network.
nitpick_ignore_regex = [("py:.*", r"sklearn\..*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "literal"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
templates_path = ["templates"]
autosummary_generate = True
numpydoc_show_class_members = False

GALLERY = ("first", "results", "methods", "tools")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "generated/examples",
    "doc_module": ("manyview",),
    "filename_pattern": r"/plot_",
    "subsection_order": ["../examples/" + folder for folder in GALLERY],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "capture_repr": (),
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}

REPOSITORY = "https://github.com/manyview/manyview"
html_theme = "pydata_sphinx_theme"
html_title = "manyview"
html_static_path = ["static"]
html_extra_path = ["llms.txt"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": REPOSITORY,
    "logo": {"text": "manyview"},
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}

# The pages are read on GitHub too, where files outside docs/ are linked by their path and a link
# without a text would be none.
EXAMPLE = re.compile(r"\]\(\.\./examples/([\w/]+)\.py\)")
OUTSIDE = re.compile(r"\]\(\.\./([^)]+)\)")
NAMED_BY_FILE = re.compile(r"\[[\w-]+\.md\]\(([\w-]+\.md(?:#[\w-]+)?)\)")


def _as_pages(app: Any, name: str, source: list[str]) -> None:
    """Link to examples in the gallery and to other files on GitHub; name pages by their titles."""
    text = EXAMPLE.sub(r"](gallery/\1.rst)", source[0])
    text = OUTSIDE.sub(rf"]({REPOSITORY}/blob/main/\1)", text)
    source[0] = NAMED_BY_FILE.sub(r"[](\1)", text)


def _is_routing(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn adds to every estimator for meta-estimators."""
    return skip or str(getattr(thing, "__module__", "")).startswith("sklearn.utils.")


def setup(app: Any) -> None:
    app.connect("source-read", _as_pages)
    app.connect("autodoc-skip-member", _is_routing)
