// SPDX-License-Identifier: Apache-2.0
//
// Constants of the GA-2 instruction set that more than one module needs: the position of every
// field in the 128-bit instruction word, the opcodes, the fault codes and the memories' sizes
// (docs/isa.md).
//
// Style, here once for all modules: flops end in _q and are set in one process, without a _d and a
// second process that computes it: Icarus pays for every event, and the pair, written for the rows
// of the array and the counters alone, took it from 83 to 47 thousand cycles a second in matrix
// programs. `case` has a default and no `unique`, which Icarus 11 ignores with a warning.

`default_nettype none

package ga2_pkg;

  localparam int SpadWords = 4096;
  localparam int ExtWords = 65536;

  // Written by make operations.
  // Least significant bit of each instruction field.
  localparam int FieldOp = 124;  // 4 bits
  localparam int FieldA = 108;  // 16 bits
  localparam int FieldB = 92;  // 16 bits
  localparam int FieldC = 76;  // 16 bits
  localparam int FieldD = 52;  // 24 bits
  localparam int FieldE = 46;  // 6 bits
  localparam int FieldF = 38;  // 8 bits
  localparam int FieldG = 30;  // 8 bits
  localparam int FieldH = 22;  // 8 bits
  localparam int FieldFl = 18;  // 4 bits
  localparam int FieldX = 0;  // 18 bits

  // Opcodes above these fault.
  typedef enum logic [3:0] {
    OpHalt   = 4'd0,
    OpLd     = 4'd1,
    OpSt     = 4'd2,
    OpMm     = 4'd3,
    OpRq     = 4'd4,
    OpSm     = 4'd5,
    OpVadd   = 4'd6,
    OpAmax   = 4'd7,
    OpUnpack = 4'd8
  } opcode_e;

  // In order of priority: the first rule that an instruction breaks gives the code.
  typedef enum logic [3:0] {
    FaultNone    = 4'd0,
    FaultOpcode  = 4'd1,
    FaultLength  = 4'd2,
    FaultShape   = 4'd3,
    FaultAddress = 4'd4,
    FaultOverlap = 4'd5
  } fault_e;
  // End of what make operations writes.

endpackage

`default_nettype wire
