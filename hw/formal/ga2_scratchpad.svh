// SPDX-License-Identifier: Apache-2.0
// The scratchpad, for any address: a read is answered with the word as it was, which is what was last
// written there.

`include "ga2_formal.svh"

`ifdef GA2_CHIP
  // The words that ga2_effects.svh follows.
  wire [11:0] f_at, f_from1, f_from2;
  wire [31:0] f_word = mem[f_at];
  wire [31:0] f_word1 = mem[f_from1];
  wire [31:0] f_word2 = mem[f_from2];
`else
  (* anyconst *) logic [11:0] f_at;
  wire [31:0] f_word = mem[f_at];
  logic f_began = 1'b0;
  logic f_read, f_wrote, f_idle;
  logic [31:0] f_was, f_written, f_answer;

  always @(posedge clk) begin
    f_began <= 1'b1;
    f_was <= f_word;
    f_read <= ren && raddr == f_at;
    f_idle <= !ren;
    f_answer <= rdata_q;
    f_wrote <= we && waddr == f_at;
    f_written <= wdata;
  end

  always @* if (f_began) begin
    `GA2_ENSURE(read_is_answered, !f_read || rdata_q == f_was)
    `GA2_ENSURE(answer_holds, !f_idle || rdata_q == f_answer)
    `GA2_ENSURE(write_is_kept, !f_wrote || f_word == f_written)
    `GA2_ENSURE(rest_is_kept, f_wrote || f_word == f_was)

    `GA2_COVER(read_of_written, f_read && f_was == 32'd7 && f_wrote && f_written == 32'd8)
    `GA2_COVER(held, f_idle && rdata_q == 32'd7)
  end
`endif
