// SPDX-License-Identifier: Apache-2.0
//
// External memory of up to 65,536 words. A read request of cycle t is answered in cycle t + latency
// (1..64), one word a cycle; requests in flight are dropped at reset (a memory may also answer them
// until the next LD's first request: the driver does that). Words at or beyond `depth` read as zero
// and ignore writes. With `reactive` set it answers nothing (a Python driver does) but still takes
// the writes. Idle cycles cost one look: answers wait in a ring with the moment they are due, there
// is no shift register.

`default_nettype none

module external_memory (
    input  wire         clk,
    input  wire         rst,
    input  wire         reactive,
    input  wire  [16:0] depth,
    input  wire  [ 7:0] latency,
    input  wire         req_valid,
    input  wire  [15:0] req_addr,
    output logic        resp_valid,
    output logic [31:0] resp_data,
    input  wire         py_resp_valid,  // the driver's answer, for counting only
    output logic        unanswered,     // a request waits for its answer
    input  wire         wr_valid,
    input  wire  [15:0] wr_addr,
    input  wire  [31:0] wr_data
);

  logic [31:0] mem[65536];
  logic [16:0] top;  // words from here on are zero

  // The contents were replaced by so many words: zeros follow.
  integer word;
  task automatic end_at(input logic [16:0] words);
    for (word = {15'd0, words}; word < {15'd0, top}; word = word + 1) mem[word] = '0;
    top = words;
  endtask

  logic [31:0] ring_data[64];
  logic [7:0] ring_due[64];
  logic [5:0] head, tail;
  logic pending;  // the ring holds answers
  logic [7:0] now;  // counts the cycles in which something is unanswered
  logic [15:0] at_driver;  // requests the driver has not answered

  initial begin
    for (word = 0; word < 65536; word = word + 1) mem[word] = '0;
    top = '0;
    resp_valid = 1'b0;
    resp_data = '0;
    unanswered = 1'b0;
    pending = 1'b0;
    head = '0;
    tail = '0;
    now = '0;
    at_driver = '0;
  end

  wire attention = rst || pending || resp_valid || py_resp_valid || req_valid === 1'b1
      || wr_valid === 1'b1;

  // Blocking assignments: the ring is this one process' business.
  always @(posedge clk) begin
    if (attention) begin
      if (wr_valid === 1'b1 && {1'b0, wr_addr} < depth) begin
        mem[wr_addr] = wr_data;
        if ({1'b0, wr_addr} >= top) top = {1'b0, wr_addr} + 17'd1;
      end
      if (rst) begin
        resp_valid <= 1'b0;
        unanswered <= 1'b0;
        pending = 1'b0;
        head = tail;
        at_driver = '0;
      end else if (reactive) begin
        // An answer to a request from before a reset is no answer to any that counts.
        if (py_resp_valid && at_driver != '0) at_driver = at_driver - 16'd1;
        if (req_valid === 1'b1) at_driver = at_driver + 16'd1;
        unanswered <= at_driver != '0;
      end else begin
        now = now + 8'd1;
        if (req_valid === 1'b1) begin
          ring_data[tail] = ({1'b0, req_addr} < depth) ? mem[req_addr] : 32'd0;
          ring_due[tail] = now + latency - 8'd1;
          tail = tail + 6'd1;
          if (!pending) unanswered <= 1'b1;
          pending = 1'b1;
        end
        if (pending && ring_due[head] == now) begin
          resp_valid <= 1'b1;
          resp_data <= ring_data[head];
          head = head + 6'd1;
          pending = head != tail;
          if (!pending) unanswered <= 1'b0;
        end else if (resp_valid) begin
          resp_valid <= 1'b0;
        end
      end
    end
  end

endmodule

`default_nettype wire
