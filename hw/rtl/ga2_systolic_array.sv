// SPDX-License-Identifier: Apache-2.0
//
// The 4x4 output-stationary systolic array. Bytes of A enter on the left and move one column a
// step, bytes of B enter at the top and move one row a step; a cell on the wave front adds the
// product of the two bytes it holds to its 32-bit sum, wrapping around. Cells of rows and columns
// that a product does not have compute as well; nothing reads their sums.

`default_nettype none

module ga2_systolic_array (
    input  wire        clk,
    input  wire        step,
    input  wire        first,     // of a product: the step that clears the sums
    input  wire [31:0] a_in,      // byte r enters row r
    input  wire [31:0] b_in,      // byte c enters column c
    input  wire [ 6:0] wave,      // bit r + c: the bytes that cell (r, c) holds belong together
    input  wire        read,
    input  wire [ 1:0] read_row,
    input  wire [ 1:0] read_col,
    output wire [31:0] sum        // the sum asked for in the last `read` cycle
);

  wire [31:0] b_row0, b_row1, b_row2, unused_b;
  wire [31:0] sum0, sum1, sum2, sum3;
  logic [1:0] read_row_q;

  always_ff @(posedge clk) begin
    read_row_q <= read_row;
  end

  assign sum = read_row_q == 2'd0 ? sum0
      : read_row_q == 2'd1 ? sum1
      : read_row_q == 2'd2 ? sum2
      : sum3;

  ga2_mac_row u_row0 (
      .clk,
      .step,
      .first,
      .a_in(a_in[7:0]),
      .b_in(b_in),
      .b_q(b_row0),
      .meet(wave[3:0]),
      .read,
      .read_col,
      .sum_q(sum0)
  );

  ga2_mac_row u_row1 (
      .clk,
      .step,
      .first,
      .a_in(a_in[15:8]),
      .b_in(b_row0),
      .b_q(b_row1),
      .meet(wave[4:1]),
      .read,
      .read_col,
      .sum_q(sum1)
  );

  ga2_mac_row u_row2 (
      .clk,
      .step,
      .first,
      .a_in(a_in[23:16]),
      .b_in(b_row1),
      .b_q(b_row2),
      .meet(wave[5:2]),
      .read,
      .read_col,
      .sum_q(sum2)
  );

  ga2_mac_row u_row3 (
      .clk,
      .step,
      .first,
      .a_in(a_in[31:24]),
      .b_in(b_row2),
      .b_q(unused_b),
      .meet(wave[6:3]),
      .read,
      .read_col,
      .sum_q(sum3)
  );

endmodule

`default_nettype wire
