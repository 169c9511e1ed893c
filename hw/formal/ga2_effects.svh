// SPDX-License-Identifier: Apache-2.0
// The chip's memories after each instruction (GA2_CHIP and GA2_EFFECT). One word of the scratchpad and one
// outside, at addresses that are left open, are followed for ever, with two more words that the first may
// come from. What the units' own proofs say of any words is said here of these.

  (* anyconst *) logic [11:0] f_at, f_from1, f_from2;
  (* anyconst *) logic [15:0] f_out;
  (* anyseq *) logic [31:0] f_host;
  (* hierconn *) wire [31:0] \u_scratchpad.f_word , \u_scratchpad.f_word1 , \u_scratchpad.f_word2 ;
  (* hierconn *) wire [11:0] \u_scratchpad.f_at , \u_scratchpad.f_from1 , \u_scratchpad.f_from2 ;
  assign \u_scratchpad.f_at = f_at;
  assign \u_scratchpad.f_from1 = f_from1;
  assign \u_scratchpad.f_from2 = f_from2;
  wire [31:0] f_word = \u_scratchpad.f_word ;

  // The words that the units follow are these.
  (* hierconn *) wire [11:0] \u_vadd.f_target ;
  assign \u_vadd.f_target = f_at;
  (* hierconn *) wire [11:0] \u_vadd.f_at1 ;
  assign \u_vadd.f_at1 = f_from1;
  (* hierconn *) wire [11:0] \u_vadd.f_at2 ;
  assign \u_vadd.f_at2 = f_from2;
  (* hierconn *) wire [11:0] \u_requant.f_target ;
  assign \u_requant.f_target = f_at;
  (* hierconn *) wire [11:0] \u_requant.f_at ;
  assign \u_requant.f_at = f_from1;
  (* hierconn *) wire [11:0] \u_unpack.f_target ;
  assign \u_unpack.f_target = f_at;
  (* hierconn *) wire [11:0] \u_unpack.f_at ;
  assign \u_unpack.f_at = f_from1;
  (* hierconn *) wire [11:0] \u_amax.f_target ;
  assign \u_amax.f_target = f_at;
  (* hierconn *) wire [11:0] \u_amax.f_at ;
  assign \u_amax.f_at = f_from1;
  (* hierconn *) wire [11:0] \u_load.f_target ;
  assign \u_load.f_target = f_at;
  (* hierconn *) wire [11:0] \u_store.f_at ;
  assign \u_store.f_at = f_at;
  (* hierconn *) wire [11:0] \u_matmul.f_target ;
  assign \u_matmul.f_target = f_at;
  (* hierconn *) wire [11:0] \u_matmul.f_at_a ;
  assign \u_matmul.f_at_a = f_from1;
  (* hierconn *) wire [11:0] \u_matmul.f_at_b ;
  assign \u_matmul.f_at_b = f_from2;
  (* hierconn *) wire [15:0] \u_load.f_at ;
  (* hierconn *) wire [31:0] \u_load.f_any ;
  assign \u_load.f_at = f_out;
  assign \u_load.f_any = f_ext;
  (* hierconn *) wire [31:0] \u_vadd.u_target.word ;
  assign \u_vadd.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_vadd.u_source1.word ;
  assign \u_vadd.u_source1.word = \u_scratchpad.f_word1 ;
  (* hierconn *) wire [31:0] \u_vadd.u_source2.word ;
  assign \u_vadd.u_source2.word = \u_scratchpad.f_word2 ;
  (* hierconn *) wire [31:0] \u_requant.u_target.word ;
  assign \u_requant.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_requant.u_source.word ;
  assign \u_requant.u_source.word = \u_scratchpad.f_word1 ;
  (* hierconn *) wire [31:0] \u_unpack.u_target.word ;
  assign \u_unpack.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_unpack.u_source.word ;
  assign \u_unpack.u_source.word = \u_scratchpad.f_word1 ;
  (* hierconn *) wire [31:0] \u_amax.u_target.word ;
  assign \u_amax.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_amax.u_source.word ;
  assign \u_amax.u_source.word = \u_scratchpad.f_word1 ;
  (* hierconn *) wire [31:0] \u_load.u_target.word ;
  assign \u_load.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_store.u_source.word ;
  assign \u_store.u_source.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_matmul.u_target.word ;
  assign \u_matmul.u_target.word = \u_scratchpad.f_word ;
  (* hierconn *) wire [31:0] \u_matmul.u_word_a.word ;
  assign \u_matmul.u_word_a.word = \u_scratchpad.f_word1 ;
  (* hierconn *) wire [31:0] \u_matmul.u_word_b.word ;
  assign \u_matmul.u_word_b.word = \u_scratchpad.f_word2 ;

  logic [31:0] f_ext;  // the word outside; the host may write there while no program runs
  logic [31:0] f_was, f_was1, f_was2, f_ext_was;  // at the start of the instruction
  logic [31:0] f_before, f_ext_before;  // in the last cycle
  logic f_done;  // the last cycle was the instruction's last
  logic f_worked;  // a unit worked in the last cycle
  logic f_ran;
  logic f_put, f_get;  // a unit wrote or read the word in the last cycle
  logic [31:0] f_put_data;
  wire [6:0] f_puts = {ld_we && ld_waddr == f_at, mm_we && mm_waddr == f_at, rq_we && rq_waddr == f_at,
      sm_we && sm_waddr == f_at, vadd_we && vadd_waddr == f_at, amax_we && amax_waddr == f_at,
      unpack_we && unpack_waddr == f_at};
  wire [6:0] f_gets = {st_ren && st_raddr == f_at, mm_ren && mm_raddr == f_at, rq_ren && rq_raddr == f_at,
      sm_ren && sm_raddr == f_at, vadd_ren && vadd_raddr == f_at, amax_ren && amax_raddr == f_at,
      unpack_ren && unpack_raddr == f_at};

  always @(posedge clk) begin
    if (!running) f_ext <= f_host;
    else if (wr_valid && wr_addr == f_out) f_ext <= wr_data;
    if (issue) begin
      f_was <= f_word;
      f_was1 <= \u_scratchpad.f_word1 ;
      f_was2 <= \u_scratchpad.f_word2 ;
      f_ext_was <= f_ext;
    end
    f_before <= f_word;
    f_ext_before <= f_ext;
    f_done <= retire && !rst;
    f_worked <= waiting;
    f_ran <= running;
    f_put <= f_puts != '0;
    f_get <= f_gets != '0;
    f_put_data <= f_puts[6] ? ld_wdata : f_puts[5] ? mm_wdata : f_puts[4] ? rq_wdata : f_puts[3] ? sm_wdata
        : f_puts[2] ? vadd_wdata : f_puts[1] ? amax_wdata : unpack_wdata;
  end

  // Where the word is among those that the instruction writes, and whether the others are its sources.
  wire [11:0] f_index = f_at - a[11:0];
  wire [15:0] f_index_out = f_out - b;
  wire f_hit = f_index < c[11:0];
  wire f_hit_vadd = f_index < d[11:0];
  wire f_hit_unpack = f_index < {c[8:0], 3'd0};
  wire f_hit_out = f_index_out < c;
  wire [11:0] f_rank = f_from1 - b[11:0];
  (* hierconn *) wire [7:0] \u_requant.f_q ;
  (* hierconn *) wire [31:0] \u_amax.best_q , \u_matmul.f_sum ;
  (* hierconn *) wire [11:0] \u_amax.best_index_q ;
  (* hierconn *) wire [1:0] \u_matmul.f_r , \u_matmul.f_c ;
  (* hierconn *) wire [6:0] \u_matmul.f_terms ;
  (* hierconn *) wire [7:0] \u_matmul.f_term_x , \u_matmul.f_term_y ;
  (* hierconn *) wire \u_matmul.f_placed_a , \u_matmul.f_placed_b , \u_matmul.f_cell , \u_matmul.f_hit , \u_matmul.f_owned ;

  always @* if (f_ready) begin
    if (f_began) begin
      writes_arrive : assert (f_word == (f_put ? f_put_data : f_before));
      reads_are_answered : assert (!f_get || spad_rdata == f_before);
      rest_changes_nothing : assert (f_worked || (f_word == f_before && (!f_ran || f_ext == f_ext_before)));
    end
    if (waiting || f_done) softmax_keeps : assert (!is_sm || f_hit || f_word == f_was);
    if (f_done) begin
      load_effect : assert (!is_ld || (f_hit ? f_out != b + 16'(f_index) || f_word == f_ext_was : f_word == f_was));
      store_effect : assert (!is_st || (f_hit_out ? f_at != a[11:0] + f_index_out[11:0] || f_ext == f_was
          : f_ext == f_ext_was));
      store_keeps : assert (!is_st || f_word == f_was);
      outside_is_kept : assert (is_st || f_ext == f_ext_was);
      requant_effect : assert (!is_rq || (f_hit ? f_from1 != b[11:0] + f_index || f_word == 32'($signed(\u_requant.f_q ))
          : f_word == f_was));
      vadd_effect : assert (!is_vadd || (f_hit_vadd ? f_from1 != b[11:0] + f_index || f_from2 != c[11:0] + f_index
          || f_word == 32'($signed(ga2_spec::saturating_add(f_was1[7:0], f_was2[7:0]))) : f_word == f_was));
      amax_effect : assert (!is_amax || (f_at == a[11:0] ? f_word == 32'(\u_amax.best_index_q ) && f_word < 32'(c)
          : f_word == f_was));
      amax_is_first : assert (!is_amax || f_rank >= c[11:0] || ((f_rank != \u_amax.best_index_q || f_was1 == \u_amax.best_q )
          && ($signed(f_was1) < $signed(\u_amax.best_q ) || (f_was1 == \u_amax.best_q
          && f_rank >= \u_amax.best_index_q ))));
      unpack_effect : assert (!is_unpack || (f_hit_unpack ? f_from1 != b[11:0] + 12'(f_index[11:3])
          || f_word == 32'($signed(ga2_spec::int4(f_was1, f_index[2:0]))) : f_word == f_was));
      // f_hit and f_owned are ga2_spec::last_cell of these.
      matmul_operands : assert (!is_mm || (\u_matmul.f_m == f[2:0] && \u_matmul.f_k == g[6:0]
          && \u_matmul.f_n == h[2:0] && \u_matmul.f_tb == fl[0] && \u_matmul.f_dst == a[11:0]
          && \u_matmul.f_base_a == b[11:0] && \u_matmul.f_base_b == c[11:0] && \u_matmul.f_lda == d[11:0]
          && \u_matmul.f_ldb == d[23:12] && \u_matmul.f_ldc == x[11:0]));
      matmul_effect : assert (!is_mm || ((!\u_matmul.f_owned || f_word == \u_matmul.f_sum )
          && (\u_matmul.f_hit || f_word == f_was)));
      matmul_terms : assert (!is_mm || ((!\u_matmul.f_placed_a || \u_matmul.f_term_x == f_was1[7:0])
          && (!\u_matmul.f_placed_b || \u_matmul.f_term_y == f_was2[7:0])
          && (!\u_matmul.f_cell || \u_matmul.f_terms == g[6:0])));
    end
    word_is_loaded_here : cover (f_done && is_ld && f_hit && f_out == b + 16'(f_index) && f_word == 32'd7
        && f_was != 32'd7);
    word_is_stored_here : cover (f_done && is_st && f_hit_out && f_ext == 32'd7 && f_ext_was == 32'd8);
    word_is_summed_here : cover (f_done && is_vadd && f_hit_vadd && f_from1 == b[11:0] && f_at == a[11:0] && f_word == 32'd127);
    word_is_unpacked_here : cover (f_done && is_unpack && f_hit_unpack && f_from1 == b[11:0] && f_word == -32'sd3);
    index_is_written_here : cover (f_done && is_amax && f_at == a[11:0] && f_word == 32'd1);
    word_is_scaled_here : cover (f_done && is_rq && f_hit && f_from1 == b[11:0] && f_word == -32'sd5);
    loaded_then_used : cover (f_done && is_amax && pc_q == 16'd2 && f_at == a[11:0] && f_was == 32'd7);
  end

`ifdef GA2_ONLY
  // A search looks at programs of one operation, after one reset: it ends sooner.
  always @* `GA2_ASSUME(search_is_narrow, imem_data[127:124] == `GA2_ONLY && !(f_ready && rst))
`endif

  logic f_began = 1'b0;
  always @(posedge clk) f_began <= f_ready;

`ifdef GA2_CHIP_HELPERS
  (* hierconn *) wire [31:0] \u_vadd.u_target.now , \u_vadd.u_target.old , \u_vadd.u_target.answer ;
  (* hierconn *) wire \u_vadd.u_target.asked ;
  (* hierconn *) wire [31:0] \u_vadd.u_source1.now , \u_vadd.u_source1.old , \u_vadd.u_source1.answer ;
  (* hierconn *) wire \u_vadd.u_source1.asked ;
  (* hierconn *) wire [31:0] \u_vadd.u_source2.now , \u_vadd.u_source2.old , \u_vadd.u_source2.answer ;
  (* hierconn *) wire \u_vadd.u_source2.asked ;
  (* hierconn *) wire [31:0] \u_requant.u_target.now , \u_requant.u_target.old , \u_requant.u_target.answer ;
  (* hierconn *) wire \u_requant.u_target.asked ;
  (* hierconn *) wire [31:0] \u_requant.u_source.now , \u_requant.u_source.old , \u_requant.u_source.answer ;
  (* hierconn *) wire \u_requant.u_source.asked ;
  (* hierconn *) wire [31:0] \u_unpack.u_target.now , \u_unpack.u_target.old , \u_unpack.u_target.answer ;
  (* hierconn *) wire \u_unpack.u_target.asked ;
  (* hierconn *) wire [31:0] \u_unpack.u_source.now , \u_unpack.u_source.old , \u_unpack.u_source.answer ;
  (* hierconn *) wire \u_unpack.u_source.asked ;
  (* hierconn *) wire [31:0] \u_amax.u_target.now , \u_amax.u_target.old , \u_amax.u_target.answer ;
  (* hierconn *) wire \u_amax.u_target.asked ;
  (* hierconn *) wire [31:0] \u_amax.u_source.now , \u_amax.u_source.old , \u_amax.u_source.answer ;
  (* hierconn *) wire \u_amax.u_source.asked ;
  (* hierconn *) wire [31:0] \u_load.u_target.now , \u_load.u_target.old , \u_load.u_target.answer ;
  (* hierconn *) wire \u_load.u_target.asked ;
  (* hierconn *) wire [31:0] \u_store.u_source.now , \u_store.u_source.old , \u_store.u_source.answer ;
  (* hierconn *) wire \u_store.u_source.asked ;
  (* hierconn *) wire [31:0] \u_matmul.u_target.now , \u_matmul.u_target.old , \u_matmul.u_target.answer ;
  (* hierconn *) wire \u_matmul.u_target.asked ;
  (* hierconn *) wire [31:0] \u_matmul.u_word_a.now , \u_matmul.u_word_a.old , \u_matmul.u_word_a.answer ;
  (* hierconn *) wire \u_matmul.u_word_a.asked ;
  (* hierconn *) wire [31:0] \u_matmul.u_word_b.now , \u_matmul.u_word_b.old , \u_matmul.u_word_b.answer ;
  (* hierconn *) wire \u_matmul.u_word_b.asked ;
  (* hierconn *) wire \u_vadd.f_ended ;
  (* hierconn *) wire \u_requant.f_ended ;
  (* hierconn *) wire \u_unpack.f_ended ;
  (* hierconn *) wire \u_amax.f_ended ;
  (* hierconn *) wire \u_load.f_ended ;
  (* hierconn *) wire \u_matmul.f_ended ;
  (* hierconn *) wire [11:0] \u_vadd.f_dst ;
  (* hierconn *) wire [11:0] \u_vadd.f_src1 ;
  (* hierconn *) wire [11:0] \u_vadd.f_src2 ;
  (* hierconn *) wire [11:0] \u_requant.f_dst ;
  (* hierconn *) wire [11:0] \u_requant.f_src ;
  (* hierconn *) wire [11:0] \u_unpack.f_dst ;
  (* hierconn *) wire [11:0] \u_unpack.f_src ;
  (* hierconn *) wire [11:0] \u_amax.f_dst ;
  (* hierconn *) wire [11:0] \u_amax.f_src ;
  (* hierconn *) wire [11:0] \u_load.f_dst ;
  (* hierconn *) wire [15:0] \u_load.f_src ;
  (* hierconn *) wire [11:0] \u_store.f_src ;
  (* hierconn *) wire [15:0] \u_store.f_dst ;
  (* hierconn *) wire [31:0] \u_load.f_ext ;
  (* hierconn *) wire [11:0] \u_softmax.f_dst ;
  wire [13:0] f_stored = f_wait < 14'd3 ? 14'd0 : f_wait - 14'd3;  // words that ST has written
  wire f_holds = waiting || f_done;  // the instruction is still the one that was started
  always @* if (f_ready) begin
    assert (!f_done || !waiting && !issue && !halted);
    assert (!f_done || check_code == ga2_pkg::FaultNone);
    assert (\u_vadd.f_ended == (f_done && is_vadd));
    if (f_holds && is_vadd) begin
      assert (\u_vadd.f_dst == a[11:0]);
      assert (\u_vadd.f_src1 == b[11:0]);
      assert (\u_vadd.f_src2 == c[11:0]);
      assert (\u_vadd.f_len == d[11:0]);
      assert (\u_vadd.u_target.now == \u_scratchpad.f_word && \u_vadd.u_target.old == f_was);
      assert (\u_vadd.u_source1.now == \u_scratchpad.f_word1 && \u_vadd.u_source1.old == f_was1);
      assert (\u_vadd.u_source2.now == \u_scratchpad.f_word2 && \u_vadd.u_source2.old == f_was2);
    end
    assert (\u_vadd.f_cycle == '0 || !\u_vadd.u_target.asked || spad_rdata == \u_vadd.u_target.answer );
    assert (\u_vadd.f_cycle == '0 || !\u_vadd.u_source1.asked || spad_rdata == \u_vadd.u_source1.answer );
    assert (\u_vadd.f_cycle == '0 || !\u_vadd.u_source2.asked || spad_rdata == \u_vadd.u_source2.answer );
    assert (\u_requant.f_ended == (f_done && is_rq));
    if (f_holds && is_rq) begin
      assert (\u_requant.f_dst == a[11:0]);
      assert (\u_requant.f_src == b[11:0]);
      assert (\u_requant.f_len == c[11:0]);
      assert (\u_requant.u_target.now == \u_scratchpad.f_word && \u_requant.u_target.old == f_was);
      assert (\u_requant.u_source.now == \u_scratchpad.f_word1 && \u_requant.u_source.old == f_was1);
    end
    assert (\u_requant.f_cycle == '0 || !\u_requant.u_target.asked || spad_rdata == \u_requant.u_target.answer );
    assert (\u_requant.f_cycle == '0 || !\u_requant.u_source.asked || spad_rdata == \u_requant.u_source.answer );
    assert (\u_unpack.f_ended == (f_done && is_unpack));
    if (f_holds && is_unpack) begin
      assert (\u_unpack.f_dst == a[11:0]);
      assert (\u_unpack.f_src == b[11:0]);
      assert (\u_unpack.f_len == c[8:0]);
      assert (\u_unpack.u_target.now == \u_scratchpad.f_word && \u_unpack.u_target.old == f_was);
      assert (\u_unpack.u_source.now == \u_scratchpad.f_word1 && \u_unpack.u_source.old == f_was1);
    end
    assert (\u_unpack.f_cycle == '0 || !\u_unpack.u_target.asked || spad_rdata == \u_unpack.u_target.answer );
    assert (\u_unpack.f_cycle == '0 || !\u_unpack.u_source.asked || spad_rdata == \u_unpack.u_source.answer );
    assert (\u_amax.f_ended == (f_done && is_amax));
    if (f_holds && is_amax) begin
      assert (\u_amax.f_dst == a[11:0]);
      assert (\u_amax.f_src == b[11:0]);
      assert (\u_amax.f_len == c[11:0]);
      assert (\u_amax.u_target.now == \u_scratchpad.f_word && \u_amax.u_target.old == f_was);
      assert (\u_amax.u_source.now == \u_scratchpad.f_word1 && \u_amax.u_source.old == f_was1);
    end
    assert (\u_amax.f_cycle == '0 || !\u_amax.u_target.asked || spad_rdata == \u_amax.u_target.answer );
    assert (\u_amax.f_cycle == '0 || !\u_amax.u_source.asked || spad_rdata == \u_amax.u_source.answer );
    assert (\u_load.f_ended == (f_done && is_ld));
    if (f_holds && is_ld) begin
      assert (\u_load.f_dst == a[11:0]);
      assert (\u_load.f_src == b);
      assert (\u_load.f_len == c[11:0]);
      assert (\u_load.f_ext == f_ext_was);
      assert (\u_load.u_target.now == \u_scratchpad.f_word && \u_load.u_target.old == f_was);
    end
    if (f_holds && is_st) begin
      assert (\u_store.f_src == a[11:0]);
      assert (\u_store.f_dst == b);
      assert (\u_store.f_len == c[11:0]);
      assert (\u_store.u_source.now == \u_scratchpad.f_word && \u_store.u_source.old == f_was);
    end
    assert (\u_store.f_cycle == '0 || !\u_store.u_source.asked || spad_rdata == \u_store.u_source.answer );
    assert (\u_matmul.f_ended == (f_done && is_mm));
    if (f_holds && is_mm) begin
      assert (\u_matmul.u_target.now == \u_scratchpad.f_word && \u_matmul.u_target.old == f_was);
      assert (\u_matmul.u_word_a.now == \u_scratchpad.f_word1 && \u_matmul.u_word_a.old == f_was1);
      assert (\u_matmul.u_word_b.now == \u_scratchpad.f_word2 && \u_matmul.u_word_b.old == f_was2);
    end
    assert (\u_matmul.f_cycle == '0 || !\u_matmul.u_target.asked || spad_rdata == \u_matmul.u_target.answer );
    assert (\u_matmul.f_cycle == '0 || !\u_matmul.u_word_a.asked || spad_rdata == \u_matmul.u_word_a.answer );
    assert (\u_matmul.f_cycle == '0 || !\u_matmul.u_word_b.asked || spad_rdata == \u_matmul.u_word_b.answer );
    if (f_holds && is_sm) assert (\u_softmax.f_dst == a[11:0] && \u_softmax.f_len == c[11:0]);
    if (f_holds && !is_st) assert (f_ext == f_ext_was);
    if (f_holds && is_st) assert (f_word == f_was);
    if (waiting && is_st) begin
      if (!f_hit_out || 14'(f_index_out) >= f_stored) assert (f_ext == f_ext_was);
      else if (f_at == a[11:0] + f_index_out[11:0]) assert (f_ext == f_was);
    end
  end
`endif
