"""Arguments as people type them: options with several values, and FILE anywhere.

``--exclude a b`` means ``--exclude a --exclude b``. Such an option takes all values up
to the next option, so ``--exclude a b penguins.csv`` would leave no FILE. If FILE is
missing, the last value of such an option that is a table becomes FILE.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import click

from halfmoon._cli.paths import STREAM, is_table_name

__all__ = ["Arguments", "Seconds", "Share", "Whole"]

NEGATIVE_NUMBER = re.compile(r"-[\d.]")
DURATION = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(s|sec|m|min|h|)\s*", re.IGNORECASE)
UNIT_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


class Arguments(click.Command):
    """A command that reads its arguments as people type them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat options before each value, find FILE, refuse ambiguous arguments."""
        multiple = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.multiple
            for name in parameter.opts
        }
        args = repeated(args, multiple)
        if not ctx.resilient_parsing and args:
            args = self._with_file(ctx, args, multiple)
        return super().parse_args(ctx, args)

    def _with_file(
        self, ctx: click.Context, args: list[str], multiple: Collection[str]
    ) -> list[str]:
        """Return the arguments with FILE at the end, if a value can be FILE."""
        plain, order = self._parsed(ctx, args)
        if any(parameter.is_eager for parameter in order):
            return args  # --help comes before any error
        places = [p for p in self.params if isinstance(p, click.Argument)]
        if len(plain) < len(places):
            files = [p for p in self.params if str(p.metavar).startswith("FILE")]
            at = file_among(args, multiple, [name for p in files for name in p.opts])
            if at is not None:
                args = [*args[: at - 1], *args[at + 1 :], args[at]]
                plain, order = self._parsed(ctx, args)
        self._refuse_repeated(ctx, order)
        if len(plain) > len(places):
            raise click.UsageError(self._too_many(plain, len(places), order), ctx)
        return args

    def _parsed(
        self, ctx: click.Context, args: Sequence[str]
    ) -> tuple[list[str], list[click.Parameter]]:
        """Return the values without an option, and the options in their order."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        bare = click.Command(self.name, params=[*options], add_help_option=False)
        _, plain, order = bare.make_parser(ctx).parse_args(args=list(args))
        return plain, order

    def _refuse_repeated(
        self, ctx: click.Context, order: Sequence[click.Parameter]
    ) -> None:
        """Refuse an option that takes one value but was given several times."""
        for parameter, times in Counter(order).items():
            single = isinstance(parameter, click.Option) and not parameter.is_flag
            if single and times > 1 and not getattr(parameter, "multiple", False):
                raise click.UsageError(
                    f"Option '{parameter.opts[-1]}' was given {times} times, but it "
                    f"takes one value. Give it once.",
                    ctx,
                )

    def _too_many(
        self, plain: Sequence[str], wanted: int, order: Sequence[click.Parameter]
    ) -> str:
        file, extra = plain[wanted - 1], plain[wanted]
        if is_table_name(extra):
            return (
                f"Got more than one table: {file!r} and {extra!r}. Give one table; put "
                f"a pattern such as 'part-*.parquet' in quotes."
            )
        targets = [p for p in self.params if "--target" in p.opts]
        if targets and targets[0] not in order:
            return (
                f"Got an extra argument {extra!r} after {file!r}. If it is the column "
                f"to fill, use --target {extra}."
            )
        return (
            f"Got an extra argument {extra!r} after {file!r}. Put a name with spaces "
            f"in quotes."
        )


class Seconds(click.ParamType):
    """A duration: a number of seconds, or a number followed by s, m or h."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the duration in seconds."""
        if isinstance(value, (int, float)):
            return float(value)
        match = DURATION.fullmatch(value)
        seconds = float(match[1]) * UNIT_SECONDS[match[2].lower()] if match else 0.0
        if seconds <= 0:
            self.fail(
                f"{value!r} is not a time. Give seconds, such as 90, or a number "
                f"with a unit: 90s, 2m, 1h.",
                param,
                ctx,
            )
        return seconds


class Share(click.ParamType):
    """A number between 0 and 1, or a percentage."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            self.fail(
                f"{value!r} is not a number between 0 and 1. Give 0.9 for 90 %.",
                param,
                ctx,
            )
        return share


class Whole(click.IntRange):
    """A whole number of at least 0, or in a range above."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number."""
        low, high = self.min or 0, self.max
        try:
            number = int(value)
        except ValueError:
            number = -1
        if number < low or (high is not None and number > high):
            ends = f"of at least {low}" if high is None else f"from {low} to {high}"
            self.fail(f"{value!r} is not a whole number {ends}.", param, ctx)
        return number


def repeated(args: Sequence[str], multiple: Collection[str]) -> list[str]:
    """Return the arguments with the option repeated before each of its values.

    Examples
    --------
    >>> repeated(["t.csv", "--known", "a", "b", "--seed", "1"], {"--known"})
    ['t.csv', '--known', 'a', '--known', 'b', '--seed', '1']
    """
    spread: list[str] = []
    current, values = None, 0
    for position, arg in enumerate(args):
        if arg == "--":
            return [*spread, *args[position:]]
        if arg.startswith("-") and arg != STREAM and not NEGATIVE_NUMBER.match(arg):
            current, values = (arg if arg in multiple else None), 0
        elif current is not None:
            if values:
                spread.append(current)
            values += 1
        spread.append(arg)
    return spread


def file_among(
    args: Sequence[str], multiple: Collection[str], file_options: Collection[str] = ()
) -> int | None:
    """Return the position of FILE among the values of options, or None.

    Only the last of two or more values of an option can be FILE. Existing files and
    standard input come first, then names that end like a table. Options that take
    files themselves come last.
    """
    ends = [
        i
        for i in range(3, len(args))
        if args[i - 1] in multiple
        and args[i - 3] == args[i - 1]
        and (i + 1 == len(args) or args[i + 1] != args[i - 1])
    ]
    ends = sorted(ends, key=lambda i: (args[i - 1] in file_options, -i))
    for accepts in (_exists, is_table_name):
        found = [i for i in ends if accepts(args[i])]
        if found:
            return found[0]
    return None


def _exists(name: str) -> bool:
    return name == STREAM or os.path.isfile(name)
