// SPDX-License-Identifier: Apache-2.0
// VADD is busy for 2*len + 2 cycles and idle otherwise. Under GA2_EFFECT: what it leaves in any word of
// the scratchpad, from what was there when it started.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  wire [13:0] f_last = ga2_spec::vadd_time(f_len);

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

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || (ga2_spec::fits(dst, len) && ga2_spec::fits(src1, len)
        && ga2_spec::fits(src2, len) && ga2_spec::in_place_or_apart(dst, src1, len)
        && ga2_spec::in_place_or_apart(dst, src2, len)))
  end
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_target) `GA2_OPEN([11:0], f_at1) `GA2_OPEN([11:0], f_at2)
  logic [11:0] f_dst, f_src1, f_src2;
  logic f_ended;  // the unit's last cycle was the one before
  wire [31:0] f_now, f_old, f_now1, f_old1, f_answer1, f_now2, f_old2, f_answer2, unused_answer;
  wire f_asked1, f_asked2, unused_asked;
  ga2_word u_target (.clk, .start, .address(f_target), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now), .old(f_old), .asked(unused_asked), .answer(unused_answer));
  ga2_word u_source1 (.clk, .start, .address(f_at1), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now1), .old(f_old1), .asked(f_asked1), .answer(f_answer1));
  ga2_word u_source2 (.clk, .start, .address(f_at2), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now2), .old(f_old2), .asked(f_asked2), .answer(f_answer2));

  always @(posedge clk) begin
    if (start) begin
      f_dst <= dst;
      f_src1 <= src1;
      f_src2 <= src2;
    end
    f_ended <= done && !rst;
  end

  wire [11:0] f_index = f_target - f_dst;
  wire f_hit = f_index < f_len;
  wire f_tied = f_hit && f_at1 == f_src1 + f_index && f_at2 == f_src2 + f_index;
  wire [31:0] f_result = 32'($signed(ga2_spec::saturating_add(f_old1[7:0], f_old2[7:0])));

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_cycle == '0 || (!f_asked1 || rdata == f_answer1[7:0])
        && (!f_asked2 || rdata == f_answer2[7:0]))

    `GA2_ENSURE(result_is_written, !(f_ended && f_tied) || f_now == f_result)
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(saturated, f_ended && f_tied && f_result == 32'd127 && f_old1 == 32'd100)
    `GA2_COVER(second_of_two, f_ended && f_tied && f_index == 12'd1 && f_len == 12'd2 && f_now != f_old)
    `GA2_COVER(in_place, f_ended && f_tied && f_target == f_at1 && f_target != f_at2 && f_now != f_old)
    `GA2_COVER(apart, f_ended && f_tied && f_target == f_at1 + f_len && f_len == 12'd2)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  logic [7:0] f_added1, f_added2;  // what sum_q is made of
  always @(posedge clk)
    if (data_q && second_q) begin
      f_added1 <= first_q;
      f_added2 <= rdata;
    end
  wire [12:0] f_half = f_cycle[13:1];
  wire [12:0] f_writes = f_cycle < 14'd3 ? 13'd0 : 13'((f_cycle - 14'd3) >> 1);
  wire [13:0] f_twice = {1'b0, f_index, 1'b0};
  wire f_works = f_cycle != '0;
  always @* if (f_ready) begin
    if (f_works) begin
      assert (ga2_spec::fits(f_dst, f_len));
      assert (ga2_spec::fits(f_src1, f_len));
      assert (ga2_spec::fits(f_src2, f_len));
      assert (ga2_spec::in_place_or_apart(f_dst, f_src1, f_len));
      assert (ga2_spec::in_place_or_apart(f_dst, f_src2, f_len));
      assert (waddr_q == f_dst + f_writes[11:0]);
      if (ren_q) begin
        assert (raddr_q == (f_cycle[0] ? f_src1 + f_half[11:0] : f_src2 + f_half[11:0] - 12'd1));
        assert (other_q == (f_cycle[0] ? f_src2 + f_half[11:0] : f_src1 + f_half[11:0]));
      end
      if (we_q) assert (sum_q == {f_added1[7], f_added1} + {f_added2[7], f_added2});
      if (f_tied) begin
        if (f_cycle <= f_twice + 14'd1) assert (f_now1 == f_old1);
        if (f_cycle <= f_twice + 14'd2) assert (f_now2 == f_old2);
        if (f_cycle == f_twice + 14'd2) assert (f_asked1 && f_answer1 == f_old1);
        if (f_cycle == f_twice + 14'd3) assert (f_asked2 && f_answer2 == f_old2 && first_q == f_old1[7:0]);
        if (f_cycle == f_twice + 14'd4) assert (f_added1 == f_old1[7:0] && f_added2 == f_old2[7:0]);
        if (f_cycle > f_twice + 14'd4) assert (f_now == f_result);
      end
      if (!f_hit) assert (f_now == f_old);
    end
    assert (!f_ended || f_len != '0);
  end
`endif
`endif
