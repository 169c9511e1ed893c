"""Directed programs, one module an operation family; importing this package registers them all.

A module or a folder of modules put in here is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

from verif.stimulus.registry import REGISTRY, Directed, directed, register

__all__ = ["REGISTRY", "Directed", "directed", "register"]

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
