// SPDX-License-Identifier: Apache-2.0
// Fault checker: the code is that of the first row of the table in docs/isa.md that applies. Written
// anew with wide integers, operation by operation.

`include "ga2_formal.svh"

`ifndef GA2_CHIP
  wire [31:0] f_a = 32'(a);
  wire [31:0] f_b = 32'(b);
  wire [31:0] f_c = 32'(c);
  wire [31:0] f_d = 32'(d);
  logic f_length, f_shape, f_address, f_overlap;

  always @* begin
    f_length = 1'b0;
    f_shape = 1'b0;
    f_address = 1'b0;
    f_overlap = 1'b0;
    case (op)
      ga2_pkg::OpLd, ga2_pkg::OpSt: begin
        f_length = f_c == 0 || f_c > 4095;
        f_address = f_a > 4095 || f_a + f_c > 4096 || f_b + f_c > 65536;
      end
      ga2_pkg::OpMm: begin
        f_shape = f < 1 || f > 4 || h < 1 || h > 4 || g < 1 || g > 64;
        f_address = f_a > 4095 || f_b > 4095 || f_c > 4095;
      end
      ga2_pkg::OpRq, ga2_pkg::OpSm: begin
        f_length = f_c == 0 || f_c > 4095;
        f_address = f_a > 4095 || f_b > 4095 || f_a + f_c > 4096 || f_b + f_c > 4096;
        f_overlap = f_a != f_b && f_a < f_b + f_c && f_b < f_a + f_c;
      end
      ga2_pkg::OpVadd: begin
        f_length = f_d == 0 || f_d > 4095;
        f_address = f_a > 4095 || f_b > 4095 || f_c > 4095
            || f_a + f_d > 4096 || f_b + f_d > 4096 || f_c + f_d > 4096;
        f_overlap = (f_a != f_b && f_a < f_b + f_d && f_b < f_a + f_d)
            || (f_a != f_c && f_a < f_c + f_d && f_c < f_a + f_d);
      end
      ga2_pkg::OpAmax: begin
        f_length = f_c == 0 || f_c > 4095;
        f_address = f_a > 4095 || f_b > 4095 || f_b + f_c > 4096;
      end
      ga2_pkg::OpUnpack: begin
        f_length = f_c == 0 || 8 * f_c > 4095;
        f_address = f_a > 4095 || f_b > 4095 || f_a + 8 * f_c > 4096 || f_b + f_c > 4096;
        f_overlap = f_a < f_b + f_c && f_b < f_a + 8 * f_c;
      end
      default: ;
    endcase
    `GA2_COVER(no_fault, code == 4'd0 && op != 4'd0)
    `GA2_COVER(opcode, code == 4'd1)
    `GA2_COVER(length, code == 4'd2)
    `GA2_COVER(shape, code == 4'd3)
    `GA2_COVER(address, code == 4'd4)
    `GA2_COVER(overlap, code == 4'd5)
    fault_rules : assert (code == (op > 8 ? 4'd1 : f_length ? 4'd2 : f_shape ? 4'd3
        : f_address ? 4'd4 : f_overlap ? 4'd5 : 4'd0));
  end
`endif
