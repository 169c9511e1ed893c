// SPDX-License-Identifier: Apache-2.0
//
// UNPACK: expands each word into its eight sign-extended nibbles, lowest first. Ten cycles a word
// (read, latch, eight writes) and one to finish: busy for 10*len + 1. The operands are read in
// the start cycle only.

`default_nettype none

module ga2_unpack (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [11:0] src,
    input  wire  [ 8:0] len,
    output logic        ren_q,
    output logic [11:0] raddr_q,
    input  wire  [31:0] rdata,
    output logic        we_q,
    output logic [11:0] waddr_q,
    output wire  [31:0] wdata,
    output logic        done_q
);

  logic latch_q;  // the word arrives from the scratchpad in this cycle
  logic [8:0] left_q;  // words not yet finished
  logic [2:0] nibble_q;
  logic [31:0] word_q;  // the nibble to write is the lowest

  assign wdata = 32'($signed(word_q[3:0]));

  // No flop changes in other cycles.
  wire active = rst || start || ren_q || latch_q || we_q || done_q;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        ren_q <= 1'b0;
        latch_q <= 1'b0;
        we_q <= 1'b0;
        done_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (!ren_q && !latch_q && !we_q && !done_q) else $error("started while it works");
        assert (len != '0) else $error("started with nothing to unpack");
`endif
        ren_q <= 1'b1;
        raddr_q <= src;
        left_q <= len;
        nibble_q <= '0;
        waddr_q <= dst;
      end else if (ren_q) begin
        ren_q <= 1'b0;
        raddr_q <= raddr_q + 12'd1;
        latch_q <= 1'b1;
      end else if (latch_q) begin
        latch_q <= 1'b0;
        word_q <= rdata;
        we_q <= 1'b1;
      end else if (we_q) begin
        waddr_q <= waddr_q + 12'd1;
        word_q <= {4'd0, word_q[31:4]};
        nibble_q <= nibble_q + 3'd1;
        if (nibble_q == 3'd7) begin
          we_q <= 1'b0;
          left_q <= left_q - 9'd1;
          ren_q <= left_q != 9'd1;
          done_q <= left_q == 9'd1;
        end
      end else begin
`ifdef GA2_ASSERT
        assert (nibble_q == '0) else $error("ended amid a word, before nibble %0d", nibble_q);
`endif
        done_q <= 1'b0;
      end
    end
  end

`ifdef FORMAL
`include "ga2_unpack.svh"
`endif

endmodule

`default_nettype wire
