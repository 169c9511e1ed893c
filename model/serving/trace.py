"""Traces of requests: drawn like the traffic of a service, or read from a file."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from model.decode.models import alphabet_of, vocabulary_of
from model.decode.tiny_lm import VOCABULARY
from model.errors import ModelError, ParameterError, check_int
from model.serving.request import Request
from model.trained.files import DATA
from model.trained.shape import encode

COMMON_PROMPT = 10  # tokens, in front of every other request's own
OWN_PROMPT = 6  # tokens of its own, at most
GENERATED = 3.0, 0.7  # of the logarithm: mean, deviation; 26 tokens on average, with a long tail
LONGEST = 96
FIELDS = ("id", "arrival", "prompt", "generate", "stop")


class TraceError(ModelError, ValueError):
    """A file of requests that cannot be read; the message names it, and what is wrong."""


def draw_requests(
    seed: int,
    count: int,
    rate: float,
    longest: int = LONGEST + COMMON_PROMPT + OWN_PROMPT,
    model: str = "random",
) -> list[Request]:
    """Poisson arrivals, ``rate`` a step of the engine; half of the prompts begin alike.

    ``longest``: rows of a request, prompt and generated tokens together, at most. Prompts for a
    ``model`` of text are pieces of the held-out text, each from the beginning of a word on. Raises
    ParameterError.
    """
    check_int("requests", count, 1)
    if not (math.isfinite(rate) and rate > 0):
        raise ParameterError("rate", rate, "a number above 0")
    draw = random.Random(seed)
    tokens = _pieces(draw) if alphabet_of(model) else _any_tokens(draw)
    common = tokens(COMMON_PROMPT)
    requests = []
    now = 0.0
    for number in range(count):
        own = tokens(draw.randint(1, OWN_PROMPT))
        prompt = common + own if draw.random() < 0.5 else own
        length = int(draw.lognormvariate(*GENERATED))
        generate = max(1, min(LONGEST, length, longest - len(prompt)))
        requests.append(Request(f"r{number}", int(now), prompt, generate))
        now += draw.expovariate(rate)
    return requests


def _any_tokens(draw: random.Random) -> Callable[[int], list[int]]:
    """What draws so many tokens of a tiny model."""
    return lambda count: [draw.randrange(VOCABULARY) for _ in range(count)]


def _pieces(draw: random.Random) -> Callable[[int], list[int]]:
    """What draws so many characters of the held-out text."""
    text = (DATA / "held_out.txt").read_text(encoding="ascii")
    words = [n for n in range(1, len(text) - COMMON_PROMPT) if text[n - 1].isspace()]

    def piece(count: int) -> list[int]:
        first = draw.choice(words)
        return encode(text[first : first + count])

    return piece


def read_requests(path: Path, model: str = "random") -> list[Request]:
    """Read a JSON list of objects with id, arrival, prompt, generate and, if it may end, stop.

    For a ``model`` of text, prompt and stop may be text.

    Raises:
        TraceError: the file is missing, no JSON, or not such a list for this model.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise TraceError(f"{path}: no JSON: {error}") from None
    if not isinstance(data, list) or not data:
        raise TraceError(f"{path}: a list of requests is wanted, each with {', '.join(FIELDS)}")
    requests = [_request(path, number, one, model) for number, one in enumerate(data)]
    names = [request.rid for request in requests]
    for name in names:
        if names.count(name) > 1:
            raise TraceError(f"{path}: two requests have the id {name!r}")
    return requests


def _request(path: Path, number: int, fields: Any, model: str) -> Request:
    where = f"{path}: request {number}"
    if not isinstance(fields, dict):
        raise TraceError(f"{where}: {fields!r} is no object with {', '.join(FIELDS)}")
    for name in FIELDS[:-1]:
        if name not in fields:
            raise TraceError(f"{where}: {name} is missing")
    for name in fields:
        if name not in FIELDS:
            raise TraceError(f"{where}: {name!r} is none of {', '.join(FIELDS)}")
    prompt = _tokens(f"{where}: prompt", fields["prompt"], model)
    stop = _tokens(f"{where}: stop", fields.get("stop"), model)
    if isinstance(fields.get("stop"), str) and isinstance(stop, list):
        if len(stop) != 1:
            raise TraceError(f"{where}: stop {fields['stop']!r} is not one character")
        stop = stop[0]
    try:
        request = Request(fields["id"], fields["arrival"], prompt, fields["generate"], stop)
        request.check_tokens(vocabulary_of(model))
    except ParameterError as error:
        raise TraceError(f"{path}: {error}") from None
    return request


def _tokens(where: str, value: Any, model: str) -> Any:
    """Tokens of a text for a model of text; what else there is stays."""
    alphabet = alphabet_of(model)
    if alphabet is None or not isinstance(value, str):
        return value
    for character in value:
        if character not in alphabet:
            raise TraceError(f"{where}: {character!r} is no character of {alphabet!r}")
    return encode(value)


def to_json(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """The same as data for a file."""
    return [
        {
            "id": request.rid,
            "arrival": request.arrival,
            "prompt": list(request.prompt),
            "generate": request.generate,
            "stop": request.stop,
        }
        for request in requests
    ]
