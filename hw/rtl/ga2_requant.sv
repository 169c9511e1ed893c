// SPDX-License-Identifier: Apache-2.0
//
// RQ: streams a vector through the requantizer, a word a cycle: read, latch, write.
// Busy for len + 2 cycles. `m`, `s` and `relu` must hold while the unit is busy.

`default_nettype none

module ga2_requant (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] src,
    input  wire  [11:0] len,
    input  wire  [23:0] m,
    input  wire  [ 5:0] s,
    input  wire         relu,
    output logic        ren_q,
    output logic [11:0] raddr_q,
    input  wire  [31:0] rdata,
    output logic        we_q,
    output logic [11:0] waddr_q,
    output wire  [31:0] wdata,
    output wire         done
);

  logic [11:0] left_q;  // reads not yet made, the one on the port included
  logic data_q;  // a word arrives from the scratchpad in this cycle
  logic [31:0] acc_q;
  wire [7:0] q;

  assign wdata = 32'($signed(q));
  assign done = we_q && !data_q;

  // The gate in front keeps the multiplier still while other units read the scratchpad.
  ga2_requantizer u_requantizer (
      .acc(we_q ? acc_q : 32'd0),
      .m,
      .s,
      .relu,
      .q
  );

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
        assert (len != '0) else $error("started with nothing to requantize");
`endif
        ren_q <= 1'b1;
        raddr_q <= src;
        left_q <= len;
        waddr_q <= dst;
      end else begin
        if (ren_q) begin
          raddr_q <= raddr_q + 12'd1;
          left_q <= left_q - 12'd1;
          ren_q <= left_q != 12'd1;
        end
        data_q <= ren_q;
        acc_q <= rdata;
        we_q <= data_q;
        if (we_q) waddr_q <= waddr_q + 12'd1;
      end
    end
  end

`ifdef FORMAL
`include "ga2_requant.svh"
`endif

endmodule

`default_nettype wire
