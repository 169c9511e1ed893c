"""The regression file: what expands to which jobs, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.regress import suites
from sim.regress.__main__ import FILE


def load(tmp_path: Path, text: str) -> suites.Config:
    path = tmp_path / "regress.yaml"
    path.write_text(text)
    return suites.load(path)


def jobs_of(tmp_path: Path, group: str, seed: int = 1):
    text = f"suites: {{s: {{groups: [{{name: g, kind: command, {group}}}]}}}}"
    return suites.expand(load(tmp_path, text), "s", seed)


def test_jobs_are_the_product_of_the_axes_and_seeds(tmp_path):
    jobs = jobs_of(
        tmp_path, "simulator: [icarus, verilator], lat: [1, 8, 64], window: [none, 4], seeds: 5"
    )
    assert len(jobs) == 2 * 3 * 2 * 5
    assert len({job.id for job in jobs}) == len(jobs)
    assert {job.window for job in jobs} == {None, 4}
    assert {job.depth for job in jobs} == {8192}


def test_ids_name_only_axes_that_vary(tmp_path):
    (one, two) = jobs_of(tmp_path, "lat: [1, 2], seed: 7")
    assert (one.id, two.id) == ("g.verilator.lat1.seed7", "g.verilator.lat2.seed7")


def test_derived_seeds_depend_on_master_group_and_index_only(tmp_path):
    first = [job.seed for job in jobs_of(tmp_path, "seeds: 3", seed=1)]
    assert first == [job.seed for job in jobs_of(tmp_path, "seeds: 3", seed=1)]
    assert first == [job.seed for job in jobs_of(tmp_path, "seeds: 4", seed=1)][:3]
    assert not set(first) & {job.seed for job in jobs_of(tmp_path, "seeds: 3", seed=2)}
    # Fixed for all machines and versions: a seed in an old report must stay reproducible.
    assert suites.derive_seed(1, "g", 0) == 1462700156


def test_suites_include_others(tmp_path):
    text = """
    suites:
      small: {groups: [{name: a, kind: command}]}
      large: {include: [small], groups: [{name: b, kind: command}]}
    """
    assert [job.name for job in suites.expand(load(tmp_path, text), "large", 1)] == ["a", "b"]


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("latency: 8", "unknown key 'latency'; did you mean"),
        ("lat: 65", "lat is 65, needs 1..64"),
        ("lat: true", "lat is True"),
        ("depth: 0", "depth is 0"),
        ("window: 0", "window is 0"),
        ("simulator: vcs", "simulator 'vcs'; known: icarus, verilator"),
        ("seeds: 0", "seeds is 0"),
        ("timeout: 0", "timeout is 0"),
        ("params: 3", "params is 3"),
        ("seed: [1, 1]", "appears twice"),
    ],
)
def test_a_wrong_group_is_refused_with_its_value(tmp_path, group, words):
    with pytest.raises(suites.ConfigError, match=r"group g|appears twice") as caught:
        jobs_of(tmp_path, group)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("suites: [", "not YAML"),
        ("[]", "needs a mapping with 'suites'"),
        ("suits: {}", "needs a mapping with 'suites'"),
        ("suites: {s: {include: [t]}}", "no suite 't'; known: s"),
        ("suites: {s: {include: [s]}}", "includes itself"),
        ("suites: {s: {}}", "has no job"),
        ("suites: {s: {groups: [{name: g, kind: fly}]}}", "kind 'fly'"),
        ("suites: {s: {groups: [{name: a/b, kind: command}]}}", "name 'a/b'"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, words):
    with pytest.raises(suites.ConfigError) as caught:
        suites.expand(load(tmp_path, text), "s", 1)
    assert words in str(caught.value)


def test_axes_that_a_kind_ignores_are_refused(tmp_path):
    text = "suites: {s: {groups: [{name: g, kind: random, lat: [1, 8]}]}}"
    with pytest.raises(suites.ConfigError, match="draws its own lat"):
        suites.expand(load(tmp_path, text), "s", 1)


@pytest.mark.parametrize("suite", ["smoke", "nightly", "full"])
def test_the_suites_of_the_project_expand(suite):
    jobs = suites.expand(suites.load(FILE), suite, 1)
    assert {job.simulator for job in jobs} == {"icarus", "verilator"}
    assert {"decode", "random", "directed"} <= {job.kind for job in jobs}
