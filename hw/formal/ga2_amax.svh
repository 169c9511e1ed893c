// SPDX-License-Identifier: Apache-2.0
// AMAX is busy for len + 3 cycles and idle otherwise. Under GA2_EFFECT: what it leaves in any word of the
// scratchpad. That an index is the first maximum's is said of one source word that is left open: no
// word is greater than the best one, none before it is as great, and the best one is in its place.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  wire [13:0] f_last = ga2_spec::amax_time(f_len);

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

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || ga2_spec::fits(src, len))
  end
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_target) `GA2_OPEN([11:0], f_at)
  logic [11:0] f_dst, f_src;
  logic f_ended;  // the unit's last cycle was the one before
  wire [31:0] f_now, f_old, f_now_source, f_old_source, f_answer, unused_answer;
  wire f_asked, unused_asked;
  ga2_word u_target (.clk, .start, .address(f_target), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now), .old(f_old), .asked(unused_asked), .answer(unused_answer));
  ga2_word u_source (.clk, .start, .address(f_at), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now_source), .old(f_old_source), .asked(f_asked), .answer(f_answer));

  always @(posedge clk) begin
    if (start) begin
      f_dst <= dst;
      f_src <= src;
    end
    f_ended <= done && !rst;
  end

  wire [11:0] f_index = f_at - f_src;
  wire f_among = f_index < f_len;
  wire f_first = $signed(f_old_source) < $signed(best_q)
      || (f_old_source == best_q && f_index >= best_index_q);
  wire f_there = f_index != best_index_q || f_old_source == best_q;

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_cycle == '0 || !f_asked || rdata == f_answer)

    `GA2_ENSURE(result_is_written, !(f_ended && f_target == f_dst)
        || (f_now == 32'(best_index_q) && best_index_q < f_len))
    `GA2_ENSURE(first_maximum, !(f_ended && f_among) || (f_first && f_there))
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && f_target != f_dst) || f_now == f_old)

    `GA2_COVER(second_of_three, f_ended && f_target == f_dst && f_now == 32'd1 && f_len == 12'd3)
    `GA2_COVER(as_great, f_ended && f_among && f_index == 12'd2 && f_old_source == best_q && best_index_q == 12'd1)
    `GA2_COVER(least, f_ended && f_among && f_index == 12'd1 && best_q == 32'h8000_0000)
    `GA2_COVER(inside_source, f_ended && f_among && f_target == f_dst && f_dst == f_at)
  end

`ifdef GA2_HELPERS
  wire [13:0] f_seen = f_cycle <= 14'd2 ? 14'd0 : f_cycle - 14'd2;  // words compared
  always @* if (f_ready && f_cycle != '0) begin
    assert (ga2_spec::fits(f_src, f_len));
    assert (waddr_q == f_dst);
    if (ren_q) assert (raddr_q == f_src + 12'(f_cycle - 14'd1));
    if (f_cycle <= 14'(f_len) + 14'd2) assert (index_q == 12'(f_seen));
    if (f_seen == '0) assert (best_q == 32'h8000_0000);
    assert (best_index_q == '0 || 14'(best_index_q) < f_seen);
    assert (best_index_q < f_len);
    assert (f_now == f_old && f_now_source == f_old_source);
    if (f_among) begin
      if (f_cycle == 14'(f_index) + 14'd2) assert (f_asked && f_answer == f_old_source);
      if (14'(f_index) < f_seen) assert (f_first);
      if (14'(f_index) < f_seen) assert (f_there);
    end
  end
  always @* if (f_ready && f_ended) begin
    assert (best_index_q < f_len);
    assert (!f_among || (f_first && f_there));
  end
`endif
`endif
