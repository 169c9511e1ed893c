// SPDX-License-Identifier: Apache-2.0
// Checks the pins of GA-2 in every cycle after the first reset; passive. Errors are counted, their
// codes collected in a mask, the first one kept with its cycle, until Python has taken them, which
// it says by changing `taken`. The texts of the codes are in verif/env/protocol.py.
`default_nettype none

module protocol_checker #(
  parameter bit Probed = 1'b1  // `executing`, `retire` and `spad_we` are connected
) (
  input  wire         clk,
  input  wire         rst,
  input  wire         start,
  input  wire         taken,
  input  wire         halted,
  input  wire  [15:0] imem_addr,
  input  wire         req_valid,
  input  wire  [15:0] req_addr,
  input  wire         resp_valid,
  input  wire         wr_valid,
  input  wire  [15:0] wr_addr,
  input  wire  [31:0] wr_data,
  input  wire  [31:0] cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst,
  input  wire         fault,
  input  wire  [3:0]  fault_code,
  input  wire  [15:0] fault_pc,
  input  wire         executing,
  input  wire  [3:0]  executing_op,
  input  wire         retire,
  input  wire         spad_we,
  output logic [31:0] errors,
  output logic [31:0] error_mask,   // bit c: code c was seen
  output logic [7:0]  first_error,
  output logic [31:0] first_cycle   // cycles since the program's start
);

  typedef enum logic [7:0] {
    ReqOutsideLoad      = 1,
    WriteOutsideStore   = 2,
    ReqNotConsecutive   = 3,
    WriteNotConsecutive = 4,
    ResponseCount       = 5,
    CountersNotHeld     = 6,
    EndNotHeld          = 7,
    UnknownControl      = 8,
    UnknownData         = 9,
    TotalNotCounting    = 10,
    CounterSum          = 11,
    FaultWithoutHalt    = 12,
    NotCleared          = 13,
    SpadWriteOutside    = 14
  } code_e;

  localparam logic [3:0] OpLoad  = 4'd1;
  localparam logic [3:0] OpStore = 4'd2;

  logic         watching;   // a reset was seen
  logic         active;     // a program runs
  logic         ended;      // halted was seen; outputs must hold
  logic         was_reset, was_taken;
  logic         prev_req, prev_wr;
  logic [15:0]  next_req_addr, next_wr_addr;
  logic [15:0]  outstanding;
  logic [31:0]  cycle;
  logic [159:0] held_counters;
  logic [21:0]  held_end;

  wire [159:0] counters = {cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst};

  initial begin
    {watching, active, ended, was_reset, was_taken, prev_req, prev_wr} = '0;
    outstanding = '0;
    cycle       = '0;
    {errors, error_mask, first_error, first_cycle} = '0;
  end

  task automatic report(input code_e code);
    if (errors == 0) begin
      first_error = code;
      first_cycle = cycle;
    end
    errors = errors + 1;
    error_mask[code[4:0]] = 1'b1;
  endtask

  // One process with blocking assignments: nothing but Python reads these variables.
  always @(posedge clk) begin
    if (taken != was_taken) {errors, error_mask, first_error, first_cycle} = '0;
    was_taken = taken;
    if (rst) begin
      watching    = 1'b1;
      was_reset   = 1'b1;
      active      = 1'b0;
      ended       = 1'b0;
      prev_req    = 1'b0;
      prev_wr     = 1'b0;
      outstanding = '0;
    end else if (watching) begin
      check_unknown;
      check_traffic;
      check_program;
      was_reset = 1'b0;
    end
  end

  task automatic check_unknown;
    if (^{halted, fault, req_valid, wr_valid, imem_addr} === 1'bx) report(UnknownControl);
    if (req_valid === 1'b1 && ^req_addr === 1'bx) report(UnknownData);
    if (wr_valid === 1'b1 && ^{wr_addr, wr_data} === 1'bx) report(UnknownData);
  endtask

  task automatic check_traffic;
    if (resp_valid) begin
      if (outstanding == 0) report(ResponseCount);
      else outstanding = outstanding - 1;
    end
    if (req_valid === 1'b1) begin
      if (Probed && !(executing && executing_op == OpLoad)) report(ReqOutsideLoad);
      if (prev_req && req_addr !== next_req_addr) report(ReqNotConsecutive);
      next_req_addr = req_addr + 1;
      outstanding   = outstanding + 1;
    end
    if (wr_valid === 1'b1) begin
      if (Probed && !(executing && executing_op == OpStore)) report(WriteOutsideStore);
      if (prev_wr && wr_addr !== next_wr_addr) report(WriteNotConsecutive);
      next_wr_addr = wr_addr + 1;
    end
    prev_req = req_valid === 1'b1;
    prev_wr  = wr_valid === 1'b1;
    if (Probed) begin
      if (retire === 1'b1 && outstanding != 0) report(ResponseCount);
      if (spad_we === 1'b1 && !executing) report(SpadWriteOutside);
    end
  endtask

  task automatic check_program;
    if (was_reset && (halted !== 1'b0 || fault !== 1'b0)) report(NotCleared);
    if (active) begin
      // Also shows a start that was not ignored: the total would begin again.
      if (cyc_total !== cycle) report(TotalNotCounting);
      if (halted === 1'b1) begin
        active        = 1'b0;
        ended         = 1'b1;
        held_counters = counters;
        held_end      = {halted, fault, fault_code, fault_pc};
        if (^{counters, held_end} === 1'bx) report(UnknownData);
        if (cyc_total !== cyc_mm + cyc_dma + cyc_vec + 2 * n_inst + 2) report(CounterSum);
        if (outstanding != 0) report(ResponseCount);
      end else begin
        if (fault !== 1'b0) report(FaultWithoutHalt);
        if (cycle == 0 && counters !== '0) report(NotCleared);
        cycle = cycle + 1;
      end
    end else if (ended) begin
      // Each change counts once.
      if (counters !== held_counters) report(CountersNotHeld);
      if ({halted, fault, fault_code, fault_pc} !== held_end) report(EndNotHeld);
      held_counters = counters;
      held_end      = {halted, fault, fault_code, fault_pc};
    end
    if (start && !active) begin
      active = 1'b1;
      ended  = 1'b0;
      cycle  = '0;
    end
  endtask

endmodule

`default_nettype wire
