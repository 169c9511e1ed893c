// SPDX-License-Identifier: Apache-2.0
//
// SM: softmax of int8 scores in three passes over the source: the maximum, the sum of the
// exponentials, and (after one division) the probabilities, each e * r rounded to Q0.16.
// Busy for 3*len + 47 cycles: len, len + 2, 41 for the division, len + 4.
// `src` and `len` must hold while the unit is busy.

`default_nettype none

module ga2_softmax (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] src,
    input  wire  [11:0] len,
    output logic        ren_q,
    output logic [11:0] raddr_q,
    input  wire  [ 7:0] rdata,   // the low byte of the scratchpad word
    output logic        we_q,
    output logic [11:0] waddr_q,
    output wire  [31:0] wdata,
    output wire         done
);

  typedef enum logic [2:0] {
    StIdle,
    StMax,
    StSum,
    StStartDiv,
    StDivide,
    StScale
  } state_e;

  state_e state_q;
  logic [11:0] left_q;  // reads of this pass not yet made, the one on the port included

  // What the words under way are for; each flag names the stage that acts in this cycle.
  logic data_q;  // rdata is a score
  logic exp_data_q;  // of the second or third pass
  logic exp_q;  // distance_q, and with it exponential, is valid
  logic scale_q;  // exponential_q is valid (third pass only)

  logic signed [7:0] max_q;
  logic [7:0] distance_q;  // of a score from the maximum, in sixteenths
  logic [27:0] sum_q;
  logic [15:0] exponential_q;
  logic [16:0] probability_q;

  wire [15:0] exponential;
  wire [39:0] quotient;
  wire divided;
  // The sum is at least 65,535, the maximum's own exponential: the reciprocal fits 23 bits.
  wire [22:0] reciprocal = quotient[22:0];
  wire [16:0] unused_quotient = quotient[39:23];

  wire last_read = left_q == 12'd1;

  assign wdata = 32'(probability_q);
  assign done = we_q && !scale_q;

  // No flop changes in other cycles.
  wire active = rst || start || state_q != StIdle;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        state_q <= StIdle;
        ren_q <= 1'b0;
        data_q <= 1'b0;
        exp_data_q <= 1'b0;
        exp_q <= 1'b0;
        scale_q <= 1'b0;
        we_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (state_q == StIdle) else $error("started while it works");
        assert (len != '0) else $error("started with no scores");
`endif
        state_q <= StMax;
        ren_q <= 1'b1;
        raddr_q <= src;
        left_q <= len;
        max_q <= -8'sd128;
        sum_q <= '0;
        waddr_q <= dst;
      end else begin
        if (ren_q) begin
          raddr_q <= last_read ? src : raddr_q + 12'd1;
          left_q <= last_read ? len : left_q - 12'd1;
        end
        data_q <= ren_q;
        exp_data_q <= ren_q && state_q != StMax;
        exp_q <= exp_data_q;
        scale_q <= exp_q && state_q == StScale;
        we_q <= scale_q;

        // In the later passes none is larger.
        if (data_q && $signed(rdata) > max_q) max_q <= rdata;
        distance_q <= max_q - rdata;
        if (exp_q) begin
          if (state_q == StScale) exponential_q <= exponential;
          else sum_q <= sum_q + 28'(exponential);
        end
        // Rounds at bit 22; at most 65,536 because e <= S and r <= 2**38 / S. The product is formed
        // here and not beside the process, where it would follow every shift of the divider.
        if (scale_q)
          probability_q <= 17'((39'(exponential_q) * 39'(reciprocal) + 39'h20_0000) >> 22);
        if (we_q) waddr_q <= waddr_q + 12'd1;

        case (state_q)
          // The last score of the first pass arrives while the second already reads: its maximum
          // is known by the time the second's first score arrives.
          StMax: if (last_read) state_q <= StSum;
          StSum: begin
            if (last_read) ren_q <= 1'b0;
            if (exp_q && !exp_data_q) state_q <= StStartDiv;
          end
          StStartDiv: begin
`ifdef GA2_ASSERT
            assert (sum_q >= 28'd65535) else $error("the sum of exponentials is %0d", sum_q);
`endif
            state_q <= StDivide;
          end
          StDivide:
          if (divided) begin
            ren_q <= 1'b1;
            state_q <= StScale;
          end
          StScale: begin
            if (last_read) ren_q <= 1'b0;
            if (done) begin
`ifdef GA2_ASSERT
              assert (probability_q <= 17'd65536) else $error("more than 1: %0d", probability_q);
`endif
              state_q <= StIdle;
            end
          end
          default: ;
        endcase
      end
    end
  end

  ga2_exp_table u_exp_table (
      .d(exp_q ? distance_q : 8'd0),  // still in other cycles
      .e(exponential)
  );

  ga2_divider u_divider (
      .clk,
      .start(state_q == StStartDiv),
      .dividend(40'h40_0000_0000),
      .divisor(sum_q),
      .quotient_q(quotient),
      .done(divided)
  );

`ifdef FORMAL
`include "ga2_softmax.svh"
`endif

endmodule

`default_nettype wire
