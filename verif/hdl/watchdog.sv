// SPDX-License-Identifier: Apache-2.0
// Follows one program from `start` to its end. `done` rises `Settle` cycles after `halted` (late
// traffic and unstable outputs still show) or when the cycle limit is reached; then `hang` is high.
// If nobody starts another program for `IdleLimit` cycles the simulation is finished: a testbench
// that died must not leave a self-clocked simulation running.
`default_nettype none

module watchdog #(
  parameter int Settle    = 3,
  parameter int IdleLimit = 4_000_000
) (
  input  wire         clk,
  input  wire         rst,
  input  wire         start,
  input  wire  [31:0] limit,   // cycles from start
  input  wire         halted,
  output logic        running, // from start to done
  output logic        closing, // one cycle before done: time to dump
  output logic        done,
  output logic        hang
);

  logic [31:0] cycles;
  logic [3:0]  settled;

  initial begin
    running = 1'b0;
    closing = 1'b0;
    done    = 1'b0;
    hang    = 1'b0;
    cycles  = '0;
    settled = '0;
  end

  always @(posedge clk) begin
    cycles  <= cycles + 1;
    closing <= 1'b0;
    done    <= done || closing;
    if (rst || (start && !running)) begin
      running <= start && !rst;
      done    <= 1'b0;
      hang    <= 1'b0;
      cycles  <= '0;
      settled <= '0;
    end else if (running) begin
      if (halted === 1'b1) settled <= settled + 1;
      if (settled == 4'(Settle) || cycles >= limit) begin
        running <= 1'b0;
        closing <= 1'b1;
        hang    <= halted !== 1'b1;
        cycles  <= '0;
      end
    end else if (cycles >= IdleLimit) begin
      $display("ga2_tb: no program for %0d cycles, finishing", IdleLimit);
      $finish;
    end
  end

endmodule

`default_nettype wire
