// SPDX-License-Identifier: Apache-2.0
// MM is busy for M*K + K*N + (K + M + N - 2) + M*N + 7 cycles and idle otherwise. Under GA2_EFFECT: what it
// leaves in any word of the scratchpad, for any cell (f_r, f_c) of the array. The array's rows are cut; of
// them is known what ga2_mac_row.svh proves: a cell adds the product of the bytes that entered its row and
// column so many steps ago. Which these are is shown for the cell's term number f_i, for any f_i.

`include "ga2_formal.svh"

  logic f_ready = 1'b0;  // a reset was seen
  logic f_again;  // the unit has worked since
  logic [13:0] f_cycle;  // of the busy time, 1 in the first; 0: idle
  logic [2:0] f_m;
  logic [6:0] f_k;
  logic [2:0] f_n;
  logic f_tb;
  logic [11:0] f_dst, f_base_a, f_base_b, f_lda, f_ldb, f_ldc;
  wire [13:0] f_mk = 14'(f_m) * 14'(f_k);
  wire [13:0] f_kn = 14'(f_k) * 14'(f_n);
  wire [13:0] f_mn = 14'(f_m) * 14'(f_n);
  wire [13:0] f_stream = 14'(f_k) + 14'(f_m) + 14'(f_n) - 14'd2;
  wire [13:0] f_last = ga2_spec::mm_time(f_m, f_k, f_n);

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_again <= !rst && (f_again || done);
    if (rst) f_cycle <= '0;
    else if (start) f_cycle <= 14'd1;
    else if (f_cycle == f_last) f_cycle <= '0;
    else if (f_cycle != '0) f_cycle <= f_cycle + 14'd1;
    if (start) begin
      f_m <= m;
      f_k <= k;
      f_n <= n;
      f_tb <= tb;
      f_dst <= dst;
      f_base_a <= base_a;
      f_base_b <= base_b;
      f_lda <= lda;
      f_ldb <= ldb;
      f_ldc <= ldc;
    end
  end

`undef GA2_TIME
`ifdef GA2_CHIP
`define GA2_TIME
`elsif GA2_EFFECT
`else
`define GA2_TIME
`endif
`ifdef GA2_TIME
  wire f_idle = f_cycle == '0;
`else
  wire f_idle = state_q == StIdle;  // the same, by the helpers of the proof of busy_time
