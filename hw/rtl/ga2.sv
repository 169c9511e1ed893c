// SPDX-License-Identifier: Apache-2.0
//
// GA-2, a small int8 inference accelerator: one in-order sequencer, eight execution units that take
// turns, a 4,096-word scratchpad. This is the wiring; docs/isa.md says what it computes and when.
//
// Every unit reads its operands from the instruction register, which holds while the unit is busy;
// an idle unit keeps its request lines low and its buses still.

`default_nettype none

module ga2 (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    output wire         halted,
    output wire [ 15:0] imem_addr,
    input  wire [127:0] imem_data,
    output wire         req_valid,
    output wire [ 15:0] req_addr,
    input  wire         resp_valid,
    input  wire [ 31:0] resp_data,
    output wire         wr_valid,
    output wire [ 15:0] wr_addr,
    output wire [ 31:0] wr_data,
    output wire [ 31:0] cyc_total,
    output wire [ 31:0] cyc_mm,
    output wire [ 31:0] cyc_dma,
    output wire [ 31:0] cyc_vec,
    output wire [ 31:0] n_inst,
    output wire         fault,
    output wire [  3:0] fault_code,
    output wire [ 15:0] fault_pc
);

  // ---- Sequencing

  wire [127:0] instr;
  wire [15:0] pc_q;
  wire [3:0] check_code;
  wire begin_run, running, waiting, issue_start, retire;
  // Read by nothing here: the testbench's retire probe looks at them.
  // verilator lint_off UNUSEDSIGNAL
  wire issue, issue_fault;
  // verilator lint_on UNUSEDSIGNAL
  wire ld_done, st_done, mm_done, rq_done, sm_done, vadd_done, amax_done, unpack_done;

  // Written by make operations.
  wire [3:0] op = instr[ga2_pkg::FieldOp+:4];
  wire [15:0] a = instr[ga2_pkg::FieldA+:16];
  wire [15:0] b = instr[ga2_pkg::FieldB+:16];
  wire [15:0] c = instr[ga2_pkg::FieldC+:16];
  wire [23:0] d = instr[ga2_pkg::FieldD+:24];
  wire [5:0] e = instr[ga2_pkg::FieldE+:6];
  wire [7:0] f = instr[ga2_pkg::FieldF+:8];
  wire [7:0] g = instr[ga2_pkg::FieldG+:8];
  wire [7:0] h = instr[ga2_pkg::FieldH+:8];
  wire [3:0] fl = instr[ga2_pkg::FieldFl+:4];
  wire [17:0] x = instr[ga2_pkg::FieldX+:18];
  wire is_ld = op == ga2_pkg::OpLd;
  wire is_st = op == ga2_pkg::OpSt;
  wire is_mm = op == ga2_pkg::OpMm;
  wire is_rq = op == ga2_pkg::OpRq;
  wire is_sm = op == ga2_pkg::OpSm;
  wire is_vadd = op == ga2_pkg::OpVadd;
  wire is_amax = op == ga2_pkg::OpAmax;
  wire is_unpack = op == ga2_pkg::OpUnpack;
  // No operation uses these bits.
  wire [8:0] unused_bits = {fl[3:1], x[17:12]};
  // End of what make operations writes.

  assign imem_addr = pc_q;
  assign retire = ld_done || st_done || mm_done || rq_done || sm_done || vadd_done || amax_done
      || unpack_done;

  ga2_sequencer u_sequencer (
      .clk,
      .rst,
      .start,
      .imem_data,
      .instr_q(instr),
      .pc_q,
      .check_code,
      .retire,
      .begin_run,
      .running,
      .waiting,
      .issue,
      .issue_fault,
      .issue_start,
      .halted,
      .fault_q(fault),
      .fault_code_q(fault_code),
      .fault_pc_q(fault_pc)
  );

  ga2_fault_checker u_fault_checker (
      .op,
      .a,
      .b,
      .c,
      .d(d[15:0]),
      .f,
      .g,
      .h,
      .code(check_code)
  );

  ga2_counters u_counters (
      .clk,
      .rst,
      .clear(begin_run),
      .running,
      .waiting,
      .retire,
      .is_mm(is_mm),
      .is_dma(is_ld || is_st),
      .cyc_total_q(cyc_total),
      .cyc_mm_q(cyc_mm),
      .cyc_dma_q(cyc_dma),
      .cyc_vec_q(cyc_vec),
      .n_inst_q(n_inst)
  );

  // ---- Scratchpad and its two ports

  wire spad_ren;
  wire [11:0] spad_raddr;
  wire [31:0] spad_rdata;
  wire [7:0] spad_rbyte = spad_rdata[7:0];  // for the units that consume int8
  wire spad_we;
  wire [11:0] spad_waddr;
  wire [31:0] spad_wdata;

  wire st_ren, mm_ren, rq_ren, sm_ren, vadd_ren, amax_ren, unpack_ren;
  wire [11:0] st_raddr, mm_raddr, rq_raddr, sm_raddr, vadd_raddr, amax_raddr, unpack_raddr;
  wire ld_we, mm_we, rq_we, sm_we, vadd_we, amax_we, unpack_we;
  wire [11:0] ld_waddr, mm_waddr, rq_waddr, sm_waddr, vadd_waddr, amax_waddr, unpack_waddr;
  wire [31:0] ld_wdata, mm_wdata, rq_wdata, sm_wdata, vadd_wdata, amax_wdata, unpack_wdata;

  // Chains of selections, the busiest unit last in line: a change passes the fewest stages.
  assign spad_ren = st_ren || mm_ren || rq_ren || sm_ren || vadd_ren || amax_ren || unpack_ren;
  assign spad_raddr = is_mm ? mm_raddr
      : is_st ? st_raddr
      : is_rq ? rq_raddr
      : is_sm ? sm_raddr
      : is_vadd ? vadd_raddr
      : is_amax ? amax_raddr
      : unpack_raddr;
  assign spad_we = ld_we || mm_we || rq_we || sm_we || vadd_we || amax_we || unpack_we;
  assign spad_waddr = is_ld ? ld_waddr
      : is_mm ? mm_waddr
      : is_rq ? rq_waddr
      : is_sm ? sm_waddr
      : is_vadd ? vadd_waddr
      : is_amax ? amax_waddr
      : unpack_waddr;
  assign spad_wdata = is_ld ? ld_wdata
      : is_mm ? mm_wdata
      : is_rq ? rq_wdata
      : is_sm ? sm_wdata
      : is_vadd ? vadd_wdata
      : is_amax ? amax_wdata
      : unpack_wdata;

  ga2_scratchpad u_scratchpad (
      .clk,
      .ren(spad_ren),
      .raddr(spad_raddr),
      .rdata_q(spad_rdata),
      .we(spad_we),
      .waddr(spad_waddr),
      .wdata(spad_wdata)
  );

  // ---- Execution units

  ga2_load u_load (
      .clk,
      .rst,
      .start(issue_start && is_ld),
      .dst(a[11:0]),
      .src(b),
      .len(c[11:0]),
      .req_valid_q(req_valid),
      .req_addr_q(req_addr),
      .resp_valid,
      .resp_data,
      .we_q(ld_we),
      .waddr_q(ld_waddr),
      .wdata_q(ld_wdata),
      .done(ld_done)
  );

  ga2_store u_store (
      .clk,
      .rst,
      .start(issue_start && is_st),
      .src(a[11:0]),
      .dst(b),
      .len(c[11:0]),
      .ren_q(st_ren),
      .raddr_q(st_raddr),
      .rdata(spad_rdata),
      .wr_valid_q(wr_valid),
      .wr_addr_q(wr_addr),
      .wr_data_q(wr_data),
      .done(st_done)
  );

  ga2_matmul u_matmul (
      .clk,
      .rst,
      .start(issue_start && is_mm),
      .dst(a[11:0]),
      .base_a(b[11:0]),
      .base_b(c[11:0]),
      .m(f[2:0]),
      .k(g[6:0]),
      .n(h[2:0]),
      .tb(fl[0]),
      .lda(d[11:0]),
      .ldb(d[23:12]),
      .ldc(x[11:0]),
      .ren(mm_ren),
      .addr_q(mm_raddr),
      .rdata(spad_rbyte),
      .we_q(mm_we),
      .waddr_q(mm_waddr),
      .wdata(mm_wdata),
      .done(mm_done)
  );

  ga2_requant u_requant (
      .clk,
      .rst,
      .start(issue_start && is_rq),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .m(d),
      .s(e),
      .relu(fl[0]),
      .ren_q(rq_ren),
      .raddr_q(rq_raddr),
      .rdata(spad_rdata),
      .we_q(rq_we),
      .waddr_q(rq_waddr),
      .wdata(rq_wdata),
      .done(rq_done)
  );

  ga2_softmax u_softmax (
      .clk,
      .rst,
      .start(issue_start && is_sm),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .ren_q(sm_ren),
      .raddr_q(sm_raddr),
      .rdata(spad_rbyte),
      .we_q(sm_we),
      .waddr_q(sm_waddr),
      .wdata(sm_wdata),
      .done(sm_done)
  );

  ga2_vadd u_vadd (
      .clk,
      .rst,
      .start(issue_start && is_vadd),
      .dst(a[11:0]),
      .src1(b[11:0]),
      .src2(c[11:0]),
      .len(d[11:0]),
      .ren_q(vadd_ren),
      .raddr_q(vadd_raddr),
      .rdata(spad_rbyte),
      .we_q(vadd_we),
      .waddr_q(vadd_waddr),
      .wdata(vadd_wdata),
      .done(vadd_done)
  );

  ga2_amax u_amax (
      .clk,
      .rst,
      .start(issue_start && is_amax),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .ren_q(amax_ren),
      .raddr_q(amax_raddr),
      .rdata(spad_rdata),
      .we_q(amax_we),
      .waddr_q(amax_waddr),
      .wdata(amax_wdata),
      .done(amax_done)
  );

  ga2_unpack u_unpack (
      .clk,
      .rst,
      .start(issue_start && is_unpack),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[8:0]),
      .ren_q(unpack_ren),
      .raddr_q(unpack_raddr),
      .rdata(spad_rdata),
      .we_q(unpack_we),
      .waddr_q(unpack_waddr),
      .wdata(unpack_wdata),
      .done_q(unpack_done)
  );

`ifdef GA2_ASSERT
  wire [7:0] selected = {is_ld, is_st, is_mm, is_rq, is_sm, is_vadd, is_amax, is_unpack};
  wire [7:0] ending = {
    ld_done, st_done, mm_done, rq_done, sm_done, vadd_done, amax_done, unpack_done
  };
  wire [7:0] reading = {1'b0, st_ren, mm_ren, rq_ren, sm_ren, vadd_ren, amax_ren, unpack_ren};
  wire [7:0] writing = {ld_we, 1'b0, mm_we, rq_we, sm_we, vadd_we, amax_we, unpack_we};

  // What woke up before the first reset means nothing.
  logic was_reset;
  initial was_reset = 1'b0;
  always @(posedge rst) was_reset <= 1'b1;

  // Units take turns. A look whenever one begins or ends, because one in every cycle costs time.
  always @(ending) begin
    if (was_reset && ending != '0 && ending != selected)
      $error("%b ended, %b had its turn", ending, selected);
  end
  always @(reading) begin
    if (was_reset && (reading & ~selected) != '0)
      $error("%b reads, %b has its turn", reading, selected);
  end
  always @(writing) begin
    if (was_reset && (writing & ~selected) != '0)
      $error("%b writes, %b has its turn", writing, selected);
  end
`endif

`ifdef FORMAL
`include "ga2.svh"
`endif

endmodule

`default_nettype wire
