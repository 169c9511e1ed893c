"""Serving the trained model: two layers, two heads, positions by distance, more tokens."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import changed_source, model_with, source_of
from serving_support import play

from model.decode.models import language_model
from model.decode.workload import compile_decode
from model.errors import CompileError, ParameterError
from model.serving import Request, serve
from model.serving.admission import peak_pages
from model.serving.engine import Engine
from model.serving.kernels import attend_graph, attend_shape
from model.serving.records import Run
from model.serving.request import Options
from model.serving.solo import solo
from model.serving.trace import draw_requests
from model.trained.files import DATA
from model.trained.shape import CONTEXT, SLOPES, VOCABULARY, decode, encode

# Hypothesis draws 100 unless a profile says otherwise: pytest --hypothesis-profile=nightly.
PROFILE = settings.default
DEFAULT = PROFILE is None or PROFILE.max_examples == 100
EXAMPLES = 4 if DEFAULT or PROFILE is None else PROFILE.max_examples // 5

COMMON = encode("And the ")
ASKED: list[dict[str, Any]] = [
    {"rid": "a", "arrival": 0, "prompt": [*COMMON, *encode("L")], "generate": 8},
    {"rid": "b", "arrival": 1, "prompt": COMMON, "generate": 7},
    {"rid": "c", "arrival": 2, "prompt": COMMON, "generate": 3},
    {"rid": "d", "arrival": 2, "prompt": encode("the LORD the LO"), "generate": 4},
]
SETUP: dict[str, Any] = {
    **{"model": "trained", "window": 8, "sinks": 2, "page": 4, "pool": 9},
    **{"batch": 4, "rows": 8, "draft": 2},
}


def check(run: Run) -> None:
    """Compare every request with its solo decode."""
    for request in run.requests:
        want = solo(request, run.options)
        assert run.tokens[request.rid] == want.tokens, request
        assert run.logits[request.rid].tolist() == want.logits.tolist(), request
        assert run.logits[request.rid].shape[1] == VOCABULARY


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": None, "sinks": 0, "pool": 20, "resident": False},
        {"window": 16, "sinks": 0, "page": 1, "pool": 40, "model": "trained-window16"},
        {"window": 5, "sinks": 3, "page": 3, "rows": 5, "prefix_cache": False},
        {"window": 1, "sinks": 0, "draft": 0, "batch": 2},
        {"page": 2, "pool": 7, "rows": 3, "admission": "exact"},
    ],
)
def test_every_request_is_decoded_as_if_alone(options: dict[str, Any]) -> None:
    run = play(ASKED, SETUP | options)
    check(run)
    assert run.compilations <= run.compilation_bound


def test_all_that_may_happen_to_a_request_happens_here() -> None:
    run = play(ASKED, SETUP)
    assert min(run.copies, run.hits, run.drafted - run.accepted, run.accepted) > 0
    assert play(ASKED, SETUP | {"pool": 7, "page": 2}).preemptions > 0


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Requests and options, such that every request can run alone."""
    token = st.integers(0, VOCABULARY - 1)
    beginnings = st.sampled_from([COMMON, encode("the LORD "), [62] * 6, []])
    trace = [
        {
            "rid": f"r{number}",
            "arrival": draw(st.integers(0, 3)),
            "prompt": draw(beginnings) + draw(st.lists(token, min_size=1, max_size=3)),
            "generate": draw(st.integers(1, 6)),
            "stop": draw(st.none() | token),
        }
        for number in range(draw(st.integers(1, 3)))
    ]
    window = draw(st.none() | st.integers(1, 12))
    options: dict[str, Any] = {
        "model": draw(st.sampled_from(["trained", "trained-window16"])),
        "window": window,
        "sinks": 0 if window is None else draw(st.integers(0, min(3, window - 1))),
        "page": draw(st.sampled_from([1, 2, 3, 4, 8])),
        "batch": draw(st.integers(1, 3)),
        "rows": draw(st.integers(1, 8)),
        "draft": draw(st.sampled_from([0, 2])),
        "prefix_cache": draw(st.booleans()),
        "resident": draw(st.booleans()),
    }
    visible = Options(**options).visible
    least = max(peak_pages(Request(**each).rows, options["page"], visible) for each in trace)
    options["pool"] = least + draw(st.sampled_from([0, 1, 8]))
    return trace, options


@settings(max_examples=EXAMPLES, deadline=None, derandomize=DEFAULT)
@given(drawn=traces())
def test_whatever_is_drawn_each_request_is_decoded_as_if_alone(drawn: Any) -> None:
    run = play(*drawn)
    check(run)
    assert run.compilations <= run.compilation_bound


@pytest.mark.parametrize("window", [None, 4])
def test_alone_is_what_the_main_job_decodes(window: int | None) -> None:
    job = compile_decode("trained", start=0, window=window, steps=9)
    want = solo(Request("a", 0, [0], 9), Options(model="trained", window=window, rows=8))
    assert want.tokens == job.tokens[1:]
    assert want.logits.tolist() == [step.logits for step in job.steps]


