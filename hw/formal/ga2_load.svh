// SPDX-License-Identifier: Apache-2.0
// LD is busy for len + LAT + 1 cycles and idle otherwise, LAT being any constant in 1..64.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [11:0] f_len;
  (* anyconst *) logic [6:0] f_latency;
  logic [63:0] f_pipe;  // the requests of the last 64 cycles; the memory forgets them at a reset
  // Answers before this cycle.
  wire [13:0] f_answers = f_cycle <= 14'(f_latency) + 14'd1 ? 14'd0
      : f_cycle - 14'(f_latency) - 14'd1;
  wire [13:0] f_last = 14'(f_len) + 14'(f_latency) + 14'd1;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) f_len <= len;
    f_pipe <= rst ? '0 : {f_pipe[62:0], req_valid_q};
  end

  always @* assume (f_latency >= 7'd1 && f_latency <= 7'd64);

  always @* if (f_ready) begin
    `GA2_REQUIRE(!start || (f_cycle == '0 && len != '0))
    assume (resp_valid == f_pipe[6'(f_latency - 7'd1)]);

    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(req_valid_q || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_len != '0 && f_cycle <= f_last))
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
    // Bit i is a request i + 1 cycles ago; bits beyond the latency were answered.
    assert ((f_pipe & f_open) == (f_cycle == '0 ? '0 : f_asked & f_open));
  end
`endif
