"""Serving many requests on one chip: continuous batching over pages in its own memory."""

from model.serving.engine import serve
from model.serving.request import Request

__all__ = ["Request", "serve"]
