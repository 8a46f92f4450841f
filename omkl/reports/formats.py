"""The formats of a table."""

from omkl.errors import UserError, suggest

FORMATS = ("table", "json", "csv", "markdown", "latex")


def check_format(fmt: str) -> None:
    """Raise UserError unless ``render`` knows the format."""
    if fmt not in FORMATS:
        raise UserError(f"unknown format '{fmt}'{suggest(fmt, FORMATS)}: choose one of {', '.join(FORMATS)}")
