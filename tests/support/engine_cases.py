"""Streams, pools and learners for the tests of the engine: those of omkl.testing."""

from omkl.testing.cases import *  # noqa: F403
