// SPDX-License-Identifier: Apache-2.0
// Requantizer: q = clamp(rnd(p, s), lo, 127) for every product p = acc * m, with
// rnd(p, s) = sign(p) * ((|p| + half) >> s), half = 2**(s-1) or 0, as docs/isa.md defines it.
//
// `product` is cut from its multiplier and takes every value. That the multiplier's own values are
// covered: product = |acc| * m = |acc * m| (ga2_lemmas.sv: magnitude_of_acc, negated_factor), and
// 32 times 24 bits stay below 2**56.

`include "ga2_formal.svh"

  wire signed [57:0] f_p = negative ? -(58'(product)) : 58'(product);
  wire [57:0] f_size = f_p < 0 ? -f_p : f_p;
  wire [57:0] f_half = s == '0 ? 58'd0 : 58'd1 << (s - 6'd1);
  // half is beyond 58 bits only where the quotient is 0 whatever |p|.
  wire [57:0] f_shifted = s > 6'd57 ? 58'd0 : (f_size + f_half) >> s;
  wire signed [58:0] f_rounded = f_p < 0 ? -(59'(f_shifted)) : 59'(f_shifted);
  wire signed [58:0] f_low = relu ? 59'sd0 : -59'sd127;
  wire signed [58:0] f_clamped = f_rounded > 127 ? 59'sd127 : f_rounded < f_low ? f_low : f_rounded;

`ifdef GA2_PRODUCT
  // Nothing is cut here: the multiplier gets the magnitude.
  wire [31:0] f_magnitude = acc[31] ? -acc : acc;
  always @* begin
    product_of_magnitude : assert (product == 57'(f_magnitude) * 57'(m));
    `GA2_COVER(negative_product, acc[31] && product != '0)
  end
`else
  always @* begin
    `GA2_ASSUME(product_in_range, product < 57'h100_0000_0000_0000)
    requantize : assert ($signed(q) == f_clamped);
    `GA2_COVER(rounded_up, f_p > 0 && f_rounded < 100 && f_shifted != f_size >> s)
    `GA2_COVER(clamped_high, f_rounded > 127)
    `GA2_COVER(clamped_low, !relu && f_rounded < -127)
    `GA2_COVER(relu_of_negative, relu && f_rounded < 0)
    `GA2_COVER(longest_shift, s == 6'd63 && f_p != 0)
  end
`endif
