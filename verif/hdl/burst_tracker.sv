// SPDX-License-Identifier: Apache-2.0
// Turns a valid/address stream into one event a burst, so that Python need not look at every word.
// `valid` follows the bus a cycle later; when it falls, `addr` and `length` describe the burst.
`default_nettype none

module burst_tracker #(
  parameter int Period = 2  // of the clock, in time units
) (
  input  wire         clk,
  input  wire         bus_valid,
  input  wire  [15:0] bus_addr,
  output logic        valid,
  output logic [15:0] addr,   // of the first word
  output logic [15:0] length  // in words
);

  time began_at;

  initial begin
    valid    = 1'b0;
    addr     = '0;
    length   = '0;
    began_at = 0;
  end

  // Sleeps but for a burst's first and last cycle. What describes the burst changes before `valid`.
  always begin
    @(bus_valid);
    @(posedge clk);
    if ((bus_valid === 1'b1) != valid) begin
      valid <= !valid;
      if (valid) begin
        length = 16'(($time - began_at) / 64'(Period));
      end else begin
        addr = bus_addr;
        began_at = $time;
      end
    end
  end

endmodule

`default_nettype wire
