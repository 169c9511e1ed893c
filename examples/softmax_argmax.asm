; Probabilities of eight scores, and the index of the best.
; Shows: unsigned Q0.16 results (65536 is 1.0), and that AMAX picks the first of equal maxima.
; total 120 cycles at latency 8
;
; external: scores 0..7, probabilities 8..15, index 16

LD dst=0 src=0 len=8
SM dst=8 src=0 len=8
AMAX dst=16 src=8 len=8     ; compares whole words, so it takes Q0.16 and int32 alike
ST src=8 dst=8 len=9        ; probabilities and index in one burst
HALT
