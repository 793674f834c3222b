"""Checks of parameters name the value and what was expected."""

import numpy as np
import pytest

from manyview.runtime import check_choice, check_integer, check_real, require_extra


def test_integers():
    assert check_integer("k", np.int8(3), 1, 3) == 3
    for value in (0, 4, 1.0, True, "2", None):
        message = rf"k={value!r}; expected an integer of at least 1 and at most 3$"
        with pytest.raises(ValueError, match=message):
            check_integer("k", value, 1, 3)
    with pytest.raises(ValueError, match=r"k=0; expected an integer of at least 1$"):
        check_integer("k", 0, 1)


def test_numbers():
    assert check_real("x", np.float32(0.5), 0) == 0.5
    assert check_real("x", 0, 0) == 0.0
    for value in (-1, np.nan, np.inf, 10**400, True, "1", None):
        with pytest.raises(ValueError, match=r"x=.*; expected a finite number of at least 0$"):
            check_real("x", value, 0)
    with pytest.raises(ValueError, match=r"x=0; expected a finite number above 0$"):
        check_real("x", 0, 0, above=True)


def test_choices():
    check_choice("how", "a", ("a", None))
    check_choice("how", None, ("a", None))
    for value in ("b", 1, ["a"], np.array(["a"])):
        with pytest.raises(ValueError, match=r"how=.*; expected one of 'a', None$"):
            check_choice("how", value, ("a", None))


def test_a_missing_library_names_the_extra():
    message = (
        r"a plot needs no_such_library, which is not installed; expected: pip install 'manyview\[x"
    )
    with pytest.raises(ImportError, match=message), require_extra("a plot", "x"):
        import no_such_library  # noqa: F401
