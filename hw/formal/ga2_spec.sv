// SPDX-License-Identifier: Apache-2.0
//
// What docs/isa.md says of regions, matrices, saturation and nibbles, as functions that the proofs compare
// the design with. Written by hand from there; a test compares them with the reference model, save those
// of regions. No part of the design.

`default_nettype none

package ga2_spec;

  // ---- Regions of the scratchpad

  function automatic logic fits(input logic [11:0] base, input logic [11:0] len);
    fits = 14'(base) + 14'(len) <= 14'd4096;
  endfunction

  // dst and src are the same region, or have no word in common.
  function automatic logic in_place_or_apart(input logic [11:0] dst, input logic [11:0] src,
                                             input logic [11:0] len);
    in_place_or_apart = dst == src || 14'(dst) >= 14'(src) + 14'(len) || 14'(src) >= 14'(dst) + 14'(len);
  endfunction

  // Two regions have no word in common.
  function automatic logic apart(input logic [11:0] x, input logic [11:0] len_x,
                                 input logic [11:0] y, input logic [11:0] len_y);
    apart = 14'(x) >= 14'(y) + 14'(len_y) || 14'(y) >= 14'(x) + 14'(len_x);
  endfunction

  // ---- Matrices, whose addresses wrap around

  // Row r, column c of the product.
  function automatic logic [11:0] place_c(input logic [11:0] dst, input logic [11:0] ldc,
                                          input logic [1:0] r, input logic [1:0] c);
    place_c = dst + 12'(r) * ldc + 12'(c);
  endfunction

  // Whether a cell of an m x n product is at `target`, and row and column of the last one that is, in
  // row-major order: {hit, r, c}.
  function automatic logic [4:0] last_cell(input logic [11:0] target, input logic [11:0] dst,
                                           input logic [11:0] ldc, input logic [2:0] m,
                                           input logic [2:0] n);
    last_cell = '0;
    for (int j = 0; j < 16; j++)
      if (3'(j / 4) < m && 3'(j % 4) < n && place_c(dst, ldc, 2'(j / 4), 2'(j % 4)) == target)
        last_cell = {1'b1, 4'(j)};
  endfunction

  // ---- Arithmetic

  // Of two int8, as the array adds it up.
  function automatic logic [31:0] product(input logic signed [7:0] x, input logic signed [7:0] y);
    logic signed [31:0] wide;
    wide = x * y;
    product = wide;
  endfunction

  // Nibble j of a word, sign-extended.
  function automatic logic signed [7:0] int4(input logic [31:0] word, input logic [2:0] j);
    logic [3:0] nibble;
    nibble = 4'(word >> (6'(j) * 6'd4));
    int4 = {{4{nibble[3]}}, nibble};
  endfunction

  function automatic logic signed [7:0] saturating_add(input logic signed [7:0] x,
                                                       input logic signed [7:0] y);
    logic signed [9:0] total;
    total = 10'(x) + 10'(y);
    saturating_add = total > 10'sd127 ? 8'sd127 : total < -10'sd127 ? -8'sd127 : 8'(total);
  endfunction

endpackage

`default_nettype wire
