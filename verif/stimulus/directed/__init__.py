"""Directed programs, one module an operation family; importing this package registers them all."""

from __future__ import annotations

from verif.stimulus.directed import (
    argmax,
    control,
    faults,
    load_store,
    matmul,
    requantize,
    resets,
    softmax,
    unpack,
    vector_add,
)
from verif.stimulus.registry import REGISTRY, Directed, directed, register

FAMILIES = (
    load_store,
    matmul,
    requantize,
    softmax,
    vector_add,
    argmax,
    unpack,
    faults,
    control,
    resets,
)

__all__ = ["FAMILIES", "REGISTRY", "Directed", "directed", "register"]
