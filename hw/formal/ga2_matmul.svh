// SPDX-License-Identifier: Apache-2.0
// MM is busy for M*K + K*N + (K + M + N - 2) + M*N + 7 cycles and idle otherwise.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [2:0] f_m;
  logic [6:0] f_k;
  logic [2:0] f_n;
  wire [13:0] f_mk = 14'(f_m) * 14'(f_k);
  wire [13:0] f_kn = 14'(f_k) * 14'(f_n);
  wire [13:0] f_mn = 14'(f_m) * 14'(f_n);
  wire [13:0] f_stream = 14'(f_k) + 14'(f_m) + 14'(f_n) - 14'd2;
  wire [13:0] f_last = f_mk + f_kn + f_stream + f_mn + 14'd7;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || f_cycle == f_last && f_cycle != '0);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) begin
      f_m <= m;
      f_k <= k;
      f_n <= n;
    end
  end

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_cycle == '0 && m >= 3'd1 && m <= 3'd4 && n >= 3'd1 && n <= 3'd4
        && k >= 7'd1 && k <= 7'd64))
    `GA2_REQUIRE(operands_hold, f_cycle == '0 || (m == f_m && k == f_k && n == f_n))

    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_m >= 3'd1 && f_m <= 3'd4 && f_n >= 3'd1 && f_n <= 3'd4
        && f_k >= 7'd1 && f_k <= 7'd64 && f_cycle <= f_last))

    `GA2_COVER(one_by_one, done && f_m == 3'd1 && f_k == 7'd1 && f_n == 3'd1)
    `GA2_COVER(two_rows, done && f_m == 3'd2)
    `GA2_COVER(two_columns, done && f_n == 3'd2)
    `GA2_COVER(two_products, done && f_k == 7'd2)
    `GA2_COVER(reset_at_work, rst && f_cycle > 14'd2)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
  // The first cycles of the phases.
  wire [13:0] f_turn = f_mk + 14'd2;
  wire [13:0] f_drain = f_turn + f_kn + 14'd1;
  wire [13:0] f_write = f_drain + 14'd2 + f_stream + 14'd1;
  wire [13:0] f_row = 14'(outer_q) * (in_write ? 14'(f_n) : 14'(f_k)) + 14'(inner_q);
  always @* if (f_ready) begin
    case (state_q)
      StIdle: assert (f_cycle == '0);
      StSetup: assert (f_cycle == 14'd1);
      StLoadA: assert (f_cycle == 14'd2 + f_row && 7'(inner_q) < f_k && 3'(outer_q) < f_m);
      StTurn: assert (f_cycle == f_turn);
      StLoadB: assert (f_cycle == f_turn + 14'd1 + f_row && 7'(inner_q) < f_k && 3'(outer_q) < f_n);
      StDrain: assert (f_cycle == f_drain);
      StClear: assert (f_cycle == f_drain + 14'd1);
      StStream: assert (f_cycle == f_drain + 14'd2 + 14'(t_q) && 14'(t_q) <= f_stream);
      StWrite: assert (f_cycle == f_write + f_row && 6'(inner_q) < 6'(f_n) && 3'(outer_q) < f_m);
      StFlush: assert (f_cycle == f_write + f_mn);
      StDone: assert (f_cycle == f_write + f_mn + 14'd1);
      default: assert (0);
    endcase
    assert (in_stream || t_q == '0);
    if (state_q == StTurn || state_q == StDrain || state_q == StClear || in_stream)
      assert (outer_q == '0 && inner_q == '0);
    assert (we_q == (state_q == StFlush || (in_write && f_cycle != f_write)));
  end
`endif
