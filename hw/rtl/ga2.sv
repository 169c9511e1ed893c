// SPDX-License-Identifier: Apache-2.0
//
// GA-2, a small int8 inference accelerator: one in-order sequencer, eight execution units that take
// turns, a 4,096-word scratchpad. This is the wiring; docs/isa.md says what it computes and when.
//
// Every unit reads its operands from the instruction register, which holds while the unit is busy,
// and keeps its ports still while it is idle. So the ports are chosen by opcode alone.

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

  import ga2_pkg::*;

  // ---- Sequencing

  wire [127:0] instr;
  wire [15:0] pc_q;
  wire [3:0] check_code;
  wire begin_run, running, waiting, issue_start, retire;
  // Read by nothing here: the testbench's retire probe looks at them.
  // verilator lint_off UNUSEDSIGNAL
  wire issue, issue_fault, issue_halt;
  // verilator lint_on UNUSEDSIGNAL
  wire ld_done, st_done, mm_done, rq_done, sm_done, vadd_done, amax_done, unpack_done;

  wire [3:0] op = instr[FieldOp+:4];
  wire [15:0] a = instr[FieldA+:16];
  wire [15:0] b = instr[FieldB+:16];
  wire [15:0] c = instr[FieldC+:16];
  wire [23:0] d = instr[FieldD+:24];
  wire [5:0] e = instr[FieldE+:6];
  wire [7:0] f = instr[FieldF+:8];
  wire [7:0] g = instr[FieldG+:8];
  wire [7:0] h = instr[FieldH+:8];
  wire [3:0] fl = instr[FieldFl+:4];
  wire [17:0] x = instr[FieldX+:18];
  // No operation uses these bits.
  wire [8:0] unused_bits = {fl[3:1], x[17:12]};

  assign imem_addr = pc_q;

  ga2_sequencer u_sequencer (
      .clk,
      .rst,
      .start,
      .imem_data,
      .instr_q(instr),
      .pc_q,
      .check_code,
      .unit_done(ld_done || st_done || mm_done || rq_done || sm_done || vadd_done || amax_done
                 || unpack_done),
      .begin_run,
      .running,
      .waiting,
      .issue,
      .issue_fault,
      .issue_halt,
      .issue_start,
      .retire,
      .halted,
      .fault,
      .fault_code,
      .fault_pc
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
      .is_mm(op == OpMm),
      .is_dma(op == OpLd || op == OpSt),
      .cyc_total,
      .cyc_mm,
      .cyc_dma,
      .cyc_vec,
      .n_inst
  );

  // ---- Scratchpad and its two ports

  logic spad_ren;
  logic [11:0] spad_raddr;
  wire [31:0] spad_rdata;
  logic spad_we;
  logic [11:0] spad_waddr;
  logic [31:0] spad_wdata;

  wire st_ren, mm_ren, rq_ren, sm_ren, vadd_ren, amax_ren, unpack_ren;
  wire [11:0] st_raddr, mm_raddr, rq_raddr, sm_raddr, vadd_raddr, amax_raddr, unpack_raddr;
  wire ld_we, mm_we, rq_we, sm_we, vadd_we, amax_we, unpack_we;
  wire [11:0] ld_waddr, mm_waddr, rq_waddr, sm_waddr, vadd_waddr, amax_waddr, unpack_waddr;
  wire [31:0] ld_wdata, mm_wdata, rq_wdata, sm_wdata, vadd_wdata, amax_wdata, unpack_wdata;

  always_comb begin
    case (op)
      OpSt: {spad_ren, spad_raddr} = {st_ren, st_raddr};
      OpMm: {spad_ren, spad_raddr} = {mm_ren, mm_raddr};
      OpRq: {spad_ren, spad_raddr} = {rq_ren, rq_raddr};
      OpSm: {spad_ren, spad_raddr} = {sm_ren, sm_raddr};
      OpVadd: {spad_ren, spad_raddr} = {vadd_ren, vadd_raddr};
      OpAmax: {spad_ren, spad_raddr} = {amax_ren, amax_raddr};
      default: {spad_ren, spad_raddr} = {unpack_ren, unpack_raddr};
    endcase
  end

  always_comb begin
    case (op)
      OpLd: {spad_we, spad_waddr, spad_wdata} = {ld_we, ld_waddr, ld_wdata};
      OpMm: {spad_we, spad_waddr, spad_wdata} = {mm_we, mm_waddr, mm_wdata};
      OpRq: {spad_we, spad_waddr, spad_wdata} = {rq_we, rq_waddr, rq_wdata};
      OpSm: {spad_we, spad_waddr, spad_wdata} = {sm_we, sm_waddr, sm_wdata};
      OpVadd: {spad_we, spad_waddr, spad_wdata} = {vadd_we, vadd_waddr, vadd_wdata};
      OpAmax: {spad_we, spad_waddr, spad_wdata} = {amax_we, amax_waddr, amax_wdata};
      default: {spad_we, spad_waddr, spad_wdata} = {unpack_we, unpack_waddr, unpack_wdata};
    endcase
  end

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
      .start(issue_start && op == OpLd),
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
      .done_q(ld_done)
  );

  ga2_store u_store (
      .clk,
      .rst,
      .start(issue_start && op == OpSt),
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
      .start(issue_start && op == OpMm),
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
      .ren_q(mm_ren),
      .addr_q(mm_raddr),
      .rdata(spad_rdata[7:0]),
      .we_q(mm_we),
      .waddr_q(mm_waddr),
      .wdata(mm_wdata),
      .done(mm_done)
  );

  ga2_requant u_requant (
      .clk,
      .rst,
      .start(issue_start && op == OpRq),
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
      .start(issue_start && op == OpSm),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .ren_q(sm_ren),
      .raddr_q(sm_raddr),
      .rdata(spad_rdata[7:0]),
      .we_q(sm_we),
      .waddr_q(sm_waddr),
      .wdata(sm_wdata),
      .done(sm_done)
  );

  ga2_vadd u_vadd (
      .clk,
      .rst,
      .start(issue_start && op == OpVadd),
      .dst(a[11:0]),
      .src1(b[11:0]),
      .src2(c[11:0]),
      .len(d[11:0]),
      .ren_q(vadd_ren),
      .raddr_q(vadd_raddr),
      .rdata(spad_rdata[7:0]),
      .we_q(vadd_we),
      .waddr_q(vadd_waddr),
      .wdata(vadd_wdata),
      .done(vadd_done)
  );

  ga2_amax u_amax (
      .clk,
      .rst,
      .start(issue_start && op == OpAmax),
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
      .start(issue_start && op == OpUnpack),
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

endmodule

`default_nettype wire
