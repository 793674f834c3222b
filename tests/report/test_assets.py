"""Data and policies of pages."""

import json

from manyview.report._assets import as_json
from tests.helpers.html import NASTY


def test_json_cannot_end_its_block():
    text = as_json({"a": f"{NASTY} & \u2028 \u2029 ü"})
    assert not set("<>&\u2028\u2029ü") & set(text)
    assert json.loads(text) == {"a": f"{NASTY} & \u2028 \u2029 ü"}
