// SPDX-License-Identifier: Apache-2.0
// UNPACK is busy for 10*len + 1 cycles and idle otherwise.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [8:0] f_len;
  logic [8:0] f_word;  // words finished
  logic [3:0] f_phase;  // cycle within a word
  wire f_working = f_cycle != '0 && f_word != f_len;
  wire [13:0] f_last = 14'd10 * 14'(f_len) + 14'd1;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) f_len <= len;
    if (rst || start) begin
      f_word <= '0;
      f_phase <= '0;
    end else if (f_working) begin
      f_phase <= f_phase == 4'd9 ? 4'd0 : f_phase + 4'd1;
      if (f_phase == 4'd9) f_word <= f_word + 9'd1;
    end
  end

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_cycle == '0 && len != '0))

    `GA2_ENSURE(busy_time, done_q == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren_q || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_len != '0 && f_cycle <= f_last))

    `GA2_COVER(one_word, done_q && f_len == 9'd1)
    `GA2_COVER(several_words, done_q && f_len == 9'd2)
    `GA2_COVER(reset_at_work, rst && f_cycle > 14'd2)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready) begin
    assert (f_cycle == '0 || f_cycle == 14'd10 * 14'(f_word) + 14'(f_phase) + 14'd1);
    assert (f_phase < 4'd10 && f_word <= f_len && (f_word != f_len || f_phase == '0));
    assert (ren_q == (f_working && f_phase == 4'd0));
    assert (latch_q == (f_working && f_phase == 4'd1));
    assert (we_q == (f_working && f_phase >= 4'd2));
    assert (done_q == (f_cycle != '0 && f_word == f_len));
    assert (f_cycle == '0 || nibble_q == (we_q ? 3'(f_phase - 4'd2) : 3'd0));
    assert (!f_working || left_q == f_len - f_word);
  end
`endif
