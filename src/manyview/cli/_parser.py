"""The argument parser of all commands: errors take one line, and suggest what was meant."""

import argparse
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        # Without abbreviations: a script that uses one would stop working, or mean something else,
        # once there is another option that begins in the same way.
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"manyview: error: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ever, but each command refuses what it does not know, and names its own help."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from manyview.runtime import did_you_mean  # imports numpy, which --help need not

            flag = next((word for word in unknown if word.startswith("-")), "").partition("=")[0]
            hint = did_you_mean(flag, self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Commands, and options with a list of values."""
        if action.choices is not None and value not in action.choices:
            from manyview.runtime import did_you_mean

            known = list(action.choices)
            raise argparse.ArgumentError(
                action,
                f"invalid choice: {value!r}; expected one of {', '.join(known)}"
                + did_you_mean(value, known),
            )
