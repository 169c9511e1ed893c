// SPDX-License-Identifier: Apache-2.0
// External memory of up to 65,536 words. A read request of cycle t is answered in cycle
// t + latency (1..64), one word a cycle; requests in flight are dropped at reset. Words at or
// beyond `depth` read as zero and ignore writes. With `reactive` set it answers nothing (a Python
// driver does) but still takes the writes. Idle cycles cost two comparisons: answers wait in a ring
// with the time they are due, there is no shift register.
`default_nettype none

module external_memory #(
  parameter int Period = 2  // of the clock, in time units
) (
  input  wire         clk,
  input  wire         rst,
  input  wire         reactive,
  input  wire  [16:0] depth,
  input  wire  [7:0]  latency,
  input  wire         req_valid,
  input  wire  [15:0] req_addr,
  output logic        resp_valid,
  output logic [31:0] resp_data,
  input  wire         wr_valid,
  input  wire  [15:0] wr_addr,
  input  wire  [31:0] wr_data
);

  logic [31:0] mem [65536];

  logic [31:0] ring_data [64];
  time         ring_due  [64];
  logic [5:0]  head, tail;
  logic        pending;  // the ring holds answers

  initial begin
    resp_valid = 1'b0;
    resp_data  = '0;
    head       = '0;
    tail       = '0;
    pending    = 1'b0;
  end

  // Blocking assignments keep the ring's state inside this one process.
  always @(posedge clk) begin
    if (rst) begin
      resp_valid <= 1'b0;
      head    = tail;
      pending = 1'b0;
    end else begin
      if (req_valid === 1'b1 && !reactive) begin
        ring_data[tail] = ({1'b0, req_addr} < depth) ? mem[req_addr] : 32'd0;
        ring_due[tail]  = $time + 64'(Period) * (64'(latency) - 1);
        tail    = tail + 6'd1;
        pending = 1'b1;
      end
      if (pending && ring_due[head] <= $time) begin
        resp_valid <= 1'b1;
        resp_data  <= ring_data[head];
        head    = head + 6'd1;
        pending = head != tail;
      end else if (resp_valid) begin
        resp_valid <= 1'b0;
      end
    end
    if (wr_valid === 1'b1 && {1'b0, wr_addr} < depth) mem[wr_addr] = wr_data;
  end

endmodule

`default_nettype wire
