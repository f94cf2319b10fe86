"""Texts and bytes as files, for as long as somebody needs them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

__all__ = ["Folder", "PathLike"]

PathLike = str | os.PathLike[str]
"""The path of a file."""


class Folder:
    """A folder that is gone when nobody refers to it any more."""

    def __init__(self) -> None:
        path = tempfile.mkdtemp(prefix="policert-")
        self.path = Path(path)
        self._end = weakref.finalize(self, shutil.rmtree, path, True)

    def write(self, name: str, content: str | bytes) -> Path:
        """Writes a file in it."""
        path = self.path / name
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_bytes(content)
        return path
