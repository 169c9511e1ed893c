; Copy eight words within the external memory, through the scratchpad.
; Shows: words are moved whole; FETCH and ISSUE take 2 cycles each time, HALT nothing more.
; total 33 cycles at latency 8: (2 + 17) for LD, (2 + 10) for ST, 2 for HALT

LD dst=0 src=16 len=8    ; external 16..23 -> scratchpad 0..7
ST src=0 dst=32 len=8    ; scratchpad 0..7 -> external 32..39
HALT                     ; may be left out: past the program reads as HALT
