// SPDX-License-Identifier: Apache-2.0
//
// Unsigned restoring division, one quotient bit a cycle: `done` is high in the 40th cycle after the
// start cycle, and `quotient_q` is complete from the next one until the next start. The divisor
// must hold while busy. Division by zero gives all ones. A start sets all there is: no reset.

`default_nettype none

module ga2_divider (
    input  wire         clk,
    input  wire         start,
    input  wire  [39:0] dividend,
    input  wire  [27:0] divisor,
    output logic [39:0] quotient_q,
    output wire         done
);

  logic [5:0] left_q;
  logic [28:0] partial_q;  // the remainder so far with the next bit of the dividend

  wire fits = partial_q >= {1'b0, divisor};

  assign done = left_q == 6'd1;

  // No flop changes in other cycles.
  wire active = start || left_q != '0;

`ifdef GA2_ASSERT
  // Whether the divisor has held since a start: not before the first one, and not when a reset of
  // the unit around this one has taken it away.
  logic held_q;
  logic [27:0] divisor_q;
  initial held_q = 1'b0;
  wire checked = held_q && divisor == divisor_q && divisor != '0;
`endif

  always_ff @(posedge clk) begin
    if (active) begin
      if (start) begin
        left_q <= 6'd40;
        partial_q <= 29'(dividend[39]);
        // The dividend leaves at the top while the quotient's bits enter at the bottom.
        quotient_q[38:0] <= dividend[38:0];
`ifdef GA2_ASSERT
        held_q <= 1'b1;
        divisor_q <= divisor;
`endif
      end else begin
        left_q <= left_q - 6'd1;
        partial_q <= {fits ? partial_q[27:0] - divisor : partial_q[27:0], quotient_q[38]};
        quotient_q <= {quotient_q[38:0], fits};
`ifdef GA2_ASSERT
        if (divisor != divisor_q) held_q <= 1'b0;
        if (done && checked) begin
          assert (partial_q < {divisor, 1'b0})
          else $error("the remainder %0d is no less than the divisor %0d", partial_q, divisor);
        end
`endif
      end
    end
  end

`ifdef FORMAL
`include "ga2_divider.svh"
`endif

endmodule

`default_nettype wire
