// SPDX-License-Identifier: Apache-2.0
//
// Passive: streams one record per completed or faulting instruction to the open file `fd`, as six
// little-endian words: pc, op | fault << 8, busy cycles, scratchpad writes, external writes,
// signature over the scratchpad writes (docs/testbench.md). Also tells the protocol checker which
// operation is executing.

`default_nettype none

module retire_probe #(
    parameter int Period = 2  // of the clock, in time units
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,        // a program begins
    input  wire  [31:0] fd,
    input  wire  [15:0] pc,
    input  wire  [ 3:0] op,
    input  wire         issue,
    input  wire         issue_fault,
    input  wire         issue_start,
    input  wire         retire,
    input  wire         spad_we,
    input  wire  [11:0] spad_waddr,
    input  wire  [31:0] spad_wdata,
    input  wire         wr_valid,
    output logic        executing,    // an instruction is in its busy time
    output logic [ 3:0] executing_op
);

  time issued_at;
  logic [31:0] ext_writes, signature, busy;
  logic [31:0] spad_writes;

  initial begin
    executing = 1'b0;
    executing_op = '0;
    issued_at = 0;
    clear;
  end

  // Counts restart at retirement, not at issue: a write outside an instruction's busy time is then
  // charged to the next instruction and shows.
  task automatic clear;
    spad_writes = '0;
    ext_writes = '0;
    signature = '0;
  endtask

  function automatic logic [31:0] mix(input logic [31:0] word);
    logic [31:0] x;
    x = word ^ (word >> 16);
    x = x * 32'h85EB_CA6B;
    x = x ^ (x >> 13);
    x = x * 32'hC2B2_AE35;
    return x ^ (x >> 16);
  endfunction

  // Most cycles have nothing to record; an event-driven simulator pays for every look.
  wire [5:0] attention = {rst, start, wr_valid, issue, issue_fault, retire};

  always @(posedge clk) begin
    if (spad_we === 1'b1) begin
      signature = signature +
          mix(spad_wdata ^ {20'd0, spad_waddr} * 32'h9E37_79B1 ^ spad_writes * 32'h85EB_CA6B);
      spad_writes = spad_writes + 32'd1;
    end
    if (attention == '0) begin
    end else if (rst || start) begin
      clear;
      executing <= 1'b0;
    end else begin
      if (wr_valid === 1'b1) ext_writes = ext_writes + 1;
      if (issue === 1'b1) begin
        issued_at = $time;
        executing <= issue_start;
        executing_op <= op;
      end
      if (retire === 1'b1 || issue_fault === 1'b1) begin
        busy = 32'(($time - issued_at) / 64'(Period));
        if (fd != 0) begin
`ifdef VERILATOR
          // Its $fwrite would make text of the numbers first.
          $c("{ const IData record[] = {", {16'd0, pc}, ", ", {23'd0, issue_fault, 4'd0, op}, ", ",
             busy, ", ", spad_writes, ", ", ext_writes, ", ", signature,
             "}; std::fwrite(record, sizeof record, 1, VL_CVT_I_FP(", fd, ")); }");
`else
          $fwrite(fd, "%u", {signature, ext_writes, spad_writes, busy, 23'd0, issue_fault, 4'd0,
                             op, 16'd0, pc});
`endif
        end
        clear;
        executing <= 1'b0;
      end
    end
  end

endmodule

`default_nettype wire