def test_distance_is_the_place_among_the_rows_that_are_seen() -> None:
    """With sinks 0, 1 and a window of 6 the last query sees 0, 1, 6 .. 9, five to zero away."""
    options = Options(model="trained", window=6, sinks=2, rows=8)
    model = Engine(options).model.architecture
    shape = attend_shape(8, 2, options.visible, 4)
    for head, slope in enumerate(SLOPES):
        graph = attend_graph(model, 1, head, shape)
        named = {node.name: node for node in graph.nodes}
        for query in range(2):
            near = named[f"bias{head}.{query}"]
            seen = model.weights[f"bias{head}"][0, near.first_col :][: near.cols]
            assert seen.tolist() == [-slope * away for away in (5, 4, 3, 2, 1, 0)]


def test_the_description_of_a_model_says_where_everything_lies() -> None:
    engine = Engine(Options(**SETUP))
    model, external = engine.model.architecture, engine.external
    assert (model.layers, model.heads, model.width, model.head_width) == (2, 2, 32, 16)
    assert sum(model.words.values()) == 16 * 512 + 4 * 2048 + 2016 + 2 * CONTEXT
    assert external.page_words == 2 * 2 * 4 * 32
    assert external.slot(1, 0) - external.slot(0, 0) == external.page_words
    assert external.words == external.pages + 9 * 512 + 8 * 64
    assert engine.builder.spad.resident == ("bias0", "bias1", "wq00")
    tiny = Engine(Options(model="random", seed=2)).model.architecture
    assert (tiny.layers, tiny.heads, tiny.planes, tiny.row) == (1, 1, 1, 32)


def test_drawn_prompts_are_words_of_the_held_out_text() -> None:
    held_out = (DATA / "held_out.txt").read_text()
    drawn = draw_requests(3, 60, 0.5, model="trained")
    assert drawn == draw_requests(3, 60, 0.5, model="trained")
    heads = [decode([*request.prompt[:10]]) for request in drawn]
    common = max(heads, key=heads.count)
    assert 20 < heads.count(common) < 40
    for request in drawn:
        text = decode([*request.prompt]).removeprefix(common)
        assert f"\n{text}" in held_out or f" {text}" in held_out
        assert 1 <= len(text) <= 6


# -- planted faults ------------------------------------------------------------------------------

FAULTS = {
    "the bias of the other head": (
        "serving.kernels",
        '_weight(g, model, f"bias{head}") if',
        '_weight(g, model, f"bias{1 - head}") if',
    ),
    "the bias of the farthest rows": (
        "serving.kernels",
        "bias.cols - keys.rows, bias.cols,",
        "0, keys.rows,",
    ),
    "no bias": ("serving.kernels", "if bias is not None:", "if bias is model:"),
    "one layer's rows over the other's": (
        "serving.architecture",
        "return layer * self.heads + head",
        "return head",
    ),
    "one head's rows over the other's": (
        "serving.architecture",
        "return layer * self.heads + head",
        "return layer * self.heads",
    ),
    "a copy of the first head alone": (
        "serving.step",
        "range(self.model.architecture.planes)",
        "range(1)",
    ),
    "pages that overlap": ("serving.layout", "page * self.page_words", "page * 4 * self.model.row"),
    "new rows of one head over the other's": (
        "serving.layout",
        "(self.context - 1 + head * self.rows)",
        "(self.context - 1 + head)",
    ),
    "what goes into a layer written over": (
        "serving.layout",
        "return self._front + (",
        "return (",
    ),
    "logits of 16 tokens": (
        "serving.engine",
        "vocabulary].reshape(rows, vocabulary)",
        "16].reshape(rows, 16)",
    ),
    "a second layer without a first": (
        "serving.kernels",
        'name=f"y{of}")',
        'name=f"y{of}") if layer else g.add(x, h, name=f"y{of}")',
    ),
}


@cache
def wanted() -> dict[str, tuple[list[int], list[list[int]]]]:
    alone = {each["rid"]: solo(Request(**each), Options(**SETUP)) for each in ASKED}
    return {rid: (one.tokens, one.logits.tolist()) for rid, one in alone.items()}


def differs() -> bool:
    """Whether the planted package gets something wrong; an error of its own counts, too."""
    try:
        run = play(ASKED, SETUP | {"resident": False})
    except Exception:
        return True
    return any(
        (run.tokens[rid], run.logits[rid].tolist()) != want for rid, want in wanted().items()
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_caught(fault: str) -> None:
    module, old, new = FAULTS[fault]
    wanted()
    with model_with(module, changed_source(module, old, new)):
        assert differs()


def test_nothing_differs_without_a_fault() -> None:
    wanted()
    with model_with("serving.kernels", source_of("serving.kernels").read_text()):
        assert not differs()


# -- bad use -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: serve([Request("a", 0, [63], 1)], **SETUP), r"token = 63 .* 0\.\.62"),
        (lambda: serve([Request("a", 0, [1], 1, 63)], **SETUP), r"stop = 63 .* 0\.\.62"),
        (lambda: Options(model="trained-int4"), "model = 'trained-int4' .* trained-window16$"),
        (lambda: Engine(Options(**SETUP | {"pool": 900})), "pool = 900 .* at most 86 pages of 4"),
        (lambda: Options(**SETUP | {"window": 65}), r"window = 65 .* 1\.\.64"),
    ],
)
def test_bad_parameters_are_named(build: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build()


def test_more_rows_than_fit_beside_the_weights_of_a_layer_are_refused() -> None:
    with pytest.raises(CompileError, match="16 rows a step beside contexts of 8 rows do not fit"):
        Engine(Options(**SETUP | {"rows": 16}))
    assert language_model("trained", 0).layers == 2
