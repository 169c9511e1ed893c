// SPDX-License-Identifier: Apache-2.0
//
// Instruction memory: answers in the same cycle; an address at or past the loaded length reads as
// zero, which is a HALT. `ga2_tb` fills `mem`.

`default_nettype none

module instruction_memory (
    input  wire [ 16:0] length,
    input  wire [ 15:0] addr,
    output wire [127:0] data
);

  logic [127:0] mem[65536];

  assign data = ({1'b0, addr} < length) ? mem[addr] : 128'd0;

endmodule

`default_nettype wire
