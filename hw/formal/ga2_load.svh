// SPDX-License-Identifier: Apache-2.0
// LD is busy for len + LAT + 1 cycles and idle otherwise, LAT being any constant in 1..64.

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
  wire [13:0] f_last = 14'(f_len) + 14'(f_latency) + 14'd1;

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
