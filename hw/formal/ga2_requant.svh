// SPDX-License-Identifier: Apache-2.0
// RQ is busy for len + 2 cycles and idle otherwise. Under GA2_EFFECT: what it leaves in any word of the
// scratchpad. The requantizer is cut there: all that is said of it is that equal arguments give equal
// results; which ones, ga2_requantizer.svh says.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  logic [23:0] f_m;
  logic [5:0] f_s;
  logic f_relu;
  wire [13:0] f_last = ga2_spec::rq_time(f_len);

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) begin
      f_len <= len;
      f_m <= m;
      f_s <= s;
      f_relu <= relu;
    end
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
    assert (we_q == (f_cycle >= 14'd3));
    assert (!ren_q || 14'(left_q) == 14'(f_len) - f_cycle + 14'd1);
  end
`endif

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || (ga2_spec::fits(dst, len) && ga2_spec::fits(src, len)
        && ga2_spec::in_place_or_apart(dst, src, len)))
    `GA2_REQUIRE(operands_hold, f_cycle == '0 || (m == f_m && s == f_s && relu == f_relu))
  end
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_target) `GA2_OPEN([11:0], f_at)
  (* anyseq *) logic [7:0] f_any;
  logic [11:0] f_dst, f_src;
  logic [7:0] f_q;  // requantize(f_old_source, f_m, f_s, f_relu)
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
      f_q <= f_any;
    end
    f_ended <= done && !rst;
  end

  wire [11:0] f_index = f_target - f_dst;
  wire f_hit = f_index < f_len;
  wire f_tied = f_hit && f_at == f_src + f_index;
  wire [31:0] f_acc = we_q ? acc_q : 32'd0;  // what the requantizer gets

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_cycle == '0 || !f_asked || rdata == f_answer)
    `GA2_ASSUME(requantizer_is_a_function, !(f_cycle != '0 && f_acc == f_old_source && m == f_m && s == f_s
        && relu == f_relu) || q == f_q)

    `GA2_ENSURE(result_is_written, !(f_ended && f_tied) || f_now == 32'($signed(f_q)))
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(second_of_two, f_ended && f_tied && f_index == 12'd1 && f_len == 12'd2 && f_now == -32'sd5)
    `GA2_COVER(in_place, f_ended && f_tied && f_target == f_at && f_now != f_old)
    `GA2_COVER(apart, f_ended && f_tied && f_target == f_at + f_len && f_len == 12'd2)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready && f_cycle != '0) begin
    assert (ga2_spec::fits(f_dst, f_len));
    assert (ga2_spec::fits(f_src, f_len));
    assert (ga2_spec::in_place_or_apart(f_dst, f_src, f_len));
    if (ren_q) assert (raddr_q == f_src + 12'(f_cycle - 14'd1));
    assert (waddr_q == f_dst + (f_cycle < 14'd3 ? 12'd0 : 12'(f_cycle - 14'd3)));
    if (f_tied) begin
      if (f_cycle <= 14'(f_index) + 14'd1) assert (f_now_source == f_old_source);
      if (f_cycle == 14'(f_index) + 14'd2) assert (f_asked && f_answer == f_old_source);
      if (f_cycle == 14'(f_index) + 14'd3) assert (acc_q == f_old_source);
      if (f_cycle > 14'(f_index) + 14'd3) assert (f_now == 32'($signed(f_q)));
    end
    if (!f_hit) assert (f_now == f_old);
  end
`endif
`endif
