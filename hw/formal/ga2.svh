// SPDX-License-Identifier: Apache-2.0
// The whole chip: its course, faults and counters beside the reference's in every cycle, time of each
// instruction, sum of the counters, who may write and when.
//
// The arithmetic and the memories are cut: none of this depends on data. Signals of the units are
// reached as yosys' flatten joins them, by the name they get there.

`include "ga2_formal.svh"

`ifdef GA2_SUM
  logic f_ready = 1'b0;  // a reset was seen
  always @(posedge clk) f_ready <= f_ready || rst;
  always @* if (f_ready) begin
    `GA2_ASSUME(retire_is_waiting, !retire || waiting)
    if (halted) sum_of_counters : assert (cyc_total
        == cyc_mm + cyc_dma + cyc_vec + 32'd2 * n_inst + 32'd2);
    sum_of_all_units : cover (halted && !fault && cyc_mm != '0 && cyc_dma != '0 && cyc_vec != '0);
    sum_at_a_fault : cover (halted && fault && n_inst == 32'd1);
  end

`ifdef GA2_CHIP_HELPERS
  // Partial sums that count along: no solver sees through the whole sum at once.
  logic [31:0] f_mm_dma, f_units, f_all;
  wire f_fetch = running && !issue && !waiting;
  always @(posedge clk)
    if (rst || begin_run) begin
      f_mm_dma <= '0;
      f_units <= '0;
      f_all <= '0;
    end else if (waiting) begin
      f_mm_dma <= f_mm_dma + 32'(is_mm || is_ld || is_st);
      f_units <= f_units + 32'd1;
      f_all <= f_all + (retire ? 32'd3 : 32'd1);
    end
  always @* if (f_ready) begin
    assert (f_mm_dma == cyc_mm + cyc_dma);
    assert (f_units == f_mm_dma + cyc_vec);
    assert (f_all == f_units + {n_inst[30:0], 1'b0});
    assert (cyc_total == f_all + (issue ? 32'd1 : waiting || halted ? 32'd2 : 32'd0));
    assert (f_fetch || issue || waiting || halted || f_all == '0);
  end
`endif
`else
  (* hierconn *) wire [13:0] \u_load.f_cycle ;
  (* hierconn *) wire [13:0] \u_store.f_cycle ;
  (* hierconn *) wire [13:0] \u_matmul.f_cycle ;
  (* hierconn *) wire [13:0] \u_requant.f_cycle ;
  (* hierconn *) wire [13:0] \u_softmax.f_cycle ;
  (* hierconn *) wire [13:0] \u_vadd.f_cycle ;
  (* hierconn *) wire [13:0] \u_amax.f_cycle ;
  (* hierconn *) wire [13:0] \u_unpack.f_cycle ;
  (* hierconn *) wire [11:0] \u_load.f_len ;
  (* hierconn *) wire [11:0] \u_store.f_len ;
  (* hierconn *) wire [11:0] \u_requant.f_len ;
  (* hierconn *) wire [11:0] \u_softmax.f_len ;
  (* hierconn *) wire [11:0] \u_vadd.f_len ;
  (* hierconn *) wire [11:0] \u_amax.f_len ;
  (* hierconn *) wire [8:0] \u_unpack.f_len ;
  (* hierconn *) wire [2:0] \u_matmul.f_m ;
  (* hierconn *) wire [6:0] \u_matmul.f_k ;
  (* hierconn *) wire [2:0] \u_matmul.f_n ;
  (* hierconn *) wire \u_matmul.f_tb ;
  (* hierconn *) wire [11:0] \u_matmul.f_dst , \u_matmul.f_base_a , \u_matmul.f_base_b ;
  (* hierconn *) wire [11:0] \u_matmul.f_lda , \u_matmul.f_ldb , \u_matmul.f_ldc ;
  (* hierconn *) wire [23:0] \u_requant.f_m ;
  (* hierconn *) wire [5:0] \u_requant.f_s ;
  (* hierconn *) wire \u_requant.f_relu ;
  (* hierconn *) wire [6:0] \u_load.f_latency ;
  (* hierconn, init = 1'b0 *) wire \u_load.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_store.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_matmul.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_requant.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_softmax.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_vadd.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_amax.f_ready ;
  (* hierconn, init = 1'b0 *) wire \u_unpack.f_ready ;

  logic f_ready = 1'b0;  // a reset was seen
  logic f_started;  // an instruction was started since the last reset
  logic f_wrote;  // something was written since the instruction's FETCH
  logic [13:0] f_wait;  // WAIT cycle of the instruction, 1 in the first
  wire fetch = running && !issue && !waiting;
  wire f_write = spad_we || wr_valid;

  always @(posedge clk) begin
    f_ready <= f_ready || rst;
    f_started <= !rst && (f_started || issue_start);
    f_wrote <= !rst && !retire && !begin_run && (f_wrote || f_write);
    if (rst || retire) f_wait <= '0;
    else if (issue_start) f_wait <= 14'd1;
    else if (waiting) f_wait <= f_wait + 14'd1;
  end

  wire [13:0] f_busy = ga2_spec::busy(op, c, d[15:0], f, g, h, \u_load.f_latency );

  // The reference runs beside the chip, on the same inputs. Its instruction is the chip's (word_is_followed).
  wire [3:0] f_code = ga2_spec::fault(op, a, b, c, d[15:0], f, g, h);
  wire [127:0] r_word;
  wire [15:0] r_pc, r_fault_pc;
  wire [13:0] r_cycle;
  wire [3:0] r_fault_code;
  wire [31:0] r_total, r_mm, r_dma, r_vec, r_inst;
  wire r_fetching, r_issuing, r_working, r_halted, r_last, r_fault;
  ga2_reference u_reference (.clk, .rst, .start, .imem_data, .code(f_code), .busy(f_busy), .word(r_word),
      .pc(r_pc), .fetching(r_fetching), .issuing(r_issuing), .working(r_working), .halted(r_halted),
      .last(r_last), .cycle(r_cycle), .fault(r_fault), .fault_code(r_fault_code), .fault_pc(r_fault_pc),
      .cyc_total(r_total), .cyc_mm(r_mm), .cyc_dma(r_dma), .cyc_vec(r_vec), .n_inst(r_inst));

  wire [6:0] f_owners = {ld_we, mm_we, rq_we, sm_we, vadd_we, amax_we, unpack_we};
  wire [6:0] f_owner = {is_ld, is_mm, is_rq, is_sm, is_vadd, is_amax, is_unpack};

  always @*
    if (f_ready) begin
      if (waiting && !fault) time_of_instruction : assert (retire == (f_wait == f_busy));
      retire_is_waiting : assert (!retire || waiting);
      one_writer : assert ((f_owners & (f_owners - 7'd1)) == '0);
      writer_is_executing : assert (f_owners == '0 || (waiting && f_owners == f_owner));
      store_is_executing : assert (!wr_valid || (waiting && is_st));
      load_is_executing : assert (!req_valid || (waiting && is_ld));
      if (fault || issue_fault) fault_writes_nothing : assert (!f_wrote && !f_write);
      if (!f_started) reset_ends_writing : assert (!f_write && !req_valid);

      course_is_followed : assert (running == (r_fetching || r_issuing || r_working) && halted == r_halted
          && imem_addr == r_pc);
      word_is_followed : assert (!(issue || waiting) || r_word == instr);
      faults_are_followed : assert (fault == r_fault && fault_code == r_fault_code && fault_pc == r_fault_pc);
      total_is_followed : assert (cyc_total == r_total);
      mm_is_followed : assert (cyc_mm == r_mm);
      dma_is_followed : assert (cyc_dma == r_dma);
      vec_is_followed : assert (cyc_vec == r_vec);
      n_inst_is_followed : assert (n_inst == r_inst);

      load_retires : cover (retire && is_ld);
      store_retires : cover (retire && is_st);
      matmul_retires : cover (retire && is_mm);
      requant_retires : cover (retire && is_rq);
      softmax_works : cover (waiting && is_sm && f_wait == 14'd5);
      vadd_retires : cover (retire && is_vadd);
      amax_retires : cover (retire && is_amax);
      unpack_retires : cover (retire && is_unpack);
      second_instruction : cover (retire && pc_q == 16'd1);
      program_ends : cover (halted && !fault && pc_q != '0);
      program_faults : cover (halted && fault && pc_q != '0);
      reset_at_work : cover (rst && waiting);
    end

`ifdef GA2_CHIP_HELPERS
  (* hierconn *) wire [2:0] \u_sequencer.state_q , \u_reference.phase ;
  always @* assert ({8{f_ready}} == {\u_load.f_ready , \u_store.f_ready , \u_matmul.f_ready , \u_requant.f_ready ,
      \u_softmax.f_ready , \u_vadd.f_ready , \u_amax.f_ready , \u_unpack.f_ready });

  always @* if (f_ready) begin
    assert (!waiting || (check_code == ga2_pkg::FaultNone && op != ga2_pkg::OpHalt));
    assert (waiting ? f_wait != '0 && f_wait <= f_busy : f_wait == '0);
    assert (waiting || !f_wrote);
    assert (\u_sequencer.state_q == \u_reference.phase && \u_reference.phase <= 3'd4);
    assert (r_cycle == f_wait);
    assert (!fault || halted);
    assert (!waiting || f_started);
    assert (\u_load.f_cycle == (waiting && is_ld ? f_wait : 14'd0));
    assert (\u_store.f_cycle == (waiting && is_st ? f_wait : 14'd0));
    assert (\u_matmul.f_cycle == (waiting && is_mm ? f_wait : 14'd0));
    assert (\u_requant.f_cycle == (waiting && is_rq ? f_wait : 14'd0));
    assert (\u_softmax.f_cycle == (waiting && is_sm ? f_wait : 14'd0));
    assert (\u_vadd.f_cycle == (waiting && is_vadd ? f_wait : 14'd0));
    assert (\u_amax.f_cycle == (waiting && is_amax ? f_wait : 14'd0));
    assert (\u_unpack.f_cycle == (waiting && is_unpack ? f_wait : 14'd0));
    assert (!(waiting && is_ld) || \u_load.f_len == c[11:0]);
    assert (!(waiting && is_st) || \u_store.f_len == c[11:0]);
    assert (!(waiting && is_mm) || (\u_matmul.f_m == f[2:0] && \u_matmul.f_k == g[6:0]
        && \u_matmul.f_n == h[2:0]));
    assert (!(waiting && is_mm) || (\u_matmul.f_tb == fl[0] && \u_matmul.f_dst == a[11:0]
        && \u_matmul.f_base_a == b[11:0] && \u_matmul.f_base_b == c[11:0] && \u_matmul.f_lda == d[11:0]
        && \u_matmul.f_ldb == d[23:12] && \u_matmul.f_ldc == x[11:0]));
    assert (!(waiting && is_rq) || \u_requant.f_len == c[11:0]);
    assert (!(waiting && is_rq) || (\u_requant.f_m == d && \u_requant.f_s == e && \u_requant.f_relu == fl[0]));
    assert (!(waiting && is_sm) || \u_softmax.f_len == c[11:0]);
    assert (!(waiting && is_vadd) || \u_vadd.f_len == d[11:0]);
    assert (!(waiting && is_amax) || \u_amax.f_len == c[11:0]);
    assert (!(waiting && is_unpack) || \u_unpack.f_len == c[8:0]);
  end
`endif

`ifdef GA2_EFFECT
`include "ga2_effects.svh"
`endif
`endif
