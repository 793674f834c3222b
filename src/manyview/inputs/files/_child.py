"""Starts the child process of `_sandbox`: `_child.py REQUEST`, a request as JSON.

The modules of this folder are imported without running the `__init__` of their packages, which
would take several times as long as all else that a small file needs.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    _folder = Path(__file__).resolve().parent
    for _name, _place in (
        ("manyview", _folder.parents[1]),
        ("manyview.inputs", _folder.parent),
        ("manyview.inputs.files", _folder),
    ):
        sys.modules[_name] = ModuleType(_name)
        sys.modules[_name].__path__ = [str(_place)]
    sys.exit(import_module("manyview.inputs.files._sandbox_child").main(json.loads(sys.argv[1])))
