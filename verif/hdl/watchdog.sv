// SPDX-License-Identifier: Apache-2.0
//
// Follows one program from `start` to its end, or to that of its second run if it `restarts`.
// `done` rises some cycles after `halted` (late traffic and unstable outputs still show), or up to
// `Tick` cycles after the cycle limit; then `hang` is high. If nobody starts another program for
// `IdleLimit` cycles the simulation is finished: a testbench that died must not leave a
// self-clocked simulation running. Now and then it writes the file `pulse`: who waits for the
// simulator sees that time goes on.

`default_nettype none

module watchdog #(
    parameter int Settle = 3,
    parameter int Tick = 64,
    parameter int Pulse = 1024,  // ticks
    parameter int IdleLimit = 4_000_000,
    parameter int Period = 2  // of the clock, in time units
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [31:0] limit,     // cycles from start
    input  wire         restarts,  // a start in a halted cycle begins another run, once
    input  wire         halted,
    output logic        running,   // from start to done
    output logic        closing,   // one cycle before done: time to dump
    output logic        done,
    output logic        hang
);

  time deadline;
  integer ticks, pulse_fd;
  logic expired;
  logic again;  // another run is to come
  logic [3:0] settled;

  wire [4:0] attention = {rst, start, running && halted !== 1'b0, expired, closing};

  initial begin
    running = 1'b0;
    closing = 1'b0;
    done = 1'b0;
    hang = 1'b0;
    expired = 1'b0;
    ticks = 0;
    again = 1'b0;
    settled = '0;
    deadline = 64'(IdleLimit * Period);
  end

  // Looks at the time now and then instead of counting cycles.
  always begin
    #(Tick * Period);
    ticks = ticks + 1;
    if (ticks % Pulse == 0) begin
      pulse_fd = $fopen("pulse", "w");
      $fwrite(pulse_fd, "%0d\n", $time);
      $fclose(pulse_fd);
    end
    if ($time >= deadline) begin
      if (running) begin
        expired = 1'b1;
      end else begin
        $display("ga2_tb: no program for %0d cycles, finishing", IdleLimit);
        $finish;
      end
    end
  end

  always @(posedge clk) begin
    if (attention != '0) begin
      closing <= 1'b0;
      if (closing) done <= 1'b1;
      if (rst || (start && !running)) begin
        running <= start && !rst;
        done <= 1'b0;
        hang <= 1'b0;
        settled <= '0;
        again <= restarts;
        expired = 1'b0;
        deadline = $time + 64'(Period) * (rst ? 64'(IdleLimit) : 64'(limit));
      end else if (running) begin
        if (again) begin
          if (halted === 1'b1 && start) again <= 1'b0;
        end else if (halted === 1'b1) begin
          settled <= settled + 1;
        end
        if (settled == 4'(Settle) || expired) begin
          running <= 1'b0;
          closing <= 1'b1;
          hang <= halted !== 1'b1;
          expired = 1'b0;
          deadline = $time + 64'(Period * IdleLimit);
        end
      end
    end
  end

endmodule

`default_nettype wire
