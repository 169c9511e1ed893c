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
    output logic [31:0] cyc_total_q,
    output logic [31:0] cyc_mm_q,
    output logic [31:0] cyc_dma_q,
    output logic [31:0] cyc_vec_q,
    output logic [31:0] n_inst_q
);

  wire reset = rst || clear;
  wire active = reset || running;

  always_ff @(posedge clk) begin
    if (active) begin
      if (reset) begin
        cyc_total_q <= '0;
        cyc_mm_q <= '0;
        cyc_dma_q <= '0;
        cyc_vec_q <= '0;
        n_inst_q <= '0;
      end else begin
        cyc_total_q <= cyc_total_q + 32'd1;
        if (waiting) begin
          if (is_mm) cyc_mm_q <= cyc_mm_q + 32'd1;
          else if (is_dma) cyc_dma_q <= cyc_dma_q + 32'd1;
          else cyc_vec_q <= cyc_vec_q + 32'd1;
          if (retire) begin
`ifdef GA2_ASSERT
            // FETCH and ISSUE of every instruction, this one's among them, and all cycles of WAIT.
            assert (cyc_total_q == cyc_mm_q + cyc_dma_q + cyc_vec_q + (n_inst_q << 1) + 32'd2)
            else $error("%0d cycles are not all counted for their units", cyc_total_q);
`endif
            n_inst_q <= n_inst_q + 32'd1;
          end
        end
      end
    end
  end

endmodule

`default_nettype wire
