"""The native half that has Z3, where the package ``z3-solver`` is installed (``pip install policert[z3]``).

The wheel has two native halves, one of which needs the library of Z3. That library is loaded from the
package it comes in, and then the half that needs it in place of the other one.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

__all__ = ["prefer_z3"]

_HALF = Path(__file__).parent / "with_z3" / "_policert.native"
# The name by which that half asks for the library.
_LIBRARY = "libz3.so.5.4"


def prefer_z3() -> None:
    """Loads the native half with Z3, if it and a library that fits are there."""
    library = _library()
    loader = importlib.machinery.ExtensionFileLoader("policert._policert", str(_HALF))
    spec = importlib.util.spec_from_file_location(loader.name, _HALF, loader=loader)
    if library is None or spec is None or not _HALF.is_file():
        return
    ctypes.CDLL(str(library))
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[spec.name] = module


def _library() -> Path | None:
    found = importlib.util.find_spec("z3")
    if found is None or found.origin is None:
        return None
    library = Path(found.origin).parent / "lib" / _LIBRARY
    return library if library.is_file() else None
