// SPDX-License-Identifier: Apache-2.0
// A row of the array: bytes of A reach cell c in c + 1 steps, bytes of B enter and are handed down a step later; a
// cell adds up the products of the two that it holds, from the step on that clears it.

`include "ga2_formal.svh"

  logic [2:0] f_steps = '0;  // so far, at most 4
  logic [31:0] f_along, f_above;
  logic [127:0] f_sums;
  logic [31:0] f_read;
  logic f_cleared = 1'b0;
  logic f_picked = 1'b0;

  always @(posedge clk) begin
    f_picked <= f_cleared && read;
    f_read <= f_sums[32*read_col+:32];
    if (step) begin
      if (!f_steps[2]) f_steps <= f_steps + 3'd1;
      f_along <= {f_along[23:0], a_in};
      f_above <= b_in;
      f_cleared <= f_cleared || first;
      for (int j = 0; j < 4; j++)
        if (first) f_sums[32*j+:32] <= '0;
        else if (meet[j])
          f_sums[32*j+:32] <= f_sums[32*j+:32] + ga2_spec::product(a_q[8*j+:8], b_q[8*j+:8]);
    end
  end

  wire [3:0] f_moved;
  generate
    for (genvar j = 0; j < 4; j++) assign f_moved[j] = f_steps <= 3'(j) || a_q[8*j+:8] == f_along[8*j+:8];
  endgenerate

  always @* begin
    `GA2_ENSURE(bytes_move_right, &f_moved)
    `GA2_ENSURE(bytes_move_down, f_steps == '0 || b_q == f_above)
    `GA2_ENSURE(cell_adds_up, !f_picked || sum_q == f_read)

    `GA2_COVER(two_products, f_picked && f_read == -32'sd5 && f_steps == 3'd4)
    `GA2_COVER(cleared_again, f_picked && f_read == '0 && f_steps == 3'd4)
  end

`ifdef GA2_HELPERS
  always @* if (f_cleared) begin
    assert (acc0_q == f_sums[31:0]);
    assert (acc1_q == f_sums[63:32]);
    assert (acc2_q == f_sums[95:64]);
    assert (acc3_q == f_sums[127:96]);
  end
`endif
