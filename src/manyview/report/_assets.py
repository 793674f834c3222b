"""What goes into a page as it is: styles, scripts, data, and the policy that allows no others."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# Within a JSON text these stand in strings only, where the escape means the same: what a name
# holds can neither end the block nor start another.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def environment() -> Environment:
    """Where the templates are found; every text that they show is escaped."""
    return Environment(
        loader=PackageLoader("manyview", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def own_file(name: str) -> Markup:
    """A style sheet or script of this package."""
    return Markup(files("manyview.report").joinpath(name).read_text(encoding="utf-8"))


def as_json(data: Any) -> Markup:
    """`data` for a ``<script type="application/json">``; everything but ASCII is escaped."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))


def content_policy(script: str) -> str:
    """Nothing from the network, and no other script than this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
