// SPDX-License-Identifier: Apache-2.0
// UNPACK is busy for 10*len + 1 cycles and idle otherwise. Under GA2_EFFECT: what it leaves in any word
// of the scratchpad.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [8:0] f_len;
  logic [8:0] f_word;  // words finished
  logic [3:0] f_phase;  // cycle within a word
  wire f_working = f_cycle != '0 && f_word != f_len;
  wire [13:0] f_last = ga2_spec::unpack_time(f_len);

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

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || (len[8:0] != '0 && ga2_spec::fits(dst, {len, 3'd0})
        && ga2_spec::fits(src, 12'(len)) && ga2_spec::apart(dst, {len, 3'd0}, src, 12'(len))))
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
    f_ended <= done_q && !rst;
  end

  wire [11:0] f_index = f_target - f_dst;
  wire f_hit = f_index < {f_len, 3'd0};
  wire f_tied = f_hit && f_at == f_src + 12'(f_index[11:3]);
  wire [31:0] f_result = 32'($signed(ga2_spec::int4(f_old_source, f_index[2:0])));

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_cycle == '0 || !f_asked || rdata == f_answer)

    `GA2_ENSURE(result_is_written, !(f_ended && f_tied) || f_now == f_result)
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(negative, f_ended && f_tied && f_index == 12'd9 && f_now == -32'sd3)
    `GA2_COVER(next_to_it, f_ended && f_tied && f_dst == f_src + 12'd1)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  wire f_past = f_word > f_index[11:3] || (f_word == f_index[11:3] && f_phase > 4'(f_index[2:0]) + 4'd2);
  wire [2:0] f_write = f_phase < 4'd2 ? 3'd0 : 3'(f_phase - 4'd2);
  always @* if (f_ready && f_cycle != '0) begin
    assert (ga2_spec::fits(f_dst, {f_len, 3'd0}));
    assert (ga2_spec::fits(f_src, 12'(f_len)));
    assert (ga2_spec::apart(f_dst, {f_len, 3'd0}, f_src, 12'(f_len)));
    assert (raddr_q == f_src + 12'(f_word) + (f_phase == 4'd0 ? 12'd0 : 12'd1));
    assert (waddr_q == f_dst + {f_word, f_write});
    if (f_tied) begin
      assert (f_now_source == f_old_source);
      if (f_word == f_index[11:3] && f_phase == 4'd1) assert (f_asked && f_answer == f_old_source);
      if (f_word == f_index[11:3] && f_phase >= 4'd2) assert (word_q == f_old_source >> {f_write, 2'd0});
      if (f_past) assert (f_now == f_result);
    end
    if (!f_hit) assert (f_now == f_old);
  end
`endif
`endif
