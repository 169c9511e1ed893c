"""The regression file: what expands to which jobs, and what is refused with which words."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from sim.regress import suites
from sim.regress.run_folder import SUITES
from sim.regress.workloads import check
from sim.shared.part import Part, part_option
from verif.typed import RecordError


def load(tmp_path: Path, text: str) -> suites.Config:
    path = tmp_path / "regress.yaml"
    path.write_text(text)
    return suites.load(path)


def jobs_of(tmp_path: Path, group: str, seed: int = 1):
    group = f"name: g, kind: command, params: {{argv: 'true'}}, {group}"
    return suites.expand(load(tmp_path, f"suites: {{s: {{groups: [{{{group}}}]}}}}"), "s", seed)


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
    defaults: {params: {argv: [sh, -c, "exit 0"]}}
    suites:
      small: {groups: [{name: a, kind: command}]}
      large: {include: [small], groups: [{name: b, kind: command}]}
    """
    assert [job.name for job in suites.expand(load(tmp_path, text), "large", 1)] == ["a", "b"]


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("latency: 8", "unknown key 'latency'; did you mean 'lat'?"),
        ("lat: 65", "lat[0] is 65; needs int <= 64"),
        ("lat: [8, true]", "lat[1] is True; needs int"),
        ("lat: []", "lat is []; needs list of length >= 1"),
        ("depth: 0", "depth[0] is 0"),
        ("depth: []", "depth is []"),
        ("window: 0", "window[0] is 0"),
        ("window: []", "window is []"),
        ("page: 4.5", "page[0] is 4.5; needs int"),
        ("page: []", "page is []"),
        ("simulator: vcs", "simulator[0] is 'vcs'; known: icarus, verilator"),
        ("simulator: []", "simulator is []"),
        ("seeds: 0", "seeds is 0"),
        ("seeds: '3'", "seeds is '3'; needs int"),
        ("seed: []", "seed is []"),
        ("seed: -1", "seed[0] is -1; needs int >= 0"),
        ("seed: 9223372036854775808", "needs int <= 9223372036854775807"),
        ("seed: 1, seeds: 1", "has seed and seeds"),
        ("seed: 1, seed: 2", "key 'seed' is given twice"),
        ("timeout: 0", "timeout is 0"),
        ("timeout: .nan", "timeout is nan"),
        ("timeout: .inf", "timeout is inf"),
        ("timeout: yes", "timeout is True"),
        ("seed: [1, 1]", "appears twice"),
    ],
)
def test_a_wrong_group_is_refused_with_its_value(tmp_path, group, words):
    with pytest.raises(RecordError, match=r"group g|twice") as caught:
        jobs_of(tmp_path, group)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "params", "words"),
    [
        ("command", "{}", "group g: params: missing required field argv"),
        ("command", "{argv: []}", "params: argv is []"),
        ("command", "3", "params is 3; needs mapping"),
        ("decode", "{step: 3}", "unknown key 'step'; did you mean 'steps'?"),
        ("decode", "{steps: 0}", "steps is 0; needs int >= 1"),
        ("decode", "{model: tiny}", "model is 'tiny'; known: random, structured"),
        ("decode", "{start: 16}", "group g: start = 16 is out of range"),
        ("decode", "{steps: 65}", "65"),
        ("serve", "{sinks: 3}", "group g: sinks = 3 is out of range: must be 0 without a window"),
        ("serve", "{admission: greedy}", "group g: admission = 'greedy' is out of range"),
        ("serve", "{longest: 64, pool: 3}", "pages of 4 rows, the pool has 3"),
        ("serve", "{rate: 0}", "rate is 0; needs float > 0"),
        ("random", "{programs: 1.5}", "programs is 1.5; needs int"),
        ("random", "{profile: nope}", "group g: no random profile 'nope'"),
        ("directed", "{slow: 1}", "slow is 1; needs bool"),
        ("directed", "{programs: [nope]}", "group g: no directed program nope"),
        ("formal", "{}", "group g: params: missing required field ask"),
        ("formal", "{ask: mutants, parts: 0}", "parts is 0; needs int >= 1"),
        ("formal", "{ask: lemmas}", "ask is 'lemmas'; known: mutants, proofs"),
        ("directed", "{families: [nope]}", "group g: no family nope; known: "),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(tmp_path, kind, params, words):
    text = f"suites: {{s: {{groups: [{{name: g, kind: {kind}, params: {params}}}]}}}}"
    with pytest.raises(RecordError, match="group g: ") as caught:
        suites.expand(load(tmp_path, text), "s", 1, check=check)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("suites: [", ": not YAML: "),
        ("a: \x00", "not YAML: unacceptable character"),
        ("[]", "it is []; needs mapping"),
        ("suits: {}", "unknown key 'suits'; did you mean 'suites'?"),
        ("suites: {s: {}, s: {}}", ":1: not YAML: key 's' is given twice"),
        ("suites: {s: {include: [t]}}", "no suite 't'; known: s"),
        ("suites: {s: {include: s}}", "suite s: include is 's'; needs list"),
        ("suites: {s: {include: [s]}}", "includes itself"),
        ("suites: {s: {}}", "has no job"),
        ("suites: {s: 3}", "suite s: it is 3; needs mapping"),
        ("suites: {s: {groups: }}", "suite s: groups is None"),
        ("suites: {s: {groups: [3]}}", "suite s: groups[0] is 3"),
        ("suites: {a/b: {}}", "a key of suites is 'a/b'"),
        ("suites: {s: {groups: [{kind: command}]}}", "missing required field name"),
        ("suites: {s: {groups: [{name: g, kind: fly}]}}", "kind is 'fly'; known: command"),
        ("suites: {s: {groups: [{name: a/b, kind: command}]}}", "name is 'a/b'"),
        ("{suites: {s: {}}, defaults: {lat: 65}}", "defaults: lat[0] is 65"),
        ("{suites: {s: {}}, defaults: {late: 6}}", "defaults: unknown key 'late'"),
        ("{suites: {s: {}}, keep_passed: 1}", "keep_passed is 1; needs bool"),
        ("{suites: {s: {}}, clusters: {slrm: {}}}", "'slrm'; known: lsf, pbs, sge, slurm"),
        ("{suites: {s: {}}, clusters: {slurm: {slots: 0}}}", "clusters: slurm: slots is 0"),
        ("{suites: {s: {}}, clusters: {slurm: {memory: lots}}}", "memory is 'lots'"),
        ("{suites: {s: {}}, clusters: {slurm: {walltime: 12:00:00}}}", "walltime is 43200"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, words):
    with pytest.raises(RecordError) as caught:
        suites.expand(load(tmp_path, text), "s", 1)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_axes_that_a_kind_ignores_are_refused(tmp_path):
    text = "suites: {s: {groups: [{name: g, kind: random, lat: [1, 8]}]}}"
    with pytest.raises(RecordError, match="heed no lat"):
        suites.expand(load(tmp_path, text), "s", 1)


@pytest.mark.parametrize("suite", ["smoke", "nightly", "full"])
def test_the_suites_of_the_project_expand(suite):
    jobs = suites.expand(suites.load(SUITES), suite, 1, check=check)
    assert {job.simulator for job in jobs} == {"icarus", "verilator"}
    assert {"decode", "serve", "random", "directed"} <= {job.kind for job in jobs}


def test_the_formal_suite_is_all_proofs_and_all_mutants_in_parts():
    jobs = suites.expand(suites.load(SUITES), "formal", 1, rtl="mine", check=check)
    shares: dict[str, set[Part]] = {}
    for job in jobs:
        shares.setdefault(job.params["ask"], set()).add(
            Part(job.params["part"], job.params["parts"])
        )
    assert set(shares) == {"proofs", "mutants"}
    for parts in shares.values():
        (of,) = {part.of for part in parts}
        assert parts == {Part(number, of) for number in range(1, of + 1)}
    assert not any(job.simulates or job.params.get("sample") for job in jobs)
    assert {job.rtl for job in jobs} == {"mine"}


@pytest.mark.parametrize("axis", ["lat: 8", "seeds: 2", "seed: 1", "simulator: icarus"])
def test_proofs_have_neither_axes_nor_seeds(tmp_path, axis):
    text = f"{{name: g, kind: formal, params: {{ask: proofs}}, {axis}}}"
    with pytest.raises(RecordError, match=f"jobs of kind formal heed no {axis.split(':')[0]}"):
        suites.expand(load(tmp_path, f"suites: {{s: {{groups: [{text}]}}}}"), "s", 1)


@pytest.mark.parametrize("way", [Part.dealt, Part.stretch])
@pytest.mark.parametrize("of", [1, 3, 7, 20])
def test_parts_are_everything_once(way, of):
    work = list(range(17))
    shares = [way(Part(number, of), work) for number in range(1, of + 1)]
    assert sorted(item for share in shares for item in share) == work
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "-1/3", "a/b"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="give one such as 3/8"):
        part_option(text)
