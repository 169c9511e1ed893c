// SPDX-License-Identifier: Apache-2.0
//
// LD: asks for one external word a cycle and writes the answers to the scratchpad in order.
// Busy for len + LAT + 1 cycles: the last request's answer is latched, then written.
// `dst`, `src` and `len` must hold while the unit is busy.

`default_nettype none

module ga2_load (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    input  wire  [11:0] dst,
    input  wire  [15:0] src,
    input  wire  [11:0] len,
    output logic        req_valid_q,
    output logic [15:0] req_addr_q,
    input  wire         resp_valid,
    input  wire  [31:0] resp_data,
    output logic        we_q,
    output logic [11:0] waddr_q,
    output logic [31:0] wdata_q,
    output wire         done
);

  logic [11:0] req_left_q;  // requests not yet made, the one on the port included
  logic [11:0] resp_left_q;  // answers not yet received

  // An answer counts only when a request is out: one that was in flight at a reset finds the two
  // counters equal and is dropped.
  wire accept = resp_valid && resp_left_q != req_left_q;

  assign done = we_q && resp_left_q == '0;

  // No flop changes in other cycles.
  wire active = rst || start || resp_left_q != '0 || we_q;

  always_ff @(posedge clk) begin
    if (active) begin
      if (rst) begin
        req_valid_q <= 1'b0;
        resp_left_q <= '0;
        we_q <= 1'b0;
      end else if (start) begin
`ifdef GA2_ASSERT
        assert (resp_left_q == '0 && !we_q) else $error("started while it works");
        assert (len != '0) else $error("started with nothing to load");
`endif
        req_valid_q <= 1'b1;
        req_addr_q <= src;
        req_left_q <= len;
        resp_left_q <= len;
        waddr_q <= dst;
      end else begin
        if (req_valid_q) begin
          req_addr_q <= req_addr_q + 16'd1;
          req_left_q <= req_left_q - 12'd1;
          req_valid_q <= req_left_q != 12'd1;
        end
        if (accept) begin
          wdata_q <= resp_data;
          resp_left_q <= resp_left_q - 12'd1;
        end
        we_q <= accept;
        if (we_q) waddr_q <= waddr_q + 12'd1;
      end
    end
  end

`ifdef FORMAL
`include "ga2_load.svh"
`endif

endmodule

`default_nettype wire
