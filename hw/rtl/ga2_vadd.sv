// SPDX-License-Identifier: Apache-2.0
//
// VADD: saturating int8 addition of two vectors. The single read port alternates between the
// sources, so a word takes two cycles: busy for 2*len + 2. The operands are read in the start
// cycle only.

`default_nettype none

module ga2_vadd (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] src1,
    input  wire  [11:0] src2,
    input  wire  [11:0] len,
    output logic        ren_q,
    output logic [11:0] raddr_q,
    input  wire  [ 7:0] rdata,   // the low byte of the scratchpad word
    output logic        we_q,
    output logic [11:0] waddr_q,
    output wire  [31:0] wdata,
    output wire         done
);

  logic [11:0] other_q;  // the next address in the source that is not being read
  logic [12:0] left_q;  // reads not yet made, the one on the port included
  logic data_q;  // a word arrives from the scratchpad in this cycle
  logic second_q;  // it is the second operand
  logic [7:0] first_q;
  logic signed [8:0] sum_q;
  logic signed [7:0] clamped;

  // Clamps the latched sum, which is still while other units read the scratchpad.
  always_comb begin
    if (sum_q > 9'sd127) clamped = 8'sd127;
    else if (sum_q < -9'sd127) clamped = -8'sd127;
    else clamped = 8'(sum_q);
  end

  assign wdata = 32'(clamped);
  assign done = we_q && !data_q;

  // No flop changes in other cycles.
  wire active = rst || start || ren_q || data_q || we_q;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        ren_q <= 1'b0;
        data_q <= 1'b0;
        we_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (!ren_q && !data_q && !we_q) else $error("started while it works");
        assert (len != '0) else $error("started with nothing to add");
`endif
        ren_q <= 1'b1;
        raddr_q <= src1;
        other_q <= src2;
        left_q <= {len, 1'b0};
        second_q <= 1'b0;
        waddr_q <= dst;
      end else begin
        if (ren_q) begin
          raddr_q <= other_q;
          other_q <= raddr_q + 12'd1;
          left_q <= left_q - 13'd1;
          ren_q <= left_q != 13'd1;
        end
        data_q <= ren_q;
        if (data_q) begin
          second_q <= !second_q;
          if (second_q) sum_q <= {first_q[7], first_q} + {rdata[7], rdata};
          else first_q <= rdata;
        end
        we_q <= second_q;
        if (we_q) waddr_q <= waddr_q + 12'd1;
      end
    end
  end

`ifdef FORMAL
`include "ga2_vadd.svh"
`endif

endmodule

`default_nettype wire
