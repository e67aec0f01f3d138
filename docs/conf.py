"""The site: `sphinx-build -W --keep-going docs site`. Nothing in it asks the network, neither while it is built nor when it is read."""

import sys
from pathlib import Path

import infoplane as ip

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "infoplane"
author = "The infoplane developers"
copyright = author
version = release = ip.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "commands",
    "docstrings",
    "forge",
    "offline_mathjax",
]
exclude_patterns = ["_extensions", "_templates", "reproduction/report.html", "backreferences"]
templates_path = ["_templates"]
smartquotes = False
default_role = "py:obj"

# Pages are Markdown as a forge shows it: headings have anchors, formulas stand between dollars.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "deflist", "html_image"]
myst_heading_anchors = 4

# The reference: a page per public name, with its members, from the docstrings.
autosummary_generate = True
# Names that differ in capitals only would share a file on some systems.
autosummary_filename_map = {
    f"infoplane.{name}": f"infoplane.{name}-function"
    for name in ip.__all__
    if name.islower() and name.capitalize() in ip.__all__
}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# The gallery: every script in examples/ is run.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("matplotlib", "written_pictures.scraper"),
    "reset_modules": ("matplotlib", "written_pictures.tidy"),
    "reset_modules_order": "both",
    "backreferences_dir": "backreferences",
    "doc_module": ("infoplane",),
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "plot_gallery": "True",
    "capture_repr": ("_repr_html_", "__repr__"),
    # What a constant is for stands under it as a text, and is no output.
    "ignore_repr_types": r"'str'|Figure",
    "matplotlib_animations": (True, "jshtml"),
}

html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "infoplane"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# A page opened from a disk may not read its neighbours, which is what search needs for excerpts.
html_show_search_summary = False
html_theme_options = {
    "logo": {"text": "infoplane"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
}
