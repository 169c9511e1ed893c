// SPDX-License-Identifier: Apache-2.0
//
// A 4x4 output-stationary systolic array of int8 multiply-accumulate cells. Bytes of A enter on
// the left and move one column a step, bytes of B enter at the top and move one row a step; the
// cell where two valid bytes meet adds their product to its 32-bit sum, wrapping around.
//
// One process serves all cells, and only rows with valid bytes compute: an event-driven simulator
// then pays for the cells that work, not for sixteen idle processes in every cycle.

`default_nettype none

module ga2_systolic_array (
    input  wire         clk,
    input  wire         clear,     // zero all sums, forget all bytes under way
    input  wire         step,
    input  wire  [31:0] a_edge,    // byte r enters row r
    input  wire  [ 3:0] a_valid,
    input  wire  [31:0] b_edge,    // byte c enters column c
    input  wire  [ 3:0] col_en,    // the columns in use
    input  wire         read,
    input  wire  [ 3:0] read_cell, // {row, column}
    output logic [31:0] sum_q      // the sum asked for in the last `read` cycle
);

  logic [31:0] acc_q[16];
  logic [23:0] a_q[4];  // row r: the bytes in columns 1..3, column 1 lowest
  logic [2:0] valid_q[4];  // the same for their valid bits
  logic [95:0] b_q;  // the bytes in rows 1..3, row 1 lowest

  wire [127:0] b_at = {b_q, b_edge};  // what each row sees from above, this step

  always_ff @(posedge clk) begin
    if (clear) begin
      for (int i = 0; i < 16; i++) acc_q[i] <= '0;
      for (int r = 0; r < 4; r++) valid_q[r] <= '0;
    end else if (step) begin
      b_q <= b_at[95:0];
      for (int r = 0; r < 4; r++) begin
        if ({valid_q[r], a_valid[r]} != '0) begin
          valid_q[r] <= {valid_q[r][1:0], a_valid[r]};
          a_q[r] <= {a_q[r][15:0], a_edge[8*r+:8]};
          if (a_valid[r])
            acc_q[4*r] <= acc_q[4*r] + 32'($signed(a_edge[8*r+:8]) * $signed(b_at[32*r+:8]));
          for (int c = 1; c < 4; c++) begin
            if (valid_q[r][c-1] && col_en[c]) begin
              acc_q[4*r+c] <= acc_q[4*r+c]
                  + 32'($signed(a_q[r][8*(c-1)+:8]) * $signed(b_at[32*r+8*c+:8]));
            end
          end
        end
      end
    end
    if (read) sum_q <= acc_q[read_cell];
  end

endmodule

`default_nettype wire
