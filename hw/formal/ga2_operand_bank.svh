// SPDX-License-Identifier: Apache-2.0
// The operand bank shows one word, at an address that is left open, to the proof of ga2_matmul.

  (* anyconst *) logic [5:0] f_at;
  wire [31:0] f_word = lanes[f_at];
