// SPDX-License-Identifier: Apache-2.0
//
// Four operand memories of 64 bytes, one a row of A (or a column of B). Filled a byte a cycle;
// read skewed: at step t lane r delivers byte t - r, one cycle later, so that the operands enter
// the systolic array on a diagonal.

`default_nettype none

module ga2_operand_bank (
    input  wire         clk,
    input  wire         rst,
    input  wire         we,
    input  wire  [ 1:0] wlane,
    input  wire  [ 5:0] windex,
    input  wire  [ 7:0] wdata,
    input  wire         step,      // one step of the skewed read
    input  wire  [ 5:0] rindex,    // t, modulo 64
    input  wire  [ 3:0] lane_en,   // the lanes that have a byte to deliver at this step
    output logic [31:0] rdata_q,   // byte r is lane r's
    output logic [ 3:0] rvalid_q
);

  logic [7:0] lane0[64];
  logic [7:0] lane1[64];
  logic [7:0] lane2[64];
  logic [7:0] lane3[64];

  always_ff @(posedge clk) begin
    if (we) begin
      case (wlane)
        2'd0: lane0[windex] <= wdata;
        2'd1: lane1[windex] <= wdata;
        2'd2: lane2[windex] <= wdata;
        default: lane3[windex] <= wdata;
      endcase
    end
    if (rst) rvalid_q <= '0;
    else if (step) begin
      rvalid_q <= lane_en;
      if (lane_en[0]) rdata_q[7:0] <= lane0[rindex];
      if (lane_en[1]) rdata_q[15:8] <= lane1[6'(rindex - 6'd1)];
      if (lane_en[2]) rdata_q[23:16] <= lane2[6'(rindex - 6'd2)];
      if (lane_en[3]) rdata_q[31:24] <= lane3[6'(rindex - 6'd3)];
    end
  end

endmodule

`default_nettype wire
