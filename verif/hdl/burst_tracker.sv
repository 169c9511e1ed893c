// SPDX-License-Identifier: Apache-2.0
// Turns a valid/address stream into one event a burst, so that Python need not look at every word.
// `valid` follows the bus a cycle later; when it falls, `addr` and `length` describe the burst.
`default_nettype none

module burst_tracker (
  input  wire         clk,
  input  wire         bus_valid,
  input  wire  [15:0] bus_addr,
  output logic        valid,
  output logic [15:0] addr,    // of the first word
  output logic [15:0] length   // words so far
);

  initial begin
    valid  = 1'b0;
    addr   = '0;
    length = '0;
  end

  always @(posedge clk) begin
    if (bus_valid === 1'b1) begin
      valid  <= 1'b1;
      addr   <= valid ? addr : bus_addr;
      length <= valid ? length + 16'd1 : 16'd1;
    end else if (valid) begin
      valid <= 1'b0;
    end
  end

endmodule

`default_nettype wire
