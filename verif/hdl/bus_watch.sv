// SPDX-License-Identifier: Apache-2.0
//
// Passive: watches the external bus. `rd_valid` and `st_valid` follow it a cycle later; when one
// falls, its address and length describe the burst. Streams every burst that has ended to the open
// file `bursts_fd` as two little-endian words, address | write << 16 and length, and every write to
// the open file `fd`, address and data: Python wakes for neither. `flaws` tells the protocol
// checker, a cycle later.

`default_nettype none

module bus_watch #(
    parameter int Period = 2  // of the clock, in time units
) (
    input  wire         clk,
    input  wire         rst,        // ends a burst at once: what follows is not its own
    input  wire  [31:0] fd,
    input  wire  [31:0] bursts_fd,
    input  wire         req_valid,
    input  wire  [15:0] req_addr,
    input  wire         wr_valid,
    input  wire  [15:0] wr_addr,
    input  wire  [31:0] wr_data,
    output logic        rd_valid,
    output logic [15:0] rd_addr,    // of the burst's first word
    output logic [15:0] rd_length,  // in words
    output logic        st_valid,
    output logic [15:0] st_addr,
    output logic [15:0] st_length,
    output logic [ 3:0] flaws       // read, write not consecutive; control, data unknown
);

  logic [15:0] next_read, next_write;
  time read_began, write_began;

  initial begin
    {rd_valid, rd_addr, rd_length, st_valid, st_addr, st_length, flaws} = '0;
    {next_read, next_write} = '0;
    read_began = 0;
    write_began = 0;
  end

  // In Verilator $fwrite would make text of the numbers first.
`ifdef VERILATOR
`define GA2_LOG(Fd, First, Second) \
    $c("{ const IData words[] = {", First, ", ", Second, \
       "}; std::fwrite(words, sizeof words, 1, VL_CVT_I_FP(", Fd, ")); }")
`else
`define GA2_LOG(Fd, First, Second) $fwrite(Fd, "%u", {Second, First})
`endif

  task automatic note_burst(input logic [31:0] first, input logic [31:0] second);
    if (bursts_fd != 0) begin
      `GA2_LOG(bursts_fd, first, second);
    end
  endtask

  wire [1:0] reading = {req_valid, rd_valid};
  wire [1:0] writing = {wr_valid, st_valid};
  wire idle = {reading, writing, flaws} === '0;

  // What describes a burst changes before its `valid`.
  always @(posedge clk) begin
    if (!idle) begin
      if (flaws != '0) flaws <= '0;
      if (reading !== '0) watch_reads;
      if (writing !== '0) watch_writes;
    end
  end

  task automatic watch_reads;
    if (req_valid === 1'b1 && !rst) begin
      if (!rd_valid) begin
        rd_valid <= 1'b1;
        rd_addr = req_addr;
        read_began = $time;
        if (^req_addr === 1'bx) flaws[3] <= 1'b1;
      end else if (req_addr !== next_read) begin
        flaws[0] <= 1'b1;
      end
      next_read = req_addr + 16'd1;
    end else begin
      if (req_valid !== 1'b0 && !rst) flaws[2] <= 1'b1;
      if (rd_valid) begin
        rd_length = 16'(($time - read_began) / 64'(Period));
        note_burst({16'd0, rd_addr}, {16'd0, rd_length});
      end
      rd_valid <= 1'b0;
    end
  endtask

  task automatic watch_writes;
    if (wr_valid === 1'b1 && !rst) begin
      if (fd != 0) begin
        `GA2_LOG(fd, {16'd0, wr_addr}, wr_data);
      end
      if (!st_valid) begin
        st_valid <= 1'b1;
        st_addr = wr_addr;
        write_began = $time;
      end else if (wr_addr !== next_write) begin
        flaws[1] <= 1'b1;
      end
      if (^{wr_addr, wr_data} === 1'bx) flaws[3] <= 1'b1;
      next_write = wr_addr + 16'd1;
    end else begin
      if (wr_valid !== 1'b0 && !rst) flaws[2] <= 1'b1;
      if (st_valid) begin
        st_length = 16'(($time - write_began) / 64'(Period));
        note_burst({16'd1, st_addr}, {16'd0, st_length});
      end
      st_valid <= 1'b0;
    end
  endtask

`undef GA2_LOG

endmodule

`default_nettype wire
