// SPDX-License-Identifier: Apache-2.0
//
// What docs/isa.md says of a program's course, cycle by cycle: where it is, how it ends, and the five
// counters. It sees the chip's inputs, and for its instruction the verdict and the time that ga2_spec gives.
// No part of the design.

`default_nettype none

module ga2_reference (
    input  wire          clk,
    input  wire          rst,
    input  wire          start,
    input  wire  [127:0] imem_data,
    input  wire  [  3:0] code,        // of ga2_spec::fault
    input  wire  [ 13:0] busy,        // of ga2_spec::busy
    output logic [127:0] word,        // the instruction, from its ISSUE on
    output logic [ 15:0] pc,
    output wire          fetching,
    output wire          issuing,
    output wire          working,
    output wire          halted,
    output wire          last,        // the last busy cycle of an instruction
    output logic [ 13:0] cycle,       // busy cycle, 1 in the first; 0: not working
    output logic         fault,
    output logic [  3:0] fault_code,
    output logic [ 15:0] fault_pc,
    output logic [ 31:0] cyc_total,
    output logic [ 31:0] cyc_mm,
    output logic [ 31:0] cyc_dma,
    output logic [ 31:0] cyc_vec,
    output logic [ 31:0] n_inst
);

  localparam logic [2:0] Idle = 3'd0;
  localparam logic [2:0] Fetch = 3'd1;
  localparam logic [2:0] Issue = 3'd2;
  localparam logic [2:0] Work = 3'd3;
  localparam logic [2:0] Halted = 3'd4;
  logic [2:0] phase;

  wire [3:0] op = word[127:124];

  assign fetching = phase == Fetch;
  assign issuing = phase == Issue;
  assign working = phase == Work;
  assign halted = phase == Halted;
  assign last = working && cycle == busy;

  always @(posedge clk) begin
    if (fetching) word <= imem_data;
    if (rst) phase <= Idle;
    else case (phase)
      Fetch: phase <= Issue;
      Issue: phase <= op == 4'd0 || code != 4'd0 ? Halted : Work;
      Work: if (last) phase <= Fetch;
      default: if (start) phase <= Fetch;
    endcase
    cycle <= rst || last ? 14'd0 : issuing && op != 4'd0 && code == 4'd0 ? 14'd1
        : working ? cycle + 14'd1 : 14'd0;

    if (rst || (start && (phase == Idle || halted))) begin
      {pc, fault, fault_code, fault_pc} <= '0;
      {cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst} <= '0;
    end else begin
      if (issuing && code != 4'd0) {fault, fault_code, fault_pc} <= {1'b1, code, pc};
      if (last) pc <= pc + 16'd1;
      if (last) n_inst <= n_inst + 32'd1;
      if (fetching || issuing || working) cyc_total <= cyc_total + 32'd1;
      if (working && op == 4'd3) cyc_mm <= cyc_mm + 32'd1;
      if (working && (op == 4'd1 || op == 4'd2)) cyc_dma <= cyc_dma + 32'd1;
      if (working && op > 4'd3) cyc_vec <= cyc_vec + 32'd1;
    end
  end

endmodule

`default_nettype wire
