// SPDX-License-Identifier: Apache-2.0
// SM is busy for 3*len + 47 cycles and idle otherwise. The divider is cut: it answers 40 cycles after
// its start, which ga2_divider.svh proves (latency_40).

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  logic [5:0] f_divide;  // cycles since the divider's start, 0: not dividing
  wire [13:0] f_len1 = 14'(f_len);
  wire [13:0] f_len2 = {1'b0, f_len, 1'b0};
  wire [13:0] f_len3 = f_len1 + f_len2;
  wire [13:0] f_last = 14'd3 * 14'(f_len) + 14'd47;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) f_len <= len;
    if (rst) f_divide <= '0;
    else if (state_q == StStartDiv) f_divide <= 6'd1;
    else if (f_divide == 6'd40) f_divide <= '0;
    else if (f_divide != '0) f_divide <= f_divide + 6'd1;
  end

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_cycle == '0 && len != '0))
    `GA2_REQUIRE(operands_hold, f_cycle == '0 || len == f_len)
    `GA2_ASSUME(divider_takes_40, divided == (f_divide == 6'd40))

    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren_q || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_len != '0 && f_cycle <= f_last))

    `GA2_COVER(one_word, done && f_len == 12'd1)
    `GA2_COVER(several_words, done && f_len == 12'd2)
    `GA2_COVER(reset_at_work, rst && f_cycle > 14'd2)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready) begin
    assert (state_q == (f_cycle == '0 ? StIdle : f_cycle <= f_len1 ? StMax
        : f_cycle <= f_len2 + 14'd2 ? StSum : f_cycle == f_len2 + 14'd3 ? StStartDiv
        : f_cycle <= f_len2 + 14'd43 ? StDivide : StScale));
    assert (ren_q == (f_cycle != '0 && (f_cycle <= f_len2
        || (f_cycle > f_len2 + 14'd43 && f_cycle <= f_len3 + 14'd43))));
    assert (data_q == (f_cycle >= 14'd2 && (f_cycle <= f_len2 + 14'd1
        || (f_cycle > f_len2 + 14'd44 && f_cycle <= f_len3 + 14'd44))));
    assert (exp_data_q == (f_cycle != '0 && ((f_cycle > f_len1 + 14'd1 && f_cycle <= f_len2 + 14'd1)
        || (f_cycle > f_len2 + 14'd44 && f_cycle <= f_len3 + 14'd44))));
    assert (exp_q == (f_cycle != '0 && ((f_cycle > f_len1 + 14'd2 && f_cycle <= f_len2 + 14'd2)
        || (f_cycle > f_len2 + 14'd45 && f_cycle <= f_len3 + 14'd45))));
    assert (scale_q == (f_cycle > f_len2 + 14'd46 && f_cycle <= f_len3 + 14'd46 && f_cycle != '0));
    assert (we_q == (f_cycle > f_len2 + 14'd47 && f_cycle != '0));
    if (f_cycle != '0)
      assert (14'(left_q) == (f_cycle <= f_len1 ? f_len1 - f_cycle + 14'd1
          : f_cycle <= f_len2 ? f_len2 - f_cycle + 14'd1
          : f_cycle <= f_len2 + 14'd43 ? f_len1
          : f_cycle <= f_len3 + 14'd43 ? f_len3 + 14'd43 - f_cycle + 14'd1 : f_len1));
    assert (f_divide == (state_q == StDivide ? 6'(f_cycle - f_len2 - 14'd3) : 6'd0));
  end
`endif

`ifdef GA2_EFFECT
  (* anyconst *) logic [11:0] f_target;
  logic [11:0] f_dst;
  logic f_ended;  // the unit's last cycle was the one before
  wire [31:0] f_now, f_old, unused_answer;
  wire unused_asked;
  ga2_word u_target (.clk, .start, .address(f_target), .ren(ren_q), .raddr(raddr_q), .we(we_q), .waddr(waddr_q),
      .wdata, .now(f_now), .old(f_old), .asked(unused_asked), .answer(unused_answer));

  always @(posedge clk) begin
    if (start) f_dst <= dst;
    f_ended <= done && !rst;
  end

  wire f_hit = 12'(f_target - f_dst) < f_len;
  wire f_write = f_cycle != '0 && f_cycle > f_len2 + 14'd47;
  wire [11:0] f_place = f_dst + (f_write ? 12'(f_cycle - f_len2 - 14'd48) : 12'd0);

  always @* if (f_ready) begin
    `GA2_ENSURE(writes_in_order, we_q == f_write && (!we_q || waddr_q == f_place))
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(second_of_two, f_ended && f_hit && f_target == f_dst + 12'd1 && f_len == 12'd2 && f_now != f_old)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready && f_cycle != '0) begin
    assert (waddr_q == f_place);
    if (!f_hit) assert (f_now == f_old);
  end
`endif
`endif
