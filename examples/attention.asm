; Attention of one query over three cached rows: o = softmax(q K^T / sqrt(16)) V.
; Shows: a whole chain of units with requantization between them.
; total 467 cycles at latency 8
;
; q, K, V and o are int8 in steps of 1/32; scores must be in steps of 1/16 for SM.
; external:   q 0..15, K 16..63 (3x16), V 64..111 (3x16), o 128..143
; scratchpad: q, K, V alike; scores 200..202, probabilities 210..212, sums 220..235, o 240..255

LD dst=0 src=0 len=112

; Scores: q.k is in steps of 1/1024; a quarter of it in steps of 1/16 is the factor 1/256.
MM dst=200 A=0 B=16 M=1 K=16 N=3 tb=1 ldb=16
RQ dst=200 src=200 len=3 m=0x800000 s=31          ; in place

; Probabilities: Q0.16 to int8 in steps of 1/127 is the factor 127/65536.
SM dst=210 src=200 len=3
RQ dst=210 src=210 len=3 m=0xFE0000 s=33

; Weighted sum of the rows of V, four columns a tile; then divide by 127.
MM dst=220 A=210 B=64 M=1 K=3 N=4 ldb=16
MM dst=224 A=210 B=68 M=1 K=3 N=4 ldb=16
MM dst=228 A=210 B=72 M=1 K=3 N=4 ldb=16
MM dst=232 A=210 B=76 M=1 K=3 N=4 ldb=16
RQ dst=240 src=220 len=16 m=0x810204 s=30
ST src=240 dst=128 len=16
HALT
