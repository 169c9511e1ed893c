"""A small design with one of everything that the mutation operators look for."""

from __future__ import annotations

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.source import load
from sim.shared.patch import patch

COUNTER = """\
`default_nettype none
module sample_counter (
    input  wire        clk,
    input  wire        rst,
    input  wire        start,
    input  wire  [7:0] limit,
    input  wire  [7:0] x,
    output logic [7:0] count,
    output wire        busy,
    output wire [15:0] product
);
  typedef enum logic [1:0] {StIdle, StRun, StEnd} state_e;
  localparam int Step = 1;
  state_e state_q;
  logic [7:0] kept[4];
  assign busy = state_q == StRun && !start;
  assign product = 16'($signed(x) * $signed(limit));
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= StIdle;
      count <= '0;
    end else begin
      case (state_q)
        StIdle: if (start) begin
          state_q <= StRun;
          count <= 8'd0;
        end
        StRun: begin
          count <= count + 8'(Step);
          kept[count[1:0]] <= {x[6:0], 1'b1};
          if (count == limit - 8'd1) state_q <= StEnd;
        end
        default: state_q <= start ? StRun : StIdle;
      endcase
    end
  end
  for (genvar g = 0; g < 4; g++) begin : gen_parity
    wire parity = ^kept[g] ^ (g < 2);
  end
endmodule
`default_nettype wire
"""

FILE = "sample_counter.sv"
TEXTS = {FILE: COUNTER}


def with_change(old: str, new: str) -> dict[str, str]:
    """The sample with one text replaced, which must be there once."""
    return {FILE: patch(COUNTER, old, new, FILE)}


def by_description(mutants: list[Mutant], text: str) -> Mutant:
    """The mutant whose description contains ``text``."""
    found = [mutant for mutant in mutants if text in mutant.description]
    assert len(found) == 1, [mutant.description for mutant in found or mutants]
    return found[0]


def sample_design():
    """The sample, compiled."""
    return load(TEXTS)
