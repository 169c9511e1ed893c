// SPDX-License-Identifier: Apache-2.0
//
// Facts about multiplication that join the proofs of the divider, the requantizer and MM, each for
// all values at a width in which nothing overflows there. No part of the design.

`default_nettype none

module ga2_lemmas (
    input wire [67:0] quotient,
    input wire [67:0] divisor,
    input wire [67:0] next,
    input wire [56:0] x,
    input wire [56:0] y,
    input wire [31:0] acc,
    input wire [11:0] i,
    input wire [11:0] ldb
);

  wire [67:0] before = quotient * divisor;
  wire [67:0] after = (68'd2 * quotient + next) * divisor;
  wire [56:0] signed_acc = {{25{acc[31]}}, acc};
  wire [31:0] magnitude = acc[31] ? -acc : acc;

`ifdef GA2_HORNER
  // With one more bit the quotient's product doubles and grows by the bit's.
  always @* begin
    horner_step : assert (after == 68'd2 * before + next * divisor);
    both_bits : cover (next == 68'd1 && quotient == 68'd1 && divisor != '0);
  end
`elsif GA2_NEGATED
  always @* begin
    negated_factor : assert ((-x) * y == -(x * y));
    no_zero : cover (x == 57'd1 && y == 57'd1);
  end
`elsif GA2_STRIDE
  always @* begin
    one_more_stride : assert ((i + 12'd1) * ldb == i * ldb + ldb);
    all_bits : cover (i == 12'd63 && ldb == 12'd4095);
  end
`else
  always @* begin
    magnitude_of_acc : assert (57'(magnitude) == (acc[31] ? -signed_acc : signed_acc));
    lowest : cover (acc == 32'h8000_0000);
    positive : cover (acc != '0 && !acc[31]);
  end
`endif

endmodule

`default_nettype wire
