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
    output logic        ren_q,
    output logic [11:0] addr_q,  // the read address while ren_q
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
  wire walk = in_load_a || in_load_b || in_write;

  // The bank address of the word that is on its way from the scratchpad.
  logic to_a_q;
  logic to_b_q;
  logic [1:0] lane_q;
  logic [5:0] index_q;

  // Streaming: step t of K + M + N - 1, and which lanes are fed at this step.
  logic [6:0] t_q;
  logic [3:0] feed_q;
  wire [6:0] t_last = k + 7'(m) + 7'(n) - 7'd2;
  wire [3:0] row_en = {m[2], m[2] || &m[1:0], |m[2:1], 1'b1};
  wire [3:0] col_en = {n[2], n[2] || &n[1:0], |n[2:1], 1'b1};

  wire [31:0] a_edge;
  wire [31:0] b_edge;
  wire [3:0] a_valid;
  wire [3:0] unused_b_valid;  // a byte of A tells the array when to multiply

  assign done = state_q == StDone;

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= StIdle;
      ren_q <= 1'b0;
      addr_q <= '0;
      base_q <= '0;
      outer_q <= '0;
      inner_q <= '0;
      to_a_q <= 1'b0;
      to_b_q <= 1'b0;
      lane_q <= '0;
      index_q <= '0;
      t_q <= '0;
      feed_q <= '0;
      we_q <= 1'b0;
      waddr_q <= '0;
    end else if (start) begin
      state_q <= StSetup;
    end else if (state_q != StIdle) begin
      if (walk) begin
        if (inner_q == inner_last) begin
          inner_q <= '0;
          outer_q <= outer_q + 2'd1;
          base_q <= base_q + outer_stride;
          addr_q <= base_q + outer_stride;
          if (outer_q == outer_last) begin
            outer_q <= '0;
            ren_q <= 1'b0;
            state_q <= in_load_a ? StTurn : in_load_b ? StDrain : StFlush;
          end
        end else begin
          inner_q <= inner_q + 6'd1;
          addr_q <= addr_q + inner_stride;
        end
        lane_q <= outer_q;
        index_q <= inner_q;
      end
      to_a_q <= in_load_a;
      to_b_q <= in_load_b;
      we_q <= in_write;
      if (in_write) waddr_q <= addr_q;

      case (state_q)
        StSetup: begin
          base_q <= base_a;
          addr_q <= base_a;
          ren_q <= 1'b1;
          state_q <= StLoadA;
        end
        StTurn: begin
          base_q <= base_b;
          addr_q <= base_b;
          ren_q <= 1'b1;
          state_q <= StLoadB;
        end
        StDrain: state_q <= StClear;
        StClear: begin
          t_q <= '0;
          feed_q <= 4'b0001;
          state_q <= StStream;
        end
        StStream: begin
          t_q <= t_q + 7'd1;
          feed_q <= {feed_q[2:0], t_q + 7'd1 < k};
          if (t_q == t_last) begin
            base_q <= dst;
            addr_q <= dst;
            state_q <= StWrite;
          end
        end
        StFlush: state_q <= StDone;
        StDone: state_q <= StIdle;
        default: ;
      endcase
    end
  end

  ga2_operand_bank u_bank_a (
      .clk,
      .rst,
      .we(to_a_q),
      .wlane(lane_q),
      .windex(index_q),
      .wdata(rdata),
      .step(in_stream),
      .rindex(t_q[5:0]),
      .lane_en(feed_q & row_en),
      .rdata_q(a_edge),
      .rvalid_q(a_valid)
  );

  ga2_operand_bank u_bank_b (
      .clk,
      .rst,
      .we(to_b_q),
      .wlane(lane_q),
      .windex(index_q),
      .wdata(rdata),
      .step(in_stream),
      .rindex(t_q[5:0]),
      .lane_en(feed_q & col_en),
      .rdata_q(b_edge),
      .rvalid_q(unused_b_valid)
  );

  ga2_systolic_array u_array (
      .clk,
      .clear(state_q == StClear),
      .step(in_stream),
      .a_edge,
      .a_valid,
      .b_edge,
      .col_en,
      .read(in_write),
      .read_cell({outer_q, inner_q[1:0]}),
      .sum_q(wdata)
  );

endmodule

`default_nettype wire
