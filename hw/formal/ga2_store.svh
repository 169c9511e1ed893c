// SPDX-License-Identifier: Apache-2.0
// ST is busy for len + 2 cycles and idle otherwise. Under GA2_EFFECT: what it writes outside, in
// which order, from what was in any word of the scratchpad when it started.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  wire [13:0] f_last = ga2_spec::st_time(f_len);

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
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren_q || wr_valid_q))
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
    assert (wr_valid_q == (f_cycle >= 14'd3));
    assert (!ren_q || 14'(left_q) == 14'(f_len) - f_cycle + 14'd1);
  end
`endif

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || (ga2_spec::fits(src, len)
        && ga2_spec::fits_outside(dst, len)))
  end
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_at)
  logic [11:0] f_src;
  logic [15:0] f_dst;
  wire [31:0] f_now, f_old, f_answer;
  wire f_asked;
  ga2_word u_source (.clk, .start, .address(f_at), .ren(ren_q), .raddr(raddr_q), .we(1'b0), .waddr(12'd0),
      .wdata(32'd0), .now(f_now), .old(f_old), .asked(f_asked), .answer(f_answer));

  always @(posedge clk)
    if (start) begin
      f_dst <= dst;
      f_src <= src;
    end

  wire [13:0] f_index = f_cycle - 14'd3;  // of the word that is written in this cycle
  wire f_tied = f_at == f_src + f_index[11:0];

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_cycle == '0 || !f_asked || rdata == f_answer)

    `GA2_ENSURE(writes_in_order, wr_valid_q == (f_cycle >= 14'd3)
        && (!wr_valid_q || wr_addr_q == f_dst + 16'(f_index)))
    `GA2_ENSURE(word_is_stored, !(wr_valid_q && f_tied) || wr_data_q == f_old)

    `GA2_COVER(third_word, wr_valid_q && f_tied && f_index == 14'd2 && f_len == 12'd3 && f_old == 32'd7)
    `GA2_COVER(far_away, wr_valid_q && wr_addr_q == 16'd65535 && f_at == 12'd4095 && f_tied)
  end

`ifdef GA2_HELPERS
  always @* if (f_ready && f_cycle != '0) begin
    assert (ga2_spec::fits(f_src, f_len));
    assert (ga2_spec::fits_outside(f_dst, f_len));
    if (ren_q) assert (raddr_q == f_src + 12'(f_cycle - 14'd1));
    assert (wr_addr_q == f_dst + (f_cycle < 14'd3 ? 16'd0 : 16'(f_index)));
    assert (f_now == f_old);
    if (data_q && f_at == f_src + 12'(f_cycle - 14'd2)) assert (f_asked && f_answer == f_old);
  end
`endif
`endif
