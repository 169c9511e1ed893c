// SPDX-License-Identifier: Apache-2.0
// Shared by the properties in this folder, which their modules include under FORMAL. The only place
// where anything is assumed: whatever a proof takes for granted goes through these macros, under a
// name that proofs.yaml declares, and its covers must be reachable all the same.
//
// GA2_ASSUME is what the outside world guarantees. GA2_REQUIRE is what a unit asks of its
// surroundings: an assumption where the unit is proved alone, an obligation where the whole chip is
// (GA2_CHIP). GA2_ENSURE is what the unit gives in return, the other way round. That is no circle:
// what a unit ensures is about its registers, hence about requirements in earlier cycles only, and
// what it requires may rest on what is ensured now.
//
// GA2_HELPERS encloses invariants that make a property inductive, GA2_CHIP_HELPERS those of the
// chip. They are proved like the rest and never assume; runs that look for a counterexample
// (GA2_SEARCH) leave them out, so that the property itself has to fail, and assume nothing about
// units inside the chip.
//
// GA2_COVER is a situation that must be reachable where the unit is proved alone.

// GA2_OPEN is a constant, GA2_ANY a value in each cycle that a unit's proof leaves open. In the proof of
// the chip ga2.svh says what they are there: the address that it follows, the word in its memories.

// GA2_REGIONS encloses what only the proofs of effects require of the instruction's regions: the chip
// has to grant it, too. A search requires it always, so that what it finds is a program.

`undef GA2_ASSUME
`undef GA2_REQUIRE
`undef GA2_ENSURE
`undef GA2_COVER
`undef GA2_HELPERS
`undef GA2_CHIP_HELPERS
`undef GA2_REGIONS
`undef GA2_OPEN
`undef GA2_ANY
`ifdef GA2_EFFECT
`define GA2_REGIONS
`endif
`ifdef GA2_CHIP
`define GA2_REGIONS
`endif
`ifdef GA2_SEARCH
`define GA2_REGIONS
`endif
`ifdef GA2_CHIP
`define GA2_OPEN(width, name) wire width name;
`define GA2_ANY(width, name) wire width name;
`else
`define GA2_OPEN(width, name) (* anyconst *) logic width name;
`define GA2_ANY(width, name) (* anyseq *) logic width name;
`endif
`define GA2_ASSUME(name, expression) name : assume (expression);
`ifdef GA2_CHIP
`define GA2_COVER(name, expression)
`ifdef GA2_SEARCH
`define GA2_REQUIRE(name, expression)
`define GA2_ENSURE(name, expression)
`else
`define GA2_REQUIRE(name, expression) name : assert (expression);
`define GA2_ENSURE(name, expression) name : assume (expression);
`define GA2_CHIP_HELPERS
`endif
`else
`define GA2_COVER(name, expression) name : cover (expression);
`define GA2_REQUIRE(name, expression) name : assume (expression);
`define GA2_ENSURE(name, expression) name : assert (expression);
`ifndef GA2_SEARCH
`define GA2_HELPERS
`endif
`endif
