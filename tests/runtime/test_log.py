"""The parameter `verbose`."""

import logging

import pytest

from manyview.runtime import logger, verbosity


@pytest.fixture
def unconfigured(monkeypatch):
    """As in a program without logging set up."""
    monkeypatch.setattr(logger, "hasHandlers", lambda: False)


@pytest.mark.parametrize(
    ("verbose", "shown"), [(0, []), (False, []), (1, ["info"]), (2, ["info", "debug"])]
)
def test_verbose_shows_progress_on_stderr(verbose, shown, unconfigured, capsys):
    level = logger.level
    with verbosity(verbose):
        logger.info("info")
        logger.debug("debug")
    assert capsys.readouterr().err.splitlines() == [f"[manyview] {text}" for text in shown]
    assert logger.handlers == []
    assert logger.level == level


def test_configured_logging_is_used(caplog, capsys):
    with verbosity(1), caplog.at_level(logging.INFO):
        logger.info("info")
    assert caplog.messages == ["info"]
    assert "info" not in capsys.readouterr().err


def test_verbose_is_a_number():
    with pytest.raises(ValueError, match="verbose='yes'; expected an integer"), verbosity("yes"):
        pass
