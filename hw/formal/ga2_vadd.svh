// SPDX-License-Identifier: Apache-2.0
// VADD is busy for 2*len + 2 cycles and idle otherwise.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  wire [13:0] f_last = {1'b0, f_len, 1'b0} + 14'd2;

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
    assert (ren_q == (f_cycle >= 14'd1 && f_cycle <= {1'b0, f_len, 1'b0}));
    assert (data_q == (f_cycle >= 14'd2 && f_cycle < f_last));
    assert (f_cycle == '0 || second_q == (data_q && f_cycle[0]));
    assert (we_q == (f_cycle >= 14'd4 && !f_cycle[0]));
    assert (!ren_q || 14'(left_q) == {1'b0, f_len, 1'b0} - f_cycle + 14'd1);
  end
`endif
