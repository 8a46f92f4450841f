"""What a drawn panel holds, read from matplotlib's artists."""

from typing import Any

import numpy as np


def band_of(collection: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A band's x (n,), lower and upper edge (n,), from the vertices of its outline."""
    vertices = collection.get_paths()[0].vertices
    x = np.unique(vertices[:, 0])
    edges = [vertices[vertices[:, 0] == one, 1] for one in x]
    return x, np.array([y.min() for y in edges]), np.array([y.max() for y in edges])


def names_in(figure: Any) -> list[str]:
    """The names in the legend of a figure, without symbols for hyperparameters."""
    names = [text.get_text() for text in figure.draw().legends[0].get_texts()]
    return [name.replace("β", "beta") for name in names]


def line_named(axes: Any, name: str) -> Any:
    (line,) = [line for line in axes.get_lines() if line.get_label() == name]
    return line
