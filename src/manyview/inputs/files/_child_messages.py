"""What the readers of the child process share: tables to send, and refusals."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

SentTable = tuple[dict[str, Any], dict[str, Any]]  # what is known of a table, and its arrays


class RefusedError(Exception):
    """The file has not what was asked for; `known` is what it has."""

    def __init__(self, text: str, known: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.known = [str(name)[:200] for name in known[:11]]


def encoded(values: Sequence[Any]) -> Any:
    """Names, which may have any length, as an array of bytes."""
    return np.frombuffer(json.dumps(values).encode(), np.uint8)
