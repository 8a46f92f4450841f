"""The command line: a parser, messages, and a module for each family of commands."""

from omkl.cli.main import main

__all__ = ["main"]
