"""The letters that the papers use for hyperparameters, in tables for print and in figures."""

import re
import unicodedata

# Letters, so that text stays text in a PDF and an SVG.
SYMBOLS = {
    name: unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}")
    for name in ("alpha", "beta", "gamma", "delta", "eta", "nu", "rho", "sigma", "tau")
} | {"lam": "λ", "eps": "ε"}
_TEX = {"lam": "lambda", "eps": "varepsilon"}  # names that differ in TeX
IN_TEX = {letter: f"$\\{_TEX.get(name, name)}$" for name, letter in SYMBOLS.items()}
_SET = re.compile(rf"\b({'|'.join(SYMBOLS)})(\^2)?(?=\s?=)")


def symbol(name: str) -> str:
    """Return a hyperparameter's symbol as the papers print it, else its name; of ``kernel.sigma`` σ."""
    name = name.split(".")[-1]
    return SYMBOLS.get(name, name.replace("_", " "))


def in_symbols(text: str) -> str:
    """Return text with the symbols of what it sets: β=0.8 for beta=0.8, σ² = 1 for sigma^2 = 1."""
    return _SET.sub(lambda match: SYMBOLS[match[1]] + ("²" if match[2] else ""), text)
