"""What serving needs to know of a model: layers, heads, widths, weights.

All that depends on the model follows from this one description: the layout of both memories, the
kernels of a step, and which weights stay. Tensors have the names of the model's decode graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from model.compiler.graph import FloatArray, Kind
from model.decode.float_decode import MAX_CONTEXT
from model.decode.language_model import LanguageModel


@dataclass(frozen=True, eq=False)
class Architecture:
    """The shape of a model.

    weights: matrices by name, in the order of the decode graph; a bias on scores, where the model
    has one, is that of the longest context, the farthest row first.
    """

    layers: int
    heads: int
    width: int
    head_width: int
    vocabulary: int
    weights: Mapping[str, FloatArray]

    @cached_property
    def words(self) -> dict[str, int]:
        """Words of each weight."""
        return {name: values.size for name, values in self.weights.items()}

    @property
    def row(self) -> int:
        """Words of a key and a value of one head."""
        return 2 * self.head_width

    @property
    def planes(self) -> int:
        """Heads of all layers: each has rows of its own in a page."""
        return self.layers * self.heads

    def plane(self, layer: int, head: int) -> int:
        """Number of a head among all."""
        return layer * self.heads + head

    def layer_name(self, layer: int) -> str:
        """What ends the names of a layer's tensors: nothing in a model of one layer and head."""
        return f"{layer}" if self.planes > 1 else ""

    def head_name(self, layer: int, head: int) -> str:
        """What ends the names of a head's tensors."""
        return f"{layer}{head}" if self.planes > 1 else ""

    def entry(self, layer: int) -> str:
        """Name of what goes into a layer."""
        return "x" if layer == 0 else f"y{self.layer_name(layer - 1)}"


def architecture(lm: LanguageModel) -> Architecture:
    """Describe a model whose keys and values are cached as int8, a head beside the other."""
    graph = lm.decode_graph(MAX_CONTEXT)
    nodes = {node.name: node for node in graph.nodes}
    weights = graph.of_kind(Kind.WEIGHT)
    return Architecture(
        layers=lm.layers,
        heads=len(lm.key_names) // lm.layers,
        width=nodes["x"].cols,
        head_width=nodes[lm.key_names[0]].cols,
        vocabulary=lm.vocabulary,
        weights={node.name: node.values for node in weights if node.values is not None},
    )
