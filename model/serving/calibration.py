"""One calibration for all contexts, so that a query's integers depend on what it sees alone.

The ranges of a drawn model are those of its full attention in floating point over every context
from each start token, those of a trained one are seen on a text; they know of no batch and no page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from model.compiler.graph import Graph
from model.compiler.scales import Scales, assign_scales
from model.decode.float_decode import MAX_CONTEXT
from model.decode.language_model import LanguageModel
from model.decode.models import calibration_of, language_model
from model.serving.architecture import Architecture, architecture

# Tensors of a step that hold several of the decode graph's side by side: nothing is scaled there.
UNSCALED = ("kv", "old", "new", "context", "slots", "later")


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model with its calibration: ranges and scales of the decode graph's tensors by name."""

    lm: LanguageModel
    architecture: Architecture
    ranges: Mapping[str, float]
    tag_ranges: Mapping[str, float]
    scales: Mapping[str, float]

    def graph_ranges(self, graph: Graph) -> list[float]:
        """Range of every node of a decode graph."""
        return [self.ranges[node.name] for node in graph.nodes]

    def graph_scales(self, graph: Graph) -> Scales:
        """Scale of every node of a kernel, whose names are a decode tensor's, ".", and what not."""
        names = (node.name.partition(".")[0] for node in graph.nodes)
        return Scales(tuple(1.0 if n in UNSCALED else self.scales[n] for n in names), ())


@lru_cache(maxsize=16)
def served_model(kind: str, seed: int) -> ServedModel:
    """Build and calibrate a model. Raises ParameterError."""
    lm = language_model(kind, seed)
    calibration = calibration_of(lm, None, MAX_CONTEXT)
    ranges: dict[str, float] = {}
    for context, seen in calibration.ranges.items():
        for node in lm.decode_graph(context).nodes:
            ranges[node.name] = max(ranges.get(node.name, 0.0), seen[node.index])
    graph = lm.decode_graph(MAX_CONTEXT)
    found = assign_scales(graph, [ranges[n.name] for n in graph.nodes], calibration.tag_ranges)
    scales = {node.name: found.of[node.index] for node in graph.nodes}
    return ServedModel(lm, architecture(lm), ranges, calibration.tag_ranges, scales)
