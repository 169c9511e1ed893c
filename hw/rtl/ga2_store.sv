// SPDX-License-Identifier: Apache-2.0
//
// ST: reads the scratchpad a word a cycle and writes each word to the external memory two cycles
// later. Busy for len + 2 cycles. `dst`, `src` and `len` are read in the start cycle only.

`default_nettype none

module ga2_store (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] src,
    input  wire  [15:0] dst,
    input  wire  [11:0] len,
    output logic        ren_q,
    output logic [11:0] raddr_q,
    input  wire  [31:0] rdata,
    output logic        wr_valid_q,
    output logic [15:0] wr_addr_q,
    output logic [31:0] wr_data_q,
    output wire         done
);

  logic [11:0] left_q;  // reads not yet made, the one on the port included
  logic data_q;  // a word arrives from the scratchpad in this cycle

  assign done = wr_valid_q && !data_q;

  // No flop changes in other cycles.
  wire active = rst || start || ren_q || data_q || wr_valid_q;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        ren_q <= 1'b0;
        data_q <= 1'b0;
        wr_valid_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (!ren_q && !data_q && !wr_valid_q) else $error("started while it works");
        assert (len != '0) else $error("started with nothing to store");
`endif
        ren_q <= 1'b1;
        raddr_q <= src;
        left_q <= len;
        wr_addr_q <= dst;
      end else begin
        if (ren_q) begin
          raddr_q <= raddr_q + 12'd1;
          left_q <= left_q - 12'd1;
          ren_q <= left_q != 12'd1;
        end
        data_q <= ren_q;
        if (data_q) wr_data_q <= rdata;
        wr_valid_q <= data_q;
        if (wr_valid_q) wr_addr_q <= wr_addr_q + 16'd1;
      end
    end
  end

`ifdef FORMAL
`include "ga2_store.svh"
`endif

endmodule

`default_nettype wire
