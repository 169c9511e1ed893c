// SPDX-License-Identifier: Apache-2.0
//
// Fetches, issues and waits, one instruction at a time: FETCH latches the instruction word, ISSUE
// starts a unit (or ends the program), WAIT lasts until the unit reports its last busy cycle.

`default_nettype none

module ga2_sequencer (
    input  wire          clk,
    input  wire          rst,
    input  wire          start,
    input  wire  [127:0] imem_data,
    output logic [127:0] instr_q,      // holds from ISSUE to the end of WAIT
    output logic [ 15:0] pc_q,         // address of the current instruction
    input  wire  [  3:0] check_code,   // the fault checker's verdict on instr_q
    input  wire          retire,       // the last busy cycle of the unit that was started
    output wire          begin_run,    // a start that is obeyed: clears the counters
    output wire          running,      // FETCH, ISSUE or WAIT
    output wire          waiting,      // WAIT
    output wire          issue,
    output wire          issue_fault,
    output wire          issue_start,  // the cycle that starts a unit
    output wire          halted,
    output logic         fault_q,
    output logic [  3:0] fault_code_q,
    output logic [ 15:0] fault_pc_q
);

  typedef enum logic [2:0] {
    StIdle,
    StFetch,
    StIssue,
    StWait,
    StHalted
  } state_e;

  state_e state_q;

  assign begin_run = start && (state_q == StIdle || state_q == StHalted);
  assign waiting = state_q == StWait;
  assign issue = state_q == StIssue;
  assign running = state_q == StFetch || issue || waiting;
  assign halted = state_q == StHalted;

  assign issue_fault = issue && check_code != ga2_pkg::FaultNone;
  assign issue_start = issue && !issue_fault && instr_q[ga2_pkg::FieldOp+:4] != ga2_pkg::OpHalt;

  // No flop changes in other cycles; in particular not while a unit works.
  wire active = rst || retire || begin_run || state_q == StFetch || issue;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        state_q <= StIdle;
        pc_q <= '0;
        fault_q <= 1'b0;
        fault_code_q <= '0;
        fault_pc_q <= '0;
      end else begin
`ifdef GA2_ASSERT
        assert (!retire || waiting) else $error("a unit ended that was not started");
        assert (!fault_q || halted) else $error("a fault did not halt the program");
`endif
        case (state_q)
          StFetch: begin
            instr_q <= imem_data;
            state_q <= StIssue;
          end
          StIssue: begin
`ifdef GA2_ASSERT
            assert (check_code <= ga2_pkg::FaultOverlap)
            else $error("there is no fault code %0d", check_code);
            assert (issue_fault || instr_q[ga2_pkg::FieldOp+:4] <= ga2_pkg::OpUnpack)
            else $error("no unit does operation %0d", instr_q[ga2_pkg::FieldOp+:4]);
`endif
            state_q <= issue_start ? StWait : StHalted;
            if (issue_fault) begin
              fault_q <= 1'b1;
              fault_code_q <= check_code;
              fault_pc_q <= pc_q;
            end
          end
          StWait: begin
            pc_q <= pc_q + 16'd1;
            state_q <= StFetch;
          end
          default: begin
`ifdef GA2_ASSERT
            assert (begin_run) else $error("there is no state %0d", state_q);
`endif
            pc_q <= '0;
            fault_q <= 1'b0;
            fault_code_q <= '0;
            fault_pc_q <= '0;
            state_q <= StFetch;
          end
        endcase
      end
    end
  end

`ifdef FORMAL
`include "ga2_sequencer.svh"
`endif

endmodule

`default_nettype wire
