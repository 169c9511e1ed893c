// SPDX-License-Identifier: Apache-2.0
//
// The five performance counters. A program's total is its FETCH, ISSUE and WAIT cycles; each WAIT
// cycle is counted once more for the class of unit that is busy.

`default_nettype none

module ga2_counters (
    input  wire         clk,
    input  wire         rst,
    input  wire         clear,
    input  wire         running,
    input  wire         waiting,
    input  wire         retire,
    input  wire         is_mm,
    input  wire         is_dma,
    output logic [31:0] cyc_total,
    output logic [31:0] cyc_mm,
    output logic [31:0] cyc_dma,
    output logic [31:0] cyc_vec,
    output logic [31:0] n_inst
);

  wire reset = rst || clear;
  wire active = reset || running;

  always_ff @(posedge clk) begin
    if (active) begin
      if (reset) begin
        cyc_total <= '0;
        cyc_mm <= '0;
        cyc_dma <= '0;
        cyc_vec <= '0;
        n_inst <= '0;
      end else begin
        cyc_total <= cyc_total + 32'd1;
        if (waiting) begin
          if (is_mm) cyc_mm <= cyc_mm + 32'd1;
          else if (is_dma) cyc_dma <= cyc_dma + 32'd1;
          else cyc_vec <= cyc_vec + 32'd1;
          if (retire) n_inst <= n_inst + 32'd1;
        end
      end
    end
  end

endmodule

`default_nettype wire
