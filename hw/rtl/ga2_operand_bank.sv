// SPDX-License-Identifier: Apache-2.0
//
// Four operand memories of 64 bytes, one a row of A (or a column of B): filled a byte a cycle,
// read all four at one address, combinationally. The writer skews them: byte k of lane r goes to
// address k + r (modulo 64), so that reading address t gives byte t - r of lane r, the diagonal
// front with which operands enter the array.

`default_nettype none

module ga2_operand_bank (
    input  wire         clk,
    input  wire         we,
    input  wire  [ 1:0] wlane,
    input  wire  [ 5:0] waddr,
    input  wire  [ 7:0] wdata,
    input  wire  [ 5:0] raddr,
    output wire  [31:0] rdata  // byte r is lane r's
);

  logic [31:0] lanes[64];

  assign rdata = lanes[raddr];

  always_ff @(posedge clk) begin
    if (we) lanes[waddr][8*wlane+:8] <= wdata;
  end

`ifdef FORMAL
`include "ga2_operand_bank.svh"
`endif

endmodule

`default_nettype wire
