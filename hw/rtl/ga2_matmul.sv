// SPDX-License-Identifier: Apache-2.0
//
// MM: one M x K by K x N product of int8 words. Copies A row by row and B column by column into
// the operand banks, streams them skewed through the systolic array, writes the sums row by row.
// Busy for M*K + K*N + (K + M + N - 2) + M*N + 7 cycles. The operands must hold while busy.

`default_nettype none

module ga2_matmul (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] base_a,
    input  wire  [11:0] base_b,
    input  wire  [ 2:0] m,       // 1..4
    input  wire  [ 6:0] k,       // 1..64
    input  wire  [ 2:0] n,       // 1..4
    input  wire         tb,
    input  wire  [11:0] lda,
    input  wire  [11:0] ldb,
    input  wire  [11:0] ldc,
    output wire         ren,
    output logic [11:0] addr_q,  // the read address while ren
    input  wire  [ 7:0] rdata,   // the low byte of the scratchpad word
    output logic        we_q,
    output logic [11:0] waddr_q,
    output wire  [31:0] wdata,
    output wire         done
);

  typedef enum logic [3:0] {
    StIdle,
    StSetup,
    StLoadA,
    StTurn,
    StLoadB,
    StDrain,
    StClear,
    StStream,
    StWrite,
    StFlush,
    StDone
  } state_e;

  state_e state_q;

  // One address generator serves the three matrices: it walks `inner` words at a stride, then
  // starts again one `outer` stride after the last start. Strides add up, so nothing multiplies.
  logic [11:0] base_q;
  logic [1:0] outer_q;
  logic [5:0] inner_q;

  wire in_load_a = state_q == StLoadA;
  wire in_load_b = state_q == StLoadB;
  wire in_write = state_q == StWrite;
  wire in_stream = state_q == StStream;

  wire [11:0] inner_stride = in_load_b && !tb ? ldb : 12'd1;
  wire [11:0] outer_stride = in_write ? ldc : in_load_a ? lda : tb ? ldb : 12'd1;
  wire [5:0] inner_last = in_write ? 6'(n - 3'd1) : 6'(k - 7'd1);
  wire [1:0] outer_last = in_load_b ? 2'(n - 3'd1) : 2'(m - 3'd1);
  assign ren = in_load_a || in_load_b;

  wire row_end = inner_q == inner_last;

  // The word that is on its way from the scratchpad: its bank, and its place there (skewed, as the
  // bank asks for). What a bank takes before an operand is loaded does not matter.
  logic to_a_q;
  logic to_b_q;
  logic [1:0] lane_q;
  logic [5:0] place_q;

  // Streaming: step t of K + M + N - 1. The operands of index k meet in cell (r, c) at step
  // k + r + c + 1, so a cell's distance from the corner alone says when it works.
  logic [6:0] t_q;
  logic [6:0] wave_q;
  wire first = t_q == '0;
  wire [6:0] t_last = k + 7'(m) + 7'(n) - 7'd2;

  wire [31:0] a_in;
  wire [31:0] b_in;

  wire active = rst || start || state_q != StIdle;

  assign done = state_q == StDone;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        state_q <= StIdle;
        t_q <= '0;
        we_q <= 1'b0;
      end else begin
        to_a_q <= in_load_a;
        to_b_q <= in_load_b;
        we_q <= in_write;
        case (state_q)
          StLoadA, StLoadB: begin
            lane_q <= outer_q;
            place_q <= inner_q + 6'(outer_q);
            if (row_end) begin
              inner_q <= '0;
              outer_q <= outer_q + 2'd1;
              base_q <= base_q + outer_stride;
              addr_q <= base_q + outer_stride;
              if (outer_q == outer_last) begin
                outer_q <= '0;
                state_q <= in_load_a ? StTurn : StDrain;
              end
            end else begin
              inner_q <= inner_q + 6'd1;
              addr_q <= addr_q + inner_stride;
            end
          end
          StStream: begin
            t_q <= t_q + 7'd1;
            wave_q <= {first ? 6'd0 : wave_q[5:0], t_q < k};
            if (t_q == t_last) begin
              t_q <= '0;
              base_q <= dst;
              addr_q <= dst;
              state_q <= StWrite;
            end
          end
          StWrite: begin
            waddr_q <= addr_q;
            if (row_end) begin
              inner_q <= '0;
              outer_q <= outer_q + 2'd1;
              base_q <= base_q + outer_stride;
              addr_q <= base_q + outer_stride;
              if (outer_q == outer_last) state_q <= StFlush;
            end else begin
              inner_q <= inner_q + 6'd1;
              addr_q <= addr_q + inner_stride;
            end
          end
          StSetup: begin
            outer_q <= '0;
            inner_q <= '0;
            base_q <= base_a;
            addr_q <= base_a;
            state_q <= StLoadA;
          end
          StTurn: begin
            base_q <= base_b;
            addr_q <= base_b;
            state_q <= StLoadB;
          end
          StDrain: state_q <= StClear;
          StClear: state_q <= StStream;  // the first step clears the array
          StFlush: begin
`ifdef GA2_ASSERT
            assert (outer_q == 2'(m)) else $error("%0d rows written of %0d", outer_q, m);
`endif
            state_q <= StDone;
          end
          StDone: state_q <= StIdle;
          default: begin  // idle, and active because of start
`ifdef GA2_ASSERT
            assert (state_q == StIdle) else $error("there is no state %0d", state_q);
            assert (m != '0 && m <= 3'd4 && k != '0 && k <= 7'd64 && n != '0 && n <= 3'd4)
            else $error("shape %0d x %0d x %0d does not fit the array", m, k, n);
`endif
            state_q <= StSetup;
          end
        endcase
      end
    end
  end

  ga2_operand_bank u_bank_a (
      .clk,
      .we(to_a_q),
      .wlane(lane_q),
      .waddr(place_q),
      .wdata(rdata),
      .raddr(t_q[5:0]),
      .rdata(a_in)
  );

  ga2_operand_bank u_bank_b (
      .clk,
      .we(to_b_q),
      .wlane(lane_q),
      .waddr(place_q),
      .wdata(rdata),
      .raddr(t_q[5:0]),
      .rdata(b_in)
  );

  ga2_systolic_array u_array (
      .clk,
      .step(in_stream),
      .first,
      .a_in,
      .b_in,
      .wave(wave_q),
      .read(in_write),
      .read_row(outer_q),
      .read_col(inner_q[1:0]),
      .sum(wdata)
  );

`ifdef FORMAL
`include "ga2_matmul.svh"
`endif

endmodule

`default_nettype wire