`endif

  always @* if (f_ready) begin
    `GA2_REQUIRE(start_is_legal, !start || (f_idle && m >= 3'd1 && m <= 3'd4 && n >= 3'd1 && n <= 3'd4
        && k >= 7'd1 && k <= 7'd64))
    `GA2_REQUIRE(operands_hold, f_idle || (m == f_m && k == f_k && n == f_n && tb == f_tb && dst == f_dst
        && base_a == f_base_a && base_b == f_base_b && lda == f_lda && ldb == f_ldb && ldc == f_ldc))

`ifdef GA2_TIME
    `GA2_ENSURE(busy_time, done == (f_cycle != '0 && f_cycle == f_last))
    `GA2_ENSURE(idle_is_quiet, f_cycle != '0 || !(ren || we_q))
    `GA2_ENSURE(cycle_in_range, f_cycle == '0 || (f_m >= 3'd1 && f_m <= 3'd4 && f_n >= 3'd1 && f_n <= 3'd4
        && f_k >= 7'd1 && f_k <= 7'd64 && f_cycle <= f_last))
`endif

    `GA2_COVER(one_by_one, done && f_m == 3'd1 && f_k == 7'd1 && f_n == 3'd1)
    `GA2_COVER(two_rows, done && f_m == 3'd2)
    `GA2_COVER(two_columns, done && f_n == 3'd2)
    `GA2_COVER(two_products, done && f_k == 7'd2)
    `GA2_COVER(reset_at_work, rst && in_load_a)
    `GA2_COVER(again, start && f_again)
  end

`ifdef GA2_HELPERS
`ifdef GA2_TIME
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
`endif

`ifdef GA2_EFFECT
  `GA2_OPEN([11:0], f_target) `GA2_OPEN([11:0], f_at_a) `GA2_OPEN([11:0], f_at_b)
  (* anyconst *) logic [1:0] f_r, f_c;
  (* anyconst *) logic [5:0] f_i;
  logic f_ended;  // the unit's last cycle was the one before
  logic f_ended_owned;  // and the target is the followed cell's
  wire [31:0] f_now, f_old, f_now_a, f_old_a, f_answer_a, f_now_b, f_old_b, f_answer_b, unused_answer;
  wire f_asked_a, f_asked_b, unused_asked;
  ga2_word u_target (.clk, .start, .address(f_target), .ren, .raddr(addr_q), .we(we_q), .waddr(waddr_q), .wdata,
      .now(f_now), .old(f_old), .asked(unused_asked), .answer(unused_answer));
  ga2_word u_word_a (.clk, .start, .address(f_at_a), .ren, .raddr(addr_q), .we(we_q), .waddr(waddr_q), .wdata,
      .now(f_now_a), .old(f_old_a), .asked(f_asked_a), .answer(f_answer_a));
  ga2_word u_word_b (.clk, .start, .address(f_at_b), .ren, .raddr(addr_q), .we(we_q), .waddr(waddr_q), .wdata,
      .now(f_now_b), .old(f_old_b), .asked(f_asked_b), .answer(f_answer_b));

  // The cell as ga2_mac_row.svh has it: bytes of A since they entered its row, column f_c of B above it.
  (* hierconn *) wire [31:0] \u_array.b_row0 , \u_array.b_row1 , \u_array.b_row2 ;
  (* hierconn *) wire [31:0] \u_array.sum0 , \u_array.sum1 , \u_array.sum2 , \u_array.sum3 ;
  wire [127:0] f_above = {\u_array.b_row2 , \u_array.b_row1 , \u_array.b_row0 , b_in};
  wire [127:0] f_sums = {\u_array.sum3 , \u_array.sum2 , \u_array.sum1 , \u_array.sum0 };
  logic [127:0] f_taken;  // what entered each row from above in the last step
  logic [31:0] f_along;  // byte j entered row f_r j + 1 steps ago
  logic f_stepped, f_picked;
  logic [31:0] f_sum, f_read;
  wire [7:0] f_x = f_along[8*f_c+:8];
  wire [7:0] f_y = f_taken[32*f_r+8*f_c+:8];
  wire f_meet = in_stream && !first && wave_q[3'(f_r)+3'(f_c)];

  wire [31:0] f_product;
  ga2_product u_product (.x(f_x), .y(f_y), .product(f_product));  // cut: nothing depends on what it is

  // Its terms: how many, and the one that is followed.
  logic [6:0] f_terms;
  logic [7:0] f_term_x, f_term_y;

  always @(posedge clk) begin
    f_ended <= done && !rst;
    f_ended_owned <= done && !rst && f_owned;
    f_stepped <= !start && (f_stepped || in_stream);
    f_picked <= in_write && inner_q[1:0] == f_c;
    f_read <= f_sum;
    if (in_stream) begin
      f_along <= {f_along[23:0], a_in[8*f_r+:8]};
      f_taken <= f_above;
      if (first) f_sum <= '0;
      if (first) f_terms <= '0;
    end
    if (f_meet) begin
      f_sum <= f_sum + f_product;
      f_terms <= f_terms + 7'd1;
      if (f_terms == 7'(f_i)) f_term_x <= f_x;
      if (f_terms == 7'(f_i)) f_term_y <= f_y;
    end
  end

  // f_multiple is ldb added up f_i times, hence f_i * ldb: ga2_lemmas.sv, one_more_stride, once for each.
  logic [11:0] f_strides, f_multiple;
  always @(posedge clk) begin
    f_strides <= in_load_b && !row_end ? f_strides + ldb : 12'd0;
    if (in_load_b && outer_q == f_c && inner_q == f_i) f_multiple <= f_strides;
  end

  wire f_cell = 3'(f_r) < f_m && 3'(f_c) < f_n;
  wire f_tied_a = f_cell && 7'(f_i) < f_k && f_at_a == f_base_a + 12'(f_r) * f_lda + 12'(f_i);
  wire f_tied_b = f_cell && 7'(f_i) < f_k && f_at_b == f_base_b
      + (f_tb ? 12'(f_c) * f_ldb + 12'(f_i) : f_multiple + 12'(f_c));
  wire f_hit;
  wire [1:0] f_last_r, f_last_c;
  assign {f_hit, f_last_r, f_last_c} = ga2_spec::last_cell(f_target, f_dst, f_ldc, f_m, f_n);
  wire f_owned = f_hit && f_last_r == f_r && f_last_c == f_c;

  // The bank's words at the places of the term that is followed.
  (* hierconn *) wire [5:0] \u_bank_a.f_at , \u_bank_b.f_at ;
  (* hierconn *) wire [31:0] \u_bank_a.f_word , \u_bank_b.f_word ;
  wire f_placed_a = f_tied_a && \u_bank_a.f_at == f_i + 6'(f_r);
  wire f_placed_b = f_tied_b && \u_bank_b.f_at == f_i + 6'(f_c);

  always @* if (f_ready) begin
    `GA2_REQUIRE(scratchpad_answers, f_idle || (!f_asked_a || rdata == f_answer_a[7:0])
        && (!f_asked_b || rdata == f_answer_b[7:0]))
    `GA2_ASSUME(bytes_move_down, !f_stepped || f_above[127:32] == f_taken[95:0])
    `GA2_ASSUME(cell_adds_up, !f_picked || f_sums[32*f_r+:32] == f_read)

    `GA2_ENSURE(left_factors_are_taken, !(f_ended && f_placed_a) || f_term_x == f_old_a[7:0])
    `GA2_ENSURE(right_factors_are_taken, !(f_ended && f_placed_b) || f_term_y == f_old_b[7:0])
    `GA2_ENSURE(sum_is_complete, !(f_ended && f_cell) || f_terms == f_k)
    `GA2_ENSURE(result_is_written, !f_ended_owned || f_now == f_sum)
    `GA2_ENSURE(rest_is_left_alone, !(f_ended && !f_hit) || f_now == f_old)

    `GA2_COVER(second_of_two, f_ended && f_placed_a && f_placed_b && f_i == 6'd1 && f_k == 7'd2 && f_owned && f_now == -32'sd5
        && f_r == 2'd1 && f_m == 3'd2)
    `GA2_COVER(transposed, f_ended && f_placed_a && f_placed_b && f_tb && f_c == 2'd1 && f_i == 6'd0)
    `GA2_COVER(in_place, f_ended && f_placed_a && f_placed_b && f_owned && f_target == f_at_a && f_now != f_old)
    `GA2_COVER(same_word, f_ended && f_owned && f_n == 3'd2 && f_m == 3'd2 && f_ldc == 12'd1 && f_r == 2'd1)
    `GA2_COVER(beside_it, f_ended && !f_hit)
  end

`ifdef GA2_HELPERS
  (* hierconn *) wire [1:0] \u_array.read_row_q ;
  logic [1:0] f_outer;  // where the address generator was in the last cycle
  logic [5:0] f_inner;
  always @(posedge clk) begin
    f_outer <= outer_q;
    f_inner <= inner_q;
  end
  logic f_has_a, f_has_b, f_wrote;  // the term's factors are in the banks, the cell's sum in its place
  wire f_from_r = f_outer == f_r;
  wire f_takes_a = to_a_q && f_from_r && f_inner == f_i;
  wire f_takes_b = to_b_q && f_outer == f_c && f_inner == f_i;
  wire f_writes = we_q && f_from_r && f_inner == 6'(f_c);
  always @(posedge clk) begin
    f_has_a <= !start && (f_has_a || f_takes_a);
    f_has_b <= !start && (f_has_b || f_takes_b);
    f_wrote <= !start && (f_wrote || f_writes);
  end
  wire f_element = f_cell && 7'(f_i) < f_k;
  wire f_in_a = state_q == StSetup || in_load_a;
  wire f_in_b = f_in_a || state_q == StTurn || in_load_b;
  wire f_loads = f_in_b || state_q == StDrain || state_q == StClear;
  wire f_streamed = !f_loads && !in_stream;
  wire f_past_r = outer_q > f_r || outer_q == f_r && inner_q > f_i;
  wire f_past_c = outer_q > f_c || outer_q == f_c && inner_q > f_i;
  wire f_past_cell = outer_q > f_r || outer_q == f_r && inner_q > 6'(f_c);
  wire [6:0] f_lag = 7'(f_r) + 7'(f_c) + 7'd1;
  wire [6:0] f_due = t_q <= f_lag ? 7'd0 : t_q - f_lag < f_k ? t_q - f_lag : f_k;

  always @* if (f_ready) begin
    if (!in_stream) assert (t_q == '0);
    if (f_idle) assert (!we_q);
  end
  always @* if (f_ready && !f_idle) begin
    assert (state_q <= StDone);
    assert (f_m >= 3'd1 && f_m <= 3'd4 && f_n >= 3'd1 && f_n <= 3'd4 && f_k >= 7'd1 && f_k <= 7'd64);
    if (ren) assert (7'(inner_q) < f_k);
    if (in_load_a) assert (3'(outer_q) < f_m);
    if (in_load_b) assert (3'(outer_q) < f_n);
    if (in_write) assert (3'(outer_q) < f_m && inner_q < 6'(f_n));
    if (state_q == StTurn || state_q == StDrain || state_q == StClear || in_stream)
      assert (outer_q == '0 && inner_q == '0);
    if (in_stream) assert (t_q <= t_last);
    // Addresses.
    if (in_load_a) assert (base_q == f_base_a + 12'(outer_q) * f_lda);
    if (in_load_a) assert (addr_q == base_q + 12'(inner_q));
    if (in_load_b) begin
      assert (base_q == f_base_b + (f_tb ? 12'(outer_q) * f_ldb : 12'(outer_q)));
      assert (addr_q == base_q + (f_tb ? 12'(inner_q) : f_strides));
      if (inner_q == '0) assert (f_strides == '0);
    end
    if (in_write) assert (base_q == ga2_spec::place_c(f_dst, f_ldc, outer_q, 2'd0));
    if (in_write) assert (addr_q == ga2_spec::place_c(f_dst, f_ldc, outer_q, inner_q[1:0]));
    // Loads.
    assert (!to_a_q || in_load_a && (outer_q != '0 || inner_q != '0) || state_q == StTurn);
    assert (!to_b_q || in_load_b && (outer_q != '0 || inner_q != '0) || state_q == StDrain);
    if (to_a_q || to_b_q) assert (7'(f_inner) < f_k && lane_q == f_outer && place_q == f_inner + 6'(f_outer));
    if (f_loads || in_stream) assert (!we_q);
    if (!f_streamed) assert (f_now == f_old && f_now_a == f_old_a && f_now_b == f_old_b);
    if (f_tied_a && f_takes_a) assert (f_asked_a && f_answer_a == f_old_a);
    if (f_tied_b && f_takes_b) assert (f_asked_b && f_answer_b == f_old_b);
    if (f_element && (!f_in_a || in_load_a && f_past_r)) assert (f_has_a || f_takes_a);
    if (f_element && (!f_in_b || in_load_b && f_past_c)) assert (f_has_b || f_takes_b);
    if (ren && (to_a_q || to_b_q)) assert (inner_q == '0 ? outer_q == f_outer + 2'd1 && 7'(f_inner) == f_k - 7'd1
        : outer_q == f_outer && inner_q == f_inner + 6'd1);
    if (in_load_a && to_b_q || in_load_b && to_a_q) assert (1'b0);
    if (state_q == StSetup) assert (!f_has_a);
    if (state_q == StTurn) assert (!f_has_b);
    if (f_has_a && in_load_a) assert (f_past_r);
    if (f_has_a && to_a_q) assert (!f_takes_a);
    if (f_has_b && in_load_b) assert (f_past_c);
    if (f_has_b && to_b_q) assert (!f_takes_b);
    if (f_takes_b && in_load_b) assert (f_past_c);
    if (f_in_a) assert (!f_has_b && !to_b_q);
    if (f_placed_a && f_has_a) assert (\u_bank_a.f_word [8*f_r+:8] == f_old_a[7:0]);
    if (f_placed_b && f_has_b) assert (\u_bank_b.f_word [8*f_c+:8] == f_old_b[7:0]);
    // The array.
    if (f_loads) assert (!f_stepped);
    if (in_stream) assert (f_stepped == !first);
    for (int j = 0; j < 7; j++)
      if (in_stream && !first) assert (wave_q[j] == (t_q > 7'(j) && t_q - 7'(j) - 7'd1 < f_k));
    for (int j = 0; j < 4; j++) if (in_stream) begin
      if (f_placed_a && t_q == 7'(f_i) + 7'(f_r) + 7'(j) + 7'd1) assert (f_along[8*j+:8] == f_old_a[7:0]);
      if (f_placed_b && t_q == 7'(f_i) + 7'(f_c) + 7'(j) + 7'd1) assert (f_taken[32*j+8*f_c+:8] == f_old_b[7:0]);
    end
    if (f_cell && (f_streamed || in_stream && !first)) assert (f_terms == (f_streamed ? f_k : f_due));
    if (f_streamed || in_stream && t_q > 7'(f_i) + f_lag) begin
      if (f_placed_a) assert (f_term_x == f_old_a[7:0]);
      if (f_placed_b) assert (f_term_y == f_old_b[7:0]);
    end
    // Writes.
    if (we_q) begin
      assert (f_inner < 6'(f_n) && 3'(f_outer) < f_m);
      assert (waddr_q == ga2_spec::place_c(f_dst, f_ldc, f_outer, f_inner[1:0]));
      assert (\u_array.read_row_q == f_outer);
      assert (f_picked == (f_inner == 6'(f_c)) && f_read == f_sum);
      if (in_write) assert (inner_q == '0 ? outer_q == f_outer + 2'd1 && f_inner == 6'(f_n) - 6'd1
          : outer_q == f_outer && inner_q == f_inner + 6'd1);
    end
    if (we_q && waddr_q == f_target) assert (f_hit && {f_last_r, f_last_c} >= {f_outer, f_inner[1:0]});
    if (f_hit) assert (ga2_spec::place_c(f_dst, f_ldc, f_last_r, f_last_c) == f_target);
    if (!f_streamed) assert (!f_wrote);
    if (f_wrote && in_write) assert (f_past_cell);
    if (f_wrote && we_q) assert (f_outer > f_r || f_outer == f_r && f_inner > 6'(f_c));
    if (f_writes && in_write) assert (f_past_cell);
    if (f_cell && (state_q == StDone || state_q == StFlush || in_write && f_past_cell))
      assert (f_wrote || f_writes);
    if (f_owned && f_wrote) assert (f_now == f_sum);
    if (state_q == StDone) assert (!we_q);
    if (!f_hit) assert (f_now == f_old);
  end
`endif
`endif
