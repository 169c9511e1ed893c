// SPDX-License-Identifier: Apache-2.0
//
// Unsigned restoring division, one quotient bit a cycle: `done` is high in the 40th cycle after the
// start cycle, and `quotient_q` is complete from the next one until the next start. The divisor
// must hold while busy. Division by zero gives all ones.

`default_nettype none

module ga2_divider (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [39:0] dividend,
    input  wire  [27:0] divisor,
    output logic [39:0] quotient_q,
    output wire         done
);

  logic [5:0] left_q;
  logic [27:0] remainder_q;

  // The dividend leaves quotient_q at the top while the quotient's bits enter at the bottom.
  wire [28:0] partial = {remainder_q, quotient_q[39]};
  wire fits = partial >= {1'b0, divisor};

  assign done = left_q == 6'd1;

  always_ff @(posedge clk) begin
    if (rst) begin
      left_q <= '0;
      remainder_q <= '0;
      quotient_q <= '0;
    end else if (start) begin
      left_q <= 6'd40;
      remainder_q <= '0;
      quotient_q <= dividend;
    end else if (left_q != '0) begin
      left_q <= left_q - 6'd1;
      remainder_q <= fits ? partial[27:0] - divisor : partial[27:0];
      quotient_q <= {quotient_q[38:0], fits};
    end
  end

endmodule

`default_nettype wire
