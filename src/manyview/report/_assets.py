"""Templates, styles, scripts and data of pages, and their content security policy."""

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError as error:
    raise ImportError("reports need jinja2: pip install 'manyview[report]'") from error

# In JSON these occur in strings only, so that escaping them does not change the data. No name can
# then end the script block or begin another.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def environment() -> Environment:
    """The Jinja environment of all templates; texts are escaped."""
    return Environment(
        loader=PackageLoader("manyview", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def package_file(path: str) -> Markup:
    """A style sheet or script of this package, to be inserted without escaping."""
    return Markup(files("manyview").joinpath(path).read_text(encoding="utf-8"))


def as_json(data: Any) -> Markup:
    """`data` for a ``<script type="application/json">``, in ASCII."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))


def content_policy(script: str) -> str:
    """A content security policy that allows this script only, and no network."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
