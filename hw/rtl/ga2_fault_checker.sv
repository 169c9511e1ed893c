// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an instruction is legal, and if not which rule it breaks first. Purely
// combinational: its inputs change once per instruction, its output is read in ISSUE.

`default_nettype none

module ga2_fault_checker (
    input  wire [ 3:0] op,
    input  wire [15:0] a,
    input  wire [15:0] b,
    input  wire [15:0] c,
    input  wire [15:0] d,    // the low 16 bits: the length beside three regions
    input  wire [ 7:0] f,
    input  wire [ 7:0] g,
    input  wire [ 7:0] h,
    output wire [ 3:0] code
);

  // Written by make operations.
  wire is_mm = op == ga2_pkg::OpMm;
  // The second region is a scratchpad source of the common length; so is a third.
  wire has_src_b =
      op == ga2_pkg::OpRq
      || op == ga2_pkg::OpSm
      || op == ga2_pkg::OpVadd
      || op == ga2_pkg::OpAmax
      || op == ga2_pkg::OpUnpack;
  wire has_src_c = op == ga2_pkg::OpVadd;
  // The first region is one word; eight times the length.
  wire one_word = op == ga2_pkg::OpAmax;
  wire expands = op == ga2_pkg::OpUnpack;
  wire bad_opcode = op > ga2_pkg::OpUnpack;
  // End of what make operations writes.

  wire [15:0] len = has_src_c ? d : c;
  wire [18:0] len_a = one_word ? 19'd1 : expands ? {len, 3'b000} : {3'b000, len};

  wire bad_length = !is_mm
      && (len == '0 || (expands ? len_a : {3'b000, len}) > 19'd4095);
  wire bad_shape = is_mm
      && (f == '0 || f > 8'd4 || h == '0 || h > 8'd4 || g == '0 || g > 8'd64);

  // One past the end of each region. The lengths are legal by the time these matter.
  wire [19:0] end_a = 20'(a) + 20'(len_a);
  wire [16:0] end_b = 17'(b) + 17'(len);
  wire [16:0] end_c = 17'(c) + 17'(len);

  wire mm_base_out = |a[15:12] || |b[15:12] || |c[15:12];
  // No second region may leave the external memory, a scratchpad's not even its 4,096 words.
  wire region_out = end_a > 20'(ga2_pkg::SpadWords) || end_b > 17'(ga2_pkg::ExtWords)
      || (has_src_b && end_b > 17'(ga2_pkg::SpadWords))
      || (has_src_c && end_c > 17'(ga2_pkg::SpadWords));
  wire bad_address = is_mm ? mm_base_out : region_out;

  wire meets_b = 20'(a) < 20'(end_b) && 20'(b) < end_a;
  wire meets_c = 20'(a) < 20'(end_c) && 20'(c) < end_a;
  // In place is fine where result i depends on word i alone.
  wire bad_overlap = (meets_b && has_src_b && !one_word && (a != b || expands))
      || (meets_c && has_src_c && a != c);

  assign code = op == ga2_pkg::OpHalt ? ga2_pkg::FaultNone
      : bad_opcode ? ga2_pkg::FaultOpcode
      : bad_length ? ga2_pkg::FaultLength
      : bad_shape ? ga2_pkg::FaultShape
      : bad_address ? ga2_pkg::FaultAddress
      : bad_overlap ? ga2_pkg::FaultOverlap
      : ga2_pkg::FaultNone;

`ifdef FORMAL
`include "ga2_fault_checker.svh"
`endif

endmodule

`default_nettype wire
