// SPDX-License-Identifier: Apache-2.0
// Sequencer: when a program begins, that its end holds, and that a fault is reported where it
// happened.

`include "ga2_formal.svh"

`ifndef GA2_CHIP
  logic f_ready = 1'b0;  // a reset was seen
  always @(posedge clk) f_ready <= f_ready || rst;

  always @* if (f_ready) `GA2_REQUIRE(retire_is_waiting, !retire || waiting)

  always @(posedge clk)
    if (f_ready) begin
      if ($past(halted && !start && !rst))
        halted_is_stable : assert (halted && fault == $past(fault)
            && fault_code == $past(fault_code) && fault_pc == $past(fault_pc));
      if ($past(issue_fault && !rst))
        fault_is_reported : assert (halted && fault && fault_code == $past(check_code)
            && fault_pc == $past(pc_q));
      if ($past(rst)) reset_ends : assert (!halted && !running && !fault);
      fault_means_halted : assert (!fault || halted);
      if ($past(start && !running && !rst))
        start_begins : assert (running && !fault && pc_q == '0);
      if ($past(running && !retire && !rst))
        start_is_ignored : assert (pc_q == $past(pc_q) && (running || $past(issue)));

      `GA2_COVER(program_ends, halted && !fault && pc_q == 16'd1)
      `GA2_COVER(program_faults, halted && fault && pc_q == 16'd1)
      `GA2_COVER(start_held, $past(halted && $past(!halted)) && running)
      `GA2_COVER(start_at_work, start && waiting)
      `GA2_COVER(reset_at_work, rst && waiting)
    end

`ifdef GA2_HELPERS
  always @* if (f_ready) assert (state_q <= StHalted);
`endif
`endif
