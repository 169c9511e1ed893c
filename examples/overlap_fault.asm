; A program that faults: the second VADD's destination overlaps a source by seven words.
; Shows: a fault changes no memory, is not counted, and ends the program (pc 2, OVERLAP).
; total 49 cycles at latency 8
;
; external: two vectors of eight int8 words, 0..7 and 8..15

LD dst=0 src=0 len=16
VADD dst=0 src1=0 src2=8 len=8      ; fine: the destination is exactly one of the sources
VADD dst=1 src1=0 src2=8 len=8      ; faults: 1..8 overlaps 0..7 without being the same
ST src=0 dst=32 len=8               ; never reached
HALT
