// SPDX-License-Identifier: Apache-2.0
// Divider: dividend = quotient * divisor + remainder with remainder < divisor, after 40 cycles.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a start was seen
  logic [5:0] f_cycle;  // 1 in the first cycle after start; 41: finished
  logic [39:0] f_dividend;
  logic [27:0] f_divisor;
  logic [39:0] f_quotient;  // the bits decided so far
  logic [67:0] f_product;  // of them and the divisor, added up by Horner's rule

  wire f_busy = f_cycle >= 6'd1 && f_cycle <= 6'd40;

  always @(posedge clk) begin
    f_ready <= f_ready || start;
    if (start) f_cycle <= 6'd1;
    else if (f_busy) f_cycle <= f_cycle + 6'd1;
    if (start) begin
      f_dividend <= dividend;
      f_divisor <= divisor;
      f_quotient <= '0;
      f_product <= '0;
    end else if (f_busy) begin
      f_quotient <= {f_quotient[38:0], fits};
      f_product <= {f_product[66:0], 1'b0} + (fits ? 68'(f_divisor) : 68'd0);
    end
  end

  wire [67:0] f_remainder = 68'(partial_q[28:1]);
  wire f_finished = f_ready && f_cycle == 6'd41;

  always @* if (f_ready) begin
    `GA2_REQUIRE(divisor_holds, !f_busy || divisor == f_divisor)
  end
`ifdef GA2_BY_ZERO
  // Only for the search of a counterexample to by_zero.
  always @* `GA2_ASSUME(divisor_is_zero, divisor == '0)
`endif

  always @* begin
    if (f_ready) latency_40 : assert (done == (f_cycle == 6'd40));
    if (f_finished) begin
      quotient_bits : assert (quotient_q == f_quotient);
      // f_product is f_quotient * f_divisor: ga2_lemmas.sv, horner_step, once for each bit.
      if (f_divisor != '0) begin
        quotient : assert (f_product + f_remainder == 68'(f_dividend));
        remainder : assert (f_remainder < 68'(f_divisor));
      end else begin
        by_zero : assert (quotient_q == '1);
      end
    end
    if (f_finished) begin
      `GA2_COVER(with_remainder, f_divisor != '0 && f_quotient != '0 && f_remainder != '0)
      `GA2_COVER(divided_by_zero, f_divisor == '0)
    end
    if (f_ready) begin
      `GA2_COVER(again, start && f_cycle == 6'd41)
      `GA2_COVER(start_at_work, start && f_busy)
    end
  end

`ifdef GA2_HELPERS
  wire [5:0] f_left = 6'd41 - f_cycle;
  // The part of the dividend whose quotient bits are decided, with the bit about to be.
  wire [39:0] f_taken = f_dividend >> (f_left - 6'd1);
  always @* begin
    if (f_ready) begin
      assert (f_cycle >= 6'd1 && f_cycle <= 6'd41);
      if (!f_busy) assert (left_q == '0);
    end
    if (f_ready && f_busy) begin
      assert (left_q == f_left);
      assert (f_quotient >> (f_cycle - 6'd1) == '0);
      assert (40'(quotient_q << 1) == ((f_dividend << f_cycle) | 40'(f_quotient << 1)));
      if (f_divisor != '0) begin
        assert ({f_product[66:0], 1'b0} + 68'(partial_q) == 68'(f_taken));
        assert (68'(partial_q) < {39'd0, f_divisor, 1'b0});
      end else begin
        assert (f_quotient == (40'd1 << (f_cycle - 6'd1)) - 40'd1);
      end
    end
  end
`endif
