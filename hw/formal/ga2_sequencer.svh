// SPDX-License-Identifier: Apache-2.0
// Sequencer: a program's end holds, and a fault is reported where it happened.

`include "ga2_formal.svh"

`ifndef GA2_CHIP
  logic f_ready = 1'b0;  // a reset was seen
  always @(posedge clk) f_ready <= f_ready || rst;

  always @* if (f_ready) assume (!retire || waiting);

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
    end

`ifdef GA2_HELPERS
  always @* if (f_ready) assert (state_q <= StHalted);
`endif
`endif
