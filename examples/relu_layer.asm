; A dense layer with a fused ReLU: y = relu(x W / 128), x 2x8, W 8x8, all int8.
; Shows: a result wider than the 4x4 array (one MM per tile, strides join the tiles).
; total 287 cycles at latency 8
;
; external:   x 0..15, W 16..79, y 128..143
; scratchpad: x 0..15, W 16..79, accumulators 128..143, y 160..175

LD dst=0 src=0 len=80                             ; x and W lie side by side
; W has rows of 8 words (ldb), the tile takes 4 columns; the result has rows of 8 (ldc).
MM dst=128 A=0 B=16 M=2 K=8 N=4 ldb=8 ldc=8       ; columns 0..3
MM dst=132 A=0 B=20 M=2 K=8 N=4 ldb=8 ldc=8       ; columns 4..7
RQ dst=160 src=128 len=16 m=0x800000 s=30 relu=1  ; 2**23 / 2**30 = 1/128
ST src=160 dst=128 len=16
HALT
