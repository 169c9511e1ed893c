// SPDX-License-Identifier: Apache-2.0
//
// Follows one word of the scratchpad, at an address that a proof leaves open, through the accesses
// of the unit that works: what it is now, what it was when the unit started, and what a read of it
// must be answered with. No part of the design.

`default_nettype none

`include "ga2_formal.svh"

module ga2_word (
    input  wire         clk,
    input  wire         start,
    input  wire  [11:0] address,
    input  wire         ren,
    input  wire  [11:0] raddr,
    input  wire         we,
    input  wire  [11:0] waddr,
    input  wire  [31:0] wdata,
    output logic [31:0] now,
    output logic [31:0] old,     // at the last start
    output logic        asked,   // the port's last read was of this word, in the last cycle
    output logic [31:0] answer
);

  `GA2_ANY([31:0], word)  // what is there when the unit starts

  initial asked = 1'b0;
  always @(posedge clk) begin
    if (start) now <= word;
    else if (we && waddr == address) now <= wdata;
    if (start) old <= word;
    asked <= ren && raddr == address;
    answer <= now;
  end

endmodule

`default_nettype wire
