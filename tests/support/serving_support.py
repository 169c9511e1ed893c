"""Serving under check: after every engine step, what the chip holds against what it should hold."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TINY = (None, "structured", "random")


def play(
    trace: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    cancels: Mapping[int, str] | None = None,
) -> Any:
    """Serve a trace by whatever model package is being imported now; return its Run.

    trace: arguments of Request, options: of Options. cancels: engine step -> request to cancel
    before it, if it still lives. Raises AssertionError for a page whose rows are not those of its
    tokens, or that is written while somebody else holds it.
    """
    engines = importlib.import_module("model.serving.engine")
    requests = importlib.import_module("model.serving.request")
    asked = [requests.Request(**each) for each in trace]
    engine = engines.Engine(requests.Options(**options), asked)
    for request in asked:
        engine.submit(request)
    rows = _rows_of_tokens(engine.model) if options.get("model") in TINY else _rows_alone(engine)
    builder_step = engine.builder.step

    def watched_step(batch: Sequence[Any]) -> Any:
        for page in {slot.page for each in batch for slot in each.slots}:
            assert engine.scheduler.table.owners(page) == 1, f"page {page} is written while shared"
        return builder_step(batch)

    engine.builder.step = watched_step
    for _ in range(2000):
        if engine.done:
            break
        rid = (cancels or {}).get(engine.tick)
        if rid in engine.lives and engine.lives[rid].log.ended is None:
            engine.cancel(rid)
        engine.step()
        check_pages(engine, rows)
    assert engine.done, "requests are left after 2000 steps"
    assert engine.scheduler.table.pages_in_use == 0, "pages are left when all have ended"
    return engine.result()


def check_pages(engine: Any, rows: Any) -> None:
    """Every page that is held or can be found has the rows of its tokens, exactly when it should.

    rows: from tokens to words of key and value of each, by plane: (tokens, planes, 32).
    """
    table, options = engine.scheduler.table, engine.options
    memory, planes = engine._machine.ext, engine.model.architecture.planes
    expected: dict[int, list[int]] = {}  # tokens up to the end of the page
    for live in engine.scheduler.running:
        length = table.length(live.rid)
        held = table.pages(live.rid)
        assert list(held) == options.visible.pages(length, options.page), live.rid
        for logical, page in held.items():
            expected[page] = live.tokens[:length][: (logical + 1) * options.page]
    for page, chain in table._state.chains.items():
        known = list(chain)
        assert expected.setdefault(page, known) == known, f"page {page} is shared under {chain}"
    for page, tokens in expected.items():
        count = (len(tokens) - 1) % options.page + 1
        for plane in range(planes):
            first = engine.external.slot(page, 0, plane)
            found = memory[first : first + 32 * count].reshape(-1, 32)
            want = rows(tokens)[-count:, plane]
            assert (found == want).all(), f"page {page} does not hold the rows of {tokens}"


def _rows_alone(engine: Any) -> Any:
    """Keys and values of tokens, which depend on all before them, by decoding them alone."""
    hosts = importlib.import_module("model.serving.solo")
    planes = engine.model.architecture.planes
    known: dict[tuple[int, ...], tuple[Any, Any]] = {}  # how a host remembers it, and the words

    def rows(tokens: Sequence[int]) -> Any:
        host, words = hosts.SoloHost(engine.options), []
        for end in range(1, len(tokens) + 1):
            prefix = tuple(tokens[:end])
            if prefix not in known:
                done = host.step(tokens[end - 1])
                halves = [np.reshape(part, (planes, 16)) for part in (done.k_new, done.v_new)]
                integers = np.concatenate(halves, axis=1).astype(np.int32)
                known[prefix] = host.rows[-1], integers.view(np.uint32)
            else:
                host.rows.append(known[prefix][0])
            words.append(known[prefix][1])
        return np.stack(words)

    return rows


def _rows_of_tokens(model: Any) -> Any:
    """Key and value of every token, which no context changes, from whole matrices."""
    fixed_point = importlib.import_module("model.chip.fixed_point")
    scales, halves = model.scales, []
    x = fixed_point.quantize(model.lm.embedding, scales["x"])
    for name, weight in (("k", model.lm.w_k), ("v", model.lm.w_v)):
        w = fixed_point.quantize(weight, scales[f"w{name}"])
        factor = scales["x"] * scales[f"w{name}"] / scales[name]
        halves.append(fixed_point.requantize(x @ w, *fixed_point.mantissa_shift(factor)))
    words = np.concatenate(halves, axis=1).astype(np.int32).view(np.uint32)
    return lambda tokens: words[tokens][:, None]
