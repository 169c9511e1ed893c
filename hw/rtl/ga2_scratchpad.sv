// SPDX-License-Identifier: Apache-2.0
//
// The scratchpad: 4,096 words, one read and one write port. A read asked for in one cycle is
// answered in the next and then held; a read of the word being written gives the old value.

`default_nettype none

module ga2_scratchpad (
    input  wire         clk,
    input  wire         ren,
    input  wire  [11:0] raddr,
    output logic [31:0] rdata_q,
    input  wire         we,
    input  wire  [11:0] waddr,
    input  wire  [31:0] wdata
);

  logic [31:0] mem[ga2_pkg::SpadWords];

  always_ff @(posedge clk) begin
    if (ren) rdata_q <= mem[raddr];
    if (we) mem[waddr] <= wdata;
  end

`ifdef FORMAL
`include "ga2_scratchpad.svh"
`endif

endmodule

`default_nettype wire
