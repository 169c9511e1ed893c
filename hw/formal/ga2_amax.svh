// SPDX-License-Identifier: Apache-2.0
// AMAX is busy for len + 3 cycles and idle otherwise.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  wire [13:0] f_last = 14'(f_len) + 14'd3;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) f_len <= len;
  end

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_cycle == '0 && len != '0))

    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren_q || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_len != '0 && f_cycle <= f_last))

    `GA2_COVER(one_word, done && f_len == 12'd1)
    `GA2_COVER(several_words, done && f_len == 12'd3)
    `GA2_COVER(reset_at_work, rst && f_cycle > 14'd2)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready) begin
    assert (ren_q == (f_cycle >= 14'd1 && f_cycle <= 14'(f_len)));
    assert (data_q == (f_cycle >= 14'd2 && f_cycle <= 14'(f_len) + 14'd1));
    assert (settle_q == (f_cycle != '0 && f_cycle == 14'(f_len) + 14'd2));
    assert (we_q == (f_cycle != '0 && f_cycle == f_last));
    assert (!ren_q || 14'(left_q) == 14'(f_len) - f_cycle + 14'd1);
  end
`endif
