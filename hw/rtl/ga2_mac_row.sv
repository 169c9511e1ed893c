// SPDX-License-Identifier: Apache-2.0
//
// One row of the systolic array: four output-stationary int8 multiply-accumulate cells. Bytes of A
// enter on the left and move one cell right a step; a row of B's bytes is taken over from above
// and handed down a step later. One process serves the four cells: an event-driven simulator pays
// for each process in every cycle.

`default_nettype none

module ga2_mac_row (
    input  wire         clk,
    input  wire         step,
    input  wire         first,     // of a product: the step that clears the sums
    input  wire  [ 7:0] a_in,
    input  wire  [31:0] b_in,      // byte c enters cell c
    output logic [31:0] b_q,
    input  wire  [ 3:0] meet,      // cell c's two bytes belong together: multiply, accumulate
    input  wire         read,
    input  wire  [ 1:0] read_col,
    output logic [31:0] sum_q      // the sum asked for in the last `read` cycle
);

  logic [31:0] a_q;  // byte c is in cell c
  logic [31:0] acc0_q;
  logic [31:0] acc1_q;
  logic [31:0] acc2_q;
  logic [31:0] acc3_q;

  always_ff @(posedge clk) begin
    if (step) begin
      a_q <= {a_q[23:0], a_in};
      b_q <= b_in;
      if (first) begin
        acc0_q <= '0;
        acc1_q <= '0;
        acc2_q <= '0;
        acc3_q <= '0;
      end else begin
        if (meet[0]) acc0_q <= acc0_q + 32'($signed(a_q[7:0]) * $signed(b_q[7:0]));
        if (meet[1]) acc1_q <= acc1_q + 32'($signed(a_q[15:8]) * $signed(b_q[15:8]));
        if (meet[2]) acc2_q <= acc2_q + 32'($signed(a_q[23:16]) * $signed(b_q[23:16]));
        if (meet[3]) acc3_q <= acc3_q + 32'($signed(a_q[31:24]) * $signed(b_q[31:24]));
      end
    end
    if (read) begin
      case (read_col)
        2'd0: sum_q <= acc0_q;
        2'd1: sum_q <= acc1_q;
        2'd2: sum_q <= acc2_q;
        default: sum_q <= acc3_q;
      endcase
    end
  end

`ifdef FORMAL
`include "ga2_mac_row.svh"
`endif

endmodule

`default_nettype wire
