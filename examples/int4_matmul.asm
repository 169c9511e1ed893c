; A matrix product with int4 weights: y = x W, x 1x16 int8, W 16x4 int4, y int32.
; Shows: UNPACK, and a B operand stored transposed (tb=1), one column of W after the other.
; total 240 cycles at latency 8
;
; external:   x 0..15, packed W 16..23, y 32..35
; scratchpad: x 0..15, packed W 16..23, W 64..127, y 128..131

LD dst=0 src=0 len=24
UNPACK dst=64 src=16 len=8                        ; 8 words hold 64 weights
MM dst=128 A=0 B=64 M=1 K=16 N=4 tb=1 ldb=16      ; B[k][n] = spad[64 + 16*n + k]
ST src=128 dst=32 len=4                           ; all 32 bits of the accumulators
HALT
