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
    output wire [ 7:0] q
);

  // Rounding half away from zero is symmetric, so it works on the magnitude:
  // (p + half) >> s equals ((2p >> s) + 1) >> 1 for every s, s = 0 included.
  wire negative = acc[31];
  wire [31:0] magnitude = negative ? -acc : acc;
  wire [55:0] product = {24'd0, magnitude} * {32'd0, m};
  wire [56:0] shifted = {product, 1'b0} >> s;
  wire [56:0] rounded = (shifted + 57'd1) >> 1;
  wire [6:0] clamped = |rounded[56:7] ? 7'd127 : rounded[6:0];

  assign q = negative ? (relu ? 8'd0 : -{1'b0, clamped}) : {1'b0, clamped};

endmodule

`default_nettype wire
