// SPDX-License-Identifier: Apache-2.0
// Fault checker: the code is that of the first row of the fault table that applies.

`include "ga2_formal.svh"

`ifndef GA2_CHIP
  always @* begin
    `GA2_COVER(no_fault, code == 4'd0 && op != 4'd0)
    `GA2_COVER(opcode, code == 4'd1)
    `GA2_COVER(length, code == 4'd2)
    `GA2_COVER(shape, code == 4'd3)
    `GA2_COVER(address, code == 4'd4)
    `GA2_COVER(overlap, code == 4'd5)
    fault_rules : assert (code == ga2_spec::fault(op, a, b, c, d, f, g, h));
  end
`endif
