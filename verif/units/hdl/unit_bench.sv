// SPDX-License-Identifier: Apache-2.0
//
// Bench of the unit-level tests: every execution unit in one socket, and the pieces without a
// socket beside it. The socket gives the unit that `op` selects its operands from an instruction
// word, as in ga2, and shows that unit's ports under common names; Python plays scratchpad and
// external memory. One top for all units, because a build costs more than the tests.

`default_nettype none

module unit_bench;

  logic clk  /* verilator public_flat_rd */ = 1'b0;
  always #5 clk = !clk;

  // ---- Driven by Python

  logic rst  /* verilator public_flat_rw */ = 1'b1;
  logic start  /* verilator public_flat_rw */ = 1'b0;
  logic [127:0] instr  /* verilator public_flat_rw */ = '0;
  logic [31:0] rdata  /* verilator public_flat_rw */ = '0;
  logic resp_valid  /* verilator public_flat_rw */ = 1'b0;
  logic [31:0] resp_data  /* verilator public_flat_rw */ = '0;

`ifdef GA2_MUTANTS
  logic [31:0] mutant_next  /* verilator public_flat_rw */ = '0;
  always_ff @(posedge clk) ga2_mutant_pkg::id <= mutant_next;  // which one is alive
`endif

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
  // End of what make operations writes.

  // ---- The socket: one bit or word a unit, its index is the opcode

  wire [15:0] starts = start ? 16'd1 << op : 16'd0;
  wire [15:0] rens, wes, dones;
  wire [11:0] raddrs[16];
  wire [11:0] waddrs[16];
  wire [31:0] wdatas[16];

  wire ren  /* verilator public_flat_rd */ = rens[op];
  wire [11:0] raddr  /* verilator public_flat_rd */ = raddrs[op];
  wire we  /* verilator public_flat_rd */ = wes[op];
  wire [11:0] waddr  /* verilator public_flat_rd */ = waddrs[op];
  wire [31:0] wdata  /* verilator public_flat_rd */ = wdatas[op];
  wire done  /* verilator public_flat_rd */ = dones[op];
  wire req_valid  /* verilator public_flat_rd */;
  wire [15:0] req_addr  /* verilator public_flat_rd */;
  wire wr_valid  /* verilator public_flat_rd */;
  wire [15:0] wr_addr  /* verilator public_flat_rd */;
  wire [31:0] wr_data  /* verilator public_flat_rd */;
  // Of all units, selected or not: nothing may move when nothing was started.
  wire any_request  /* verilator public_flat_rd */ = |{rens, wes, dones, req_valid, wr_valid};

  // Written by make operations.
  ga2_load u_load (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpLd]),
      .dst(a[11:0]),
      .src(b),
      .len(c[11:0]),
      .req_valid_q(req_valid),
      .req_addr_q(req_addr),
      .resp_valid,
      .resp_data,
      .we_q(wes[ga2_pkg::OpLd]),
      .waddr_q(waddrs[ga2_pkg::OpLd]),
      .wdata_q(wdatas[ga2_pkg::OpLd]),
      .done(dones[ga2_pkg::OpLd])
  );

  ga2_store u_store (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpSt]),
      .src(a[11:0]),
      .dst(b),
      .len(c[11:0]),
      .ren_q(rens[ga2_pkg::OpSt]),
      .raddr_q(raddrs[ga2_pkg::OpSt]),
      .rdata,
      .wr_valid_q(wr_valid),
      .wr_addr_q(wr_addr),
      .wr_data_q(wr_data),
      .done(dones[ga2_pkg::OpSt])
  );

  ga2_matmul u_matmul (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpMm]),
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
      .ren(rens[ga2_pkg::OpMm]),
      .addr_q(raddrs[ga2_pkg::OpMm]),
      .rdata(rdata[7:0]),
      .we_q(wes[ga2_pkg::OpMm]),
      .waddr_q(waddrs[ga2_pkg::OpMm]),
      .wdata(wdatas[ga2_pkg::OpMm]),
      .done(dones[ga2_pkg::OpMm])
  );

  ga2_requant u_requant (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpRq]),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .m(d),
      .s(e),
      .relu(fl[0]),
      .ren_q(rens[ga2_pkg::OpRq]),
      .raddr_q(raddrs[ga2_pkg::OpRq]),
      .rdata,
      .we_q(wes[ga2_pkg::OpRq]),
      .waddr_q(waddrs[ga2_pkg::OpRq]),
      .wdata(wdatas[ga2_pkg::OpRq]),
      .done(dones[ga2_pkg::OpRq])
  );

  ga2_softmax u_softmax (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpSm]),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .ren_q(rens[ga2_pkg::OpSm]),
      .raddr_q(raddrs[ga2_pkg::OpSm]),
      .rdata(rdata[7:0]),
      .we_q(wes[ga2_pkg::OpSm]),
      .waddr_q(waddrs[ga2_pkg::OpSm]),
      .wdata(wdatas[ga2_pkg::OpSm]),
      .done(dones[ga2_pkg::OpSm])
  );

  ga2_vadd u_vadd (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpVadd]),
      .dst(a[11:0]),
      .src1(b[11:0]),
      .src2(c[11:0]),
      .len(d[11:0]),
      .ren_q(rens[ga2_pkg::OpVadd]),
      .raddr_q(raddrs[ga2_pkg::OpVadd]),
      .rdata(rdata[7:0]),
      .we_q(wes[ga2_pkg::OpVadd]),
      .waddr_q(waddrs[ga2_pkg::OpVadd]),
      .wdata(wdatas[ga2_pkg::OpVadd]),
      .done(dones[ga2_pkg::OpVadd])
  );

  ga2_amax u_amax (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpAmax]),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[11:0]),
      .ren_q(rens[ga2_pkg::OpAmax]),
      .raddr_q(raddrs[ga2_pkg::OpAmax]),
      .rdata,
      .we_q(wes[ga2_pkg::OpAmax]),
      .waddr_q(waddrs[ga2_pkg::OpAmax]),
      .wdata(wdatas[ga2_pkg::OpAmax]),
      .done(dones[ga2_pkg::OpAmax])
  );

  ga2_unpack u_unpack (
      .clk,
      .rst,
      .start(starts[ga2_pkg::OpUnpack]),
      .dst(a[11:0]),
      .src(b[11:0]),
      .len(c[8:0]),
      .ren_q(rens[ga2_pkg::OpUnpack]),
      .raddr_q(raddrs[ga2_pkg::OpUnpack]),
      .rdata,
      .we_q(wes[ga2_pkg::OpUnpack]),
      .waddr_q(waddrs[ga2_pkg::OpUnpack]),
      .wdata(wdatas[ga2_pkg::OpUnpack]),
      .done_q(dones[ga2_pkg::OpUnpack])
  );

  assign {rens[15:9], rens[1:0]} = '0;
  assign {wes[15:9], wes[2], wes[0]} = '0;
  assign {dones[15:9], dones[0]} = '0;
  // End of what make operations writes.

  // ---- Beside the socket

  wire [3:0] check_code  /* verilator public_flat_rd */;

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

  logic [31:0] rqz_acc  /* verilator public_flat_rw */ = '0;
  wire [7:0] rqz_q  /* verilator public_flat_rd */;

  ga2_requantizer u_requantizer (
      .acc(rqz_acc),
      .m(d),
      .s(e),
      .relu(fl[0]),
      .q(rqz_q)
  );

  logic [7:0] exp_d  /* verilator public_flat_rw */ = '0;
  wire [15:0] exp_e  /* verilator public_flat_rd */;

  ga2_exp_table u_exp_table (
      .d(exp_d),
      .e(exp_e)
  );

  logic div_start  /* verilator public_flat_rw */ = 1'b0;
  logic [39:0] div_dividend  /* verilator public_flat_rw */ = '0;
  logic [27:0] div_divisor  /* verilator public_flat_rw */ = '0;
  wire [39:0] div_quotient  /* verilator public_flat_rd */;
  wire div_done  /* verilator public_flat_rd */;

  ga2_divider u_divider (
      .clk,
      .start(div_start),
      .dividend(div_dividend),
      .divisor(div_divisor),
      .quotient_q(div_quotient),
      .done(div_done)
  );

  logic sp_ren  /* verilator public_flat_rw */ = 1'b0;
  logic [11:0] sp_raddr  /* verilator public_flat_rw */ = '0;
  wire [31:0] sp_rdata  /* verilator public_flat_rd */;
  logic sp_we  /* verilator public_flat_rw */ = 1'b0;
  logic [11:0] sp_waddr  /* verilator public_flat_rw */ = '0;
  logic [31:0] sp_wdata  /* verilator public_flat_rw */ = '0;

  ga2_scratchpad u_scratchpad (
      .clk,
      .ren(sp_ren),
      .raddr(sp_raddr),
      .rdata_q(sp_rdata),
      .we(sp_we),
      .waddr(sp_waddr),
      .wdata(sp_wdata)
  );

  // The counters' values can be placed: no run of bearable length reaches their high bits.
  logic [5:0] ctr_in  /* verilator public_flat_rw */ = '0;
  logic ctr_place  /* verilator public_flat_rw */ = 1'b0;
  logic [159:0] ctr_value  /* verilator public_flat_rw */ = '0;
  wire [159:0] ctr_out  /* verilator public_flat_rd */;

  ga2_counters u_counters (
      .clk,
      .rst,
      .clear(ctr_in[5]),
      .running(ctr_in[4]),
      .waiting(ctr_in[3]),
      .retire(ctr_in[2]),
      .is_mm(ctr_in[1]),
      .is_dma(ctr_in[0]),
      .cyc_total_q(ctr_out[159:128]),
      .cyc_mm_q(ctr_out[127:96]),
      .cyc_dma_q(ctr_out[95:64]),
      .cyc_vec_q(ctr_out[63:32]),
      .n_inst_q(ctr_out[31:0])
  );

  always @(posedge ctr_place) begin
    force u_counters.cyc_total_q = ctr_value[159:128];
    force u_counters.cyc_mm_q = ctr_value[127:96];
    force u_counters.cyc_dma_q = ctr_value[95:64];
    force u_counters.cyc_vec_q = ctr_value[63:32];
    force u_counters.n_inst_q = ctr_value[31:0];
  end
  always @(negedge ctr_place) begin
    release u_counters.cyc_total_q;
    release u_counters.cyc_mm_q;
    release u_counters.cyc_dma_q;
    release u_counters.cyc_vec_q;
    release u_counters.n_inst_q;
  end

endmodule

`default_nettype wire
