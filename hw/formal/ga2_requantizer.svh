// SPDX-License-Identifier: Apache-2.0
// Requantizer: q = ga2_spec::round_product(p, s, relu) for every product p = acc * m, which is
// ga2_spec::requantize(acc, m, s, relu).
//
// `product` is cut from its multiplier and takes every value. That the multiplier's own values are
// covered: product = |acc| * m = |acc * m| (ga2_lemmas.sv: magnitude_of_acc, negated_factor), and
// 32 times 24 bits stay below 2**56.

`include "ga2_formal.svh"

  wire signed [57:0] f_p = negative ? -(58'(product)) : 58'(product);
  wire [57:0] f_size = f_p < 0 ? -f_p : f_p;

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
    requantize : assert (q == ga2_spec::round_product(f_p, s, relu));
    `GA2_COVER(rounded_up, f_p > 0 && q < 8'd100 && 58'(q) != f_size >> s)
    `GA2_COVER(clamped_high, q == 8'd127 && f_p >> s > 58'sd127)
    `GA2_COVER(clamped_low, !relu && $signed(q) == -8'sd127 && f_size >> s > 58'd127)
    `GA2_COVER(relu_of_negative, relu && f_p < 0 && f_size >> s != '0)
    `GA2_COVER(longest_shift, s == 6'd63 && f_p != 0)
  end
`endif
