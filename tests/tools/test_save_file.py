"""Save files for GTKWave, and the reader of signal names that they rest on."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from model.chip.assembler import assemble
from sim.engine.save_file import (
    GROUPS,
    WaveError,
    choose,
    save_path,
    signal_names,
    write_save_file,
)
from sim.engine.simulator import simulate
from verif.items.job import Job
from verif.items.program_item import ProgramItem

# Of each kind of signal one, with its range as the design declares it.
KNOWN = {
    "Sequencer": {"clk": "", "pc_q": "[15:0]", "op": "[3:0]", "fault_code": "[3:0]"},
    "Counters": {"cyc_total": "[31:0]", "n_inst": "[31:0]"},
    "External bus": {"req_valid": "", "req_addr": "[15:0]", "wr_data": "[31:0]"},
    "Scratchpad ports": {"spad_we": "", "spad_waddr": "[11:0]", "spad_rdata": "[31:0]"},
}


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """Waves of a program by simulator."""
    program = assemble("LD dst=0 src=0 len=4\nST src=0 dst=8 len=4")
    item = ProgramItem("save", program, image=np.arange(4, dtype=np.uint32))
    found = {}
    for sim in ("icarus", "verilator"):
        folder = tmp_path_factory.mktemp(sim)
        run = simulate(sim, Job("items", {}, [item]), waves=folder / "w", folder=folder / "job")
        assert run.passed
        found[sim] = run.waves
    return found


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_every_wave_gets_a_save_file_whose_signals_it_has(sim, waves):
    names = signal_names(waves[sim])
    found = choose(names)
    missing = [(g, s) for g, signals in GROUPS.items() for s in signals if s not in found[g]]
    assert missing == []
    for group, signals in KNOWN.items():
        for signal, bits in signals.items():
            assert found[group][signal].endswith(f"ga2_tb.dut.{signal}{bits}")

    text = save_path(waves[sim]).read_text()
    assert f'[dumpfile] "{waves[sim]}"' in text
    shown = [line for line in text.splitlines() if line.startswith(("ga2_tb.", "TOP."))]
    assert len(shown) == sum(map(len, GROUPS.values()))
    assert set(shown) <= set(names)
    assert text.count("@800200") == text.count("@1000200") == len(GROUPS)


def test_names_of_a_vcd(tmp_path):
    path = tmp_path / "w.vcd"
    path.write_text(
        "$timescale 1ns $end\n$scope module TOP $end\n$scope module ga2_tb $end\n"
        "$var wire 1 ! clk $end\n$scope module dut $end\n$var wire 16 # pc_q [15:0] $end\n"
        "$upscope $end\n$var wire 4 ( op [3:0] $end\n$upscope $end\n$upscope $end\n"
        "$enddefinitions $end\n#0\n0!\n"
    )
    names = ["TOP.ga2_tb.clk", "TOP.ga2_tb.dut.pc_q[15:0]", "TOP.ga2_tb.op[3:0]"]
    assert signal_names(path) == names
    assert choose(names)["Sequencer"] == {"pc_q": "TOP.ga2_tb.dut.pc_q[15:0]"}


@pytest.mark.parametrize("cut", [0, 5, 60, 2000])
def test_a_wave_that_was_cut_off_gets_no_save_file(cut, tmp_path, waves):
    path = tmp_path / "w.fst"
    path.write_bytes(waves["icarus"].read_bytes()[:cut])
    with pytest.raises(WaveError, match=r"w\.fst: "):
        signal_names(path)
    assert write_save_file(path) is None
    assert not save_path(path).exists()


def test_wherever_a_simulator_dies_its_wave_harms_nothing(tmp_path, waves):
    """A file that is cut off, or whose end the system has not written: signals or an error."""
    whole = waves["icarus"].read_bytes()
    path = tmp_path / "w.fst"
    readable = 0
    for cut in [*range(0, len(whole), len(whole) // 60), len(whole)]:
        for rest in (0, len(whole) - cut):
            path.write_bytes(whole[:cut] + bytes(rest))
            with suppress(WaveError):
                readable += bool(signal_names(path))
    assert readable
