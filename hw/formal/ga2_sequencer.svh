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
        halted_is_stable : assert (halted && fault_q == $past(fault_q)
            && fault_code_q == $past(fault_code_q) && fault_pc_q == $past(fault_pc_q));
      if ($past(issue_fault && !rst))
        fault_is_reported : assert (halted && fault_q && fault_code_q == $past(check_code)
            && fault_pc_q == $past(pc_q));
      if ($past(rst)) reset_ends : assert (!halted && !running && !fault_q);
      fault_means_halted : assert (!fault_q || halted);
      if ($past(start && !running && !rst))
        start_begins : assert (running && !fault_q && pc_q == '0);
      if ($past(running && !retire && !rst))
        start_is_ignored : assert (pc_q == $past(pc_q) && (running || $past(issue)));

      `GA2_COVER(program_ends, halted && !fault_q && pc_q == 16'd1)
      `GA2_COVER(program_faults, halted && fault_q && pc_q == 16'd1)
      `GA2_COVER(start_held, $past(halted && $past(!halted)) && running)
      `GA2_COVER(start_at_work, start && waiting)
      `GA2_COVER(reset_at_work, rst && waiting)
    end

`ifdef GA2_HELPERS
  always @* if (f_ready) assert (state_q <= StHalted);
`endif
`endif
