// SPDX-License-Identifier: Apache-2.0
// Streams every external write to the open file `fd` as two little-endian words, address and
// data, so that the log has no capacity to overflow. Writes outside a program (fd = 0) are the
// protocol checker's business.
`default_nettype none

module write_log (
  input wire        clk,
  input wire [31:0] fd,
  input wire        wr_valid,
  input wire [15:0] wr_addr,
  input wire [31:0] wr_data
);

  always begin
    @(wr_valid);
    @(posedge clk);
    while (wr_valid === 1'b1) begin
      if (fd != 0) $fwrite(fd, "%u", {wr_data, 16'd0, wr_addr});
      @(posedge clk);
    end
  end

endmodule

`default_nettype wire
