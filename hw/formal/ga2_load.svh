// SPDX-License-Identifier: Apache-2.0
// LD is busy for len + LAT + 1 cycles and idle otherwise, LAT being any constant in 1..64. Under GA2_EFFECT:
// what it asks for, in which order, and what it leaves in any word of the scratchpad.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  (* anyconst *) logic [6:0] f_latency;
  logic [63:0] f_pipe;  // the requests of the last 64 cycles since a reset
  logic f_late;  // no request since the last reset: its answers may be those of before
  logic f_stray;  // in the last cycle one was
  // Answers before this cycle.
  wire [13:0] f_answers = f_cycle <= 14'(f_latency) + 14'd1 ? 14'd0
      : f_cycle - 14'(f_latency) - 14'd1;
  wire [13:0] f_last = ga2_spec::ld_time(f_len, f_latency);

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) f_len <= len;
    f_late <= rst || (f_late && !req_valid_q);
    f_stray <= !rst && f_late && resp_valid;
    f_pipe <= rst ? '0 : {f_pipe[62:0], req_valid_q};
  end

  always @* `GA2_ASSUME(latency_in_range, f_latency >= 7'd1 && f_latency <= 7'd64)

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_cycle == '0 && len != '0))
    `GA2_ASSUME(memory_answers, f_late || resp_valid == f_pipe[6'(f_latency - 7'd1)])

    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(req_valid_q || we_q))
    `GA2_ENSURE(late_answer_dropped, !f_stray || !we_q)
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_len != '0 && f_cycle <= f_last))

    `GA2_COVER(one_word, done && f_len == 12'd1 && f_latency == 7'd1)
    `GA2_COVER(several_words, done && f_len == 12'd3 && f_latency == 7'd4)
    `GA2_COVER(slow_memory, done && f_latency == 7'd9)
    `GA2_COVER(longest_latency, f_cycle == 14'd3 && f_latency == 7'd64)
    `GA2_COVER(late_answer, resp_valid && f_late && f_cycle == 14'd1)
    `GA2_COVER(reset_at_work, rst && f_cycle > 14'd2)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
  wire [63:0] f_open = ~(64'hFFFF_FFFF_FFFF_FFFE << (f_latency - 7'd1));
  wire [63:0] f_asked = ~(64'hFFFF_FFFF_FFFF_FFFF << (f_cycle - 14'd1))
      & (f_cycle <= 14'(f_len) + 14'd1 ? '1 : 64'hFFFF_FFFF_FFFF_FFFF << (f_cycle - 14'(f_len) - 14'd1));
  always @* if (f_ready) begin
    assert (req_valid_q == (f_cycle >= 14'd1 && f_cycle <= 14'(f_len)));
    assert (f_cycle == '0 || 14'(req_left_q) == (req_valid_q ? 14'(f_len) - f_cycle + 14'd1 : 14'd0));
    assert (14'(resp_left_q) == (f_cycle == '0 ? 14'd0 : 14'(f_len) - f_answers));
    assert (we_q == (f_cycle > 14'(f_latency) + 14'd1));
    assert (!f_late || f_cycle <= 14'd1);
    assert (!f_stray || f_cycle <= 14'd2);
    // Bit i is a request i + 1 cycles ago; bits beyond the latency were answered.
    assert ((f_pipe & f_open) == (f_cycle == '0 ? '0 : f_asked & f_open));
  end
`endif

`ifdef GA2_REGIONS
  always @* if (f_ready) begin
    `GA2_REQUIRE(regions_are_legal, !start || (ga2_spec::fits(dst, len)
        && ga2_spec::fits_outside(src, len)))
  end
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_target)
  `GA2_OPEN([15:0], f_at)  // of an external word
  `GA2_ANY([31:0], f_any)
  logic [11:0] f_dst;
  logic [15:0] f_src;
  logic [31:0] f_ext;  // what is there: nothing writes outside while LD works
  logic [63:0] f_pipe_at;  // the requests for it of the last 64 cycles since a reset
  logic f_ended;  // the unit's last cycle was the one before
  wire [31:0] f_now, f_old, unused_answer;
  wire unused_asked;
  ga2_word u_target (.clk, .start, .address(f_target), .ren(1'b0), .raddr(12'd0), .we(we_q), .waddr(waddr_q),
      .wdata(wdata_q), .now(f_now), .old(f_old), .asked(unused_asked), .answer(unused_answer));

  always @(posedge clk) begin
    if (start) begin
      f_dst <= dst;
      f_src <= src;
      f_ext <= f_any;
    end
    f_pipe_at <= rst ? '0 : {f_pipe_at[62:0], req_valid_q && req_addr_q == f_at};
    f_ended <= done && !rst;
  end

  wire [11:0] f_index = f_target - f_dst;
  wire f_hit = f_index < f_len;
  wire f_tied = f_hit && f_at == f_src + 16'(f_index);

  always @* if (f_ready) begin
    `GA2_ASSUME(memory_answers_right, !f_pipe_at[6'(f_latency - 7'd1)] || resp_data == f_ext)

    `GA2_ENSURE(requests_in_order, req_valid_q == (f_cycle != '0 && f_cycle <= 14'(f_len))
        && (!req_valid_q || req_addr_q == f_src + 16'(f_cycle) - 16'd1))
    `GA2_ENSURE(word_is_loaded, !(f_ended && f_tied) || f_now == f_ext)
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(second_of_three, f_ended && f_tied && f_index == 12'd1 && f_len == 12'd3 && f_now != f_old)
    `GA2_COVER(far_away, f_ended && f_tied && f_at == 16'd65535 && f_target == 12'd4095)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  wire [13:0] f_written = f_cycle <= 14'(f_latency) + 14'd2 ? 14'd0 : f_cycle - 14'(f_latency) - 14'd2;
  wire [13:0] f_age = f_cycle - 14'(f_index) - 14'd2;
  always @* if (f_ready) assert ((f_pipe_at & ~f_pipe) == '0);
  always @* if (f_ready && f_cycle != '0) begin
    assert (ga2_spec::fits(f_dst, f_len));
    assert (ga2_spec::fits_outside(f_src, f_len));
    if (req_valid_q) assert (req_addr_q == f_src + 16'(f_cycle) - 16'd1);
    assert (waddr_q == f_dst + 12'(f_written));
    if (f_tied) begin
      assert ((f_pipe_at & f_open) == (f_cycle > 14'(f_index) + 14'd1 ? (64'd1 << f_age) & f_open : 64'd0));
      if (f_cycle == 14'(f_index) + 14'(f_latency) + 14'd2) assert (wdata_q == f_ext);
      if (14'(f_index) < f_written) assert (f_now == f_ext);
    end
    if (!f_hit) assert (f_now == f_old);
  end
`endif
`endif
