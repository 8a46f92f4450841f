"""Settings as one types them: what messages and reports print is read back as it was meant."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(  # texts that a setting need not quote: omkl.config.words reads them as they are
    r"(?!(?:null|true|false|inf|nan)\Z)[^\W\d_]\w*(?: \w+)*|0|[1-9][0-9]{0,17}", re.IGNORECASE
)
_READ_AS_OTHER = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?|null|true|false|[\[{].*", re.IGNORECASE)
_PLAIN_CLASS = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|true|false", re.IGNORECASE)


def typed_keyword(value: Any, is_item: bool = False) -> str:
    """Return the value of a keyword as one types it: ``;``, ``{zip:str}``, ``[a,b]``, ``null``."""
    if isinstance(value, Mapping):
        pairs = [f"{typed_keyword(key, True)}:{typed_keyword(item, True)}" for key, item in value.items()]
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(typed_keyword(item, True) for item in value)}]"
    if not isinstance(value, str):
        return {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value))
    is_plain = re.fullmatch(r"[^\W\d]\w*", value) if is_item else not _READ_AS_OTHER.fullmatch(value)
    return value.replace("\t", r"\t") if is_plain else _in_quotes(value)


def typed_setting(key: str, *texts: str) -> str:
    """Return the setting of columns or of a class as omkl reads it: ``drop=age,"price, net"``."""
    plain = {
        text: _PLAIN.fullmatch(text) or (key == "positive" and _PLAIN_CLASS.fullmatch(text)) for text in texts
    }
    quotes = not all(plain.values())  # beside a quoted text, letters beyond ASCII need quotes too
    values = [
        text if plain[text] and not (quotes and not text.isascii()) else _in_quotes(text) for text in texts
    ]
    return f"{key}={','.join(values)}"


def _in_quotes(text: str) -> str:
    """Return a text in quotes; in them only a quote, and the backslashes before one, are escaped."""
    return '"' + re.sub(r'(\\*)("|\Z)', lambda found: 2 * found[1] + (found[2] and r"\""), text) + '"'


def in_shell(word: str) -> str:
    """Return a setting as one types it in a shell: ``'drop=mean radius'``."""
    return word if re.fullmatch(r"[\w@%+=:,./#\[\]-]+", word) else shlex.quote(word)


def column_word(key: str, name: str) -> str:
    """Return the setting that names a column, as one types it: ``drop=age``, ``'drop="price, net"'``."""
    return in_shell(typed_setting(key, name))
