// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of RQ: clamp(round_half_away(acc * m / 2**s), lo, 127), lo = 0 with relu and -127
// without. Purely combinational.

`default_nettype none

module ga2_requantizer (
    input  wire [31:0] acc,
    input  wire [23:0] m,
    input  wire [ 5:0] s,
    input  wire        relu,
    output logic [7:0] q
);

  wire negative = acc[31];
  logic [31:0] magnitude;
  logic [56:0] product;
  logic [56:0] rounded;
  logic [7:0] clamped;

  // Rounding half away from zero is symmetric, so it works on the magnitude:
  // (p + half) >> s equals ((2p >> s) + 1) >> 1 for every s, s = 0 included.
  always_comb begin
    magnitude = negative ? -acc : acc;
    product = 57'(magnitude) * 57'(m);
    rounded = (((product << 1) >> s) + 57'd1) >> 1;
    clamped = rounded > 57'd127 ? 8'd127 : 8'(rounded);
    if (!negative) q = clamped;
    else if (relu) q = 8'd0;
    else q = -clamped;
  end

`ifdef FORMAL
`include "ga2_requantizer.svh"
`endif

endmodule

`default_nettype wire
