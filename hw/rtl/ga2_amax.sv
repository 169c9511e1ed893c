// SPDX-License-Identifier: Apache-2.0
//
// AMAX: the index of the first maximum of a vector of signed 32-bit words. A word a cycle, then
// one cycle to settle and one to write: busy for len + 3. The operands are read in the start
// cycle only.

`default_nettype none

module ga2_amax (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] src,
    input  wire  [11:0] len,
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
  logic settle_q;
  logic signed [31:0] best_q;
  logic [11:0] best_index_q;
  logic [11:0] index_q;  // of the arriving word

  assign wdata = {20'd0, best_index_q};
  assign done = we_q;

  // No flop changes in other cycles.
  wire active = rst || start || ren_q || data_q || settle_q || we_q;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        ren_q <= 1'b0;
        data_q <= 1'b0;
        settle_q <= 1'b0;
        we_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (!ren_q && !data_q && !settle_q && !we_q) else $error("started while it works");
        assert (len != '0) else $error("started with nothing to search");
`endif
        ren_q <= 1'b1;
        raddr_q <= src;
        left_q <= len;
        // The least value at index 0: nothing has to be special about the first word, since only
        // a strictly greater one replaces it.
        best_q <= 32'sh8000_0000;
        best_index_q <= '0;
        index_q <= '0;
        waddr_q <= dst;
      end else begin
        if (ren_q) begin
          raddr_q <= raddr_q + 12'd1;
          left_q <= left_q - 12'd1;
          ren_q <= left_q != 12'd1;
        end
        data_q <= ren_q;
        if (data_q) begin
          index_q <= index_q + 12'd1;
          if ($signed(rdata) > best_q) begin
            best_q <= rdata;
            best_index_q <= index_q;
          end
        end
        settle_q <= data_q && !ren_q;
        we_q <= settle_q;
`ifdef GA2_ASSERT
        if (we_q) begin
          assert (best_index_q < index_q)
          else $error("the maximum is at %0d of %0d", best_index_q, index_q);
        end
`endif
      end
    end
  end

`ifdef FORMAL
`include "ga2_amax.svh"
`endif

endmodule

`default_nettype wire
