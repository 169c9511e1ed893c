// SPDX-License-Identifier: Apache-2.0
//
// What docs/isa.md says of faults, times, regions, matrices and arithmetic, as functions that the proofs
// compare the design with. Written by hand from there; tests/tools/test_spec.py compares each of them with
// the reference model. No part of the design.

`default_nettype none

package ga2_spec;

  // ---- Faults, in wide integers: the code of the first row of the table that applies

  function automatic logic leaves(input logic [31:0] base, input logic [31:0] len,
                                  input logic [31:0] words);
    leaves = base >= words || base + len > words;
  endfunction

  function automatic logic meets(input logic [31:0] x, input logic [31:0] len_x,
                                 input logic [31:0] y, input logic [31:0] len_y);
    meets = x < y + len_y && y < x + len_x;
  endfunction

  function automatic logic [3:0] fault(input logic [3:0] op, input logic [15:0] a,
                                       input logic [15:0] b, input logic [15:0] c,
                                       input logic [15:0] d, input logic [7:0] f,
                                       input logic [7:0] g, input logic [7:0] h);
    logic [31:0] wa, wb, wc, wd;
    logic length, shape, address, overlap;
    wa = 32'(a);
    wb = 32'(b);
    wc = 32'(c);
    wd = 32'(d);
    length = wc == 0 || wc > 4095;
    shape = 1'b0;
    address = 1'b0;
    overlap = 1'b0;
    case (op)
      4'd1, 4'd2: address = leaves(wa, wc, 4096) || wb + wc > 65536;  // LD, ST
      4'd3: begin  // MM
        length = 1'b0;
        shape = f < 1 || f > 4 || h < 1 || h > 4 || g < 1 || g > 64;
        address = wa > 4095 || wb > 4095 || wc > 4095;
      end
      4'd4, 4'd5: begin  // RQ, SM
        address = leaves(wa, wc, 4096) || leaves(wb, wc, 4096);
        overlap = wa != wb && meets(wa, wc, wb, wc);
      end
      4'd6: begin  // VADD
        length = wd == 0 || wd > 4095;
        address = leaves(wa, wd, 4096) || leaves(wb, wd, 4096) || leaves(wc, wd, 4096);
        overlap = (wa != wb && meets(wa, wd, wb, wd)) || (wa != wc && meets(wa, wd, wc, wd));
      end
      4'd7: address = wa > 4095 || leaves(wb, wc, 4096);  // AMAX
      4'd8: begin  // UNPACK
        length = wc == 0 || 8 * wc > 4095;
        address = leaves(wa, 8 * wc, 4096) || leaves(wb, wc, 4096);
        overlap = meets(wa, 8 * wc, wb, wc);
      end
      default: length = 1'b0;  // HALT has none
    endcase
    fault = op > 8 ? 4'd1 : length ? 4'd2 : shape ? 4'd3 : address ? 4'd4 : overlap ? 4'd5 : 4'd0;
  endfunction

  // ---- Time: the cycles that an instruction keeps its unit busy

  function automatic logic [13:0] ld_time(input logic [11:0] len, input logic [6:0] latency);
    ld_time = 14'(len) + 14'(latency) + 14'd1;
  endfunction

  function automatic logic [13:0] st_time(input logic [11:0] len);
    st_time = 14'(len) + 14'd2;
  endfunction

  function automatic logic [13:0] mm_time(input logic [2:0] m, input logic [6:0] k,
                                          input logic [2:0] n);
    mm_time = 14'(m) * 14'(k) + 14'(k) * 14'(n) + (14'(k) + 14'(m) + 14'(n) - 14'd2)
        + 14'(m) * 14'(n) + 14'd7;
  endfunction

  function automatic logic [13:0] rq_time(input logic [11:0] len);
    rq_time = 14'(len) + 14'd2;
  endfunction

  function automatic logic [13:0] sm_time(input logic [11:0] len);
    sm_time = 14'd3 * 14'(len) + 14'd47;
  endfunction

  function automatic logic [13:0] vadd_time(input logic [11:0] len);
    vadd_time = {1'b0, len, 1'b0} + 14'd2;
  endfunction

  function automatic logic [13:0] amax_time(input logic [11:0] len);
    amax_time = 14'(len) + 14'd3;
  endfunction

  function automatic logic [13:0] unpack_time(input logic [8:0] len);
    unpack_time = 14'd10 * 14'(len) + 14'd1;
  endfunction

  // Of a legal instruction; HALT has no unit.
  function automatic logic [13:0] busy(input logic [3:0] op, input logic [15:0] c,
                                       input logic [15:0] d, input logic [7:0] f,
                                       input logic [7:0] g, input logic [7:0] h,
                                       input logic [6:0] latency);
    case (op)
      4'd1: busy = ld_time(c[11:0], latency);
      4'd2: busy = st_time(c[11:0]);
      4'd3: busy = mm_time(f[2:0], g[6:0], h[2:0]);
      4'd4: busy = rq_time(c[11:0]);
      4'd5: busy = sm_time(c[11:0]);
      4'd6: busy = vadd_time(d[11:0]);
      4'd7: busy = amax_time(c[11:0]);
      4'd8: busy = unpack_time(c[8:0]);
      default: busy = '0;
    endcase
  endfunction

  // ---- Regions of the memories

  function automatic logic fits_outside(input logic [15:0] base, input logic [11:0] len);
    fits_outside = 18'(base) + 18'(len) <= 18'd65536;
  endfunction

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

  // clamp(rnd(p, s), lo, 127) of a product, with rnd(p, s) = sign(p) * ((|p| + half) >> s),
  // half = 2**(s-1) or 0.
  function automatic logic signed [7:0] round_product(input logic signed [57:0] p,
                                                      input logic [5:0] s, input logic relu);
    logic [57:0] size, half, shifted;
    logic signed [58:0] rounded, low;
    size = p < 0 ? -p : p;
    half = s == '0 ? 58'd0 : 58'd1 << (s - 6'd1);
    // half is beyond 58 bits only where the quotient is 0 whatever |p|.
    shifted = s > 6'd57 ? 58'd0 : (size + half) >> s;
    rounded = p < 0 ? -(59'(shifted)) : 59'(shifted);
    low = relu ? 59'sd0 : -59'sd127;
    round_product = rounded > 127 ? 8'sd127 : rounded < low ? 8'(low) : 8'(rounded);
  endfunction

  function automatic logic signed [7:0] requantize(input logic signed [31:0] acc,
                                                   input logic [23:0] m, input logic [5:0] s,
                                                   input logic relu);
    logic signed [57:0] wide, factor;
    wide = 58'(acc);
    factor = 58'(m);
    requantize = round_product(wide * factor, s, relu);
  endfunction

  // round(65535 * exp(-d / 16)): no entry is halfway between two integers.
  function automatic logic [15:0] exponential(input logic [7:0] d);
    exponential = '0;
    for (int j = 0; j < 256; j++)
      if (d == 8'(j)) exponential = 16'($rtoi(65535.0 * $exp(-j / 16.0) + 0.5));
  endfunction

endpackage

`default_nettype wire
