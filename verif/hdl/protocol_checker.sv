// SPDX-License-Identifier: Apache-2.0
//
// Checks the pins of GA-2 after the first reset; passive. Errors are counted, their codes collected
// in a mask, the first one kept with its cycle. They are read when `done` rises and start anew in
// the cycle after. verif/env/protocol.py reads the codes and their texts from here.

`default_nettype none

module protocol_checker #(
    parameter bit Probed = 1'b1,  // what is inside the design is connected
    parameter int Period = 2  // of the clock, in time units
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire         done,
    input  wire         halted,
    input  wire  [15:0] imem_addr,
    input  wire         req_valid,
    input  wire         wr_valid,
    input  wire  [ 3:0] flaws,         // found by bus_watch
    input  wire         unanswered,    // a read request waits for its answer
    input  wire  [31:0] cyc_total,
    input  wire  [31:0] cyc_mm,
    input  wire  [31:0] cyc_dma,
    input  wire  [31:0] cyc_vec,
    input  wire  [31:0] n_inst,
    input  wire         fault,
    input  wire  [ 3:0] fault_code,
    input  wire  [15:0] fault_pc,
    input  wire         executing,
    input  wire  [ 3:0] executing_op,
    input  wire         retire,
    input  wire         spad_we,
    input  wire         spad_ren,
    output logic [31:0] errors,
    output logic [31:0] error_mask,    // bit c: code c was seen
    output logic [ 7:0] first_error,
    output logic [31:0] first_cycle    // cycles since the program's start
);

  typedef enum logic [7:0] {
    // read request outside an LD
    ReqOutsideLoad      = 1,
    // external write outside an ST
    WriteOutsideStore   = 2,
    // read burst whose addresses are not consecutive
    ReqNotConsecutive   = 3,
    // write burst whose addresses are not consecutive
    WriteNotConsecutive = 4,
    // an instruction or program ended with read requests unanswered
    Unanswered          = 5,
    // counters changed after the end of the program
    CountersNotHeld     = 6,
    // halted or the fault outputs changed after the end of the program
    EndNotHeld          = 7,
    // unknown bit on a control output
    UnknownControl      = 8,
    // unknown bit on a data output
    UnknownData         = 9,
    // cyc_total did not count every cycle from 0 (also: a start while running was not ignored)
    TotalNotCounting    = 10,
    // cyc_total is not cyc_mm + cyc_dma + cyc_vec + 2 * n_inst + 2 at the end
    CounterSum          = 11,
    // fault rose without halted
    FaultWithoutHalt    = 12,
    // a counter, halted, the fault outputs or imem_addr not cleared by reset or start
    NotCleared          = 13,
    // scratchpad written outside an instruction's busy time
    SpadWriteOutside    = 14,
    // scratchpad read outside an instruction's busy time
    SpadReadOutside     = 15
  } code_e;

  localparam logic [3:0] OpLoad = 4'd1;
  localparam logic [3:0] OpStore = 4'd2;

  logic watching;  // a reset was seen
  logic active;  // a program runs
  logic ended;  // halted was seen; outputs must hold
  logic was_reset, was_start, was_done;
  time started_at;
  logic [159:0] held_counters;
  logic [21:0] held_end;

  // An event-driven simulator pays for every signal that is looked at, and most cycles have nothing
  // to check: so one look at what could be wrong. Unknown bits are not 0.
  wire stray_request = req_valid && Probed && !(executing && executing_op == OpLoad);
  wire stray_write = wr_valid && Probed && !(executing && executing_op == OpStore);
  wire stray_spad_write = Probed && spad_we && !executing;
  wire stray_spad_read = Probed && spad_ren && !executing;
  wire [16:0] attention = {
    rst, start, done && !was_done, was_reset, was_start, ended, halted, fault, Probed && retire,
    stray_request, stray_write, stray_spad_write, stray_spad_read, flaws
  };

  initial begin
    {watching, active, ended} = '0;
    {was_reset, was_start, was_done} = '0;
    started_at = 0;
    {errors, error_mask, first_error, first_cycle} = '0;
  end

  function automatic logic [31:0] cycle();
    return 32'(($time - started_at) / 64'(Period));
  endfunction

  task automatic report(input code_e code);
    if (watching) begin
      if (errors == 0) begin
        first_error = code;
        first_cycle = cycle();
      end
      errors = errors + 1;
      error_mask[code[4:0]] = 1'b1;
    end
  endtask

  // One process with blocking assignments: nothing but Python reads these variables.
  always @(posedge clk) begin
    if (attention !== '0) check;
  end

  task automatic check;
    if (done && !was_done) {errors, error_mask, first_error, first_cycle} = '0;
    was_done = done;
    if (rst) begin
      watching = 1'b1;
      active = 1'b0;
      ended = 1'b0;
      was_start = 1'b0;
    end else begin
      if (^{halted, fault, imem_addr, Probed && retire} === 1'bx) report(UnknownControl);
      if (stray_request !== 1'b0) report(ReqOutsideLoad);
      if (stray_write !== 1'b0) report(WriteOutsideStore);
      if (stray_spad_write !== 1'b0) report(SpadWriteOutside);
      if (stray_spad_read !== 1'b0) report(SpadReadOutside);
      if (Probed && retire === 1'b1 && unanswered) report(Unanswered);
      if (flaws[0]) report(ReqNotConsecutive);
      if (flaws[1]) report(WriteNotConsecutive);
      if (flaws[2]) report(UnknownControl);
      if (flaws[3]) report(UnknownData);
      check_program;
    end
    was_reset = rst;
  endtask

  task automatic check_program;
    if (was_reset && {halted, fault, fault_code, fault_pc, imem_addr, cyc_total, cyc_mm, cyc_dma,
                      cyc_vec, n_inst} !== '0)
      report(NotCleared);
    if (active) begin
      if (was_start && {cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst} !== '0) report(NotCleared);
      if (halted === 1'b1) check_end;
      else if (fault !== 1'b0) report(FaultWithoutHalt);
    end else if (ended) begin
      // Each change counts once.
      if ({cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst} !== held_counters) begin
        report(CountersNotHeld);
      end
      if ({halted, fault, fault_code, fault_pc} !== held_end) report(EndNotHeld);
      held_counters = {cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst};
      held_end = {halted, fault, fault_code, fault_pc};
    end
    was_start = start && !active;
    if (was_start) begin
      active = 1'b1;
      ended = 1'b0;
      started_at = $time;
    end
  endtask

  task automatic check_end;
    active = 1'b0;
    ended = 1'b1;
    held_counters = {cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst};
    held_end = {halted, fault, fault_code, fault_pc};
    if (^{held_counters, held_end} === 1'bx) report(UnknownData);
    // The first cycle after start is FETCH; `halted` is seen one cycle after the last one that
    // counts. A start that was not ignored shows here: the total began again.
    if (cyc_total !== cycle() - 1) report(TotalNotCounting);
    if (cyc_total !== cyc_mm + cyc_dma + cyc_vec + 2 * n_inst + 2) report(CounterSum);
    if (unanswered) report(Unanswered);
  endtask

endmodule

`default_nettype wire
