// SPDX-License-Identifier: Apache-2.0
// Shared by the properties in this folder, which their modules include under FORMAL.
//
// GA2_REQUIRE is what a unit asks of its surroundings: an assumption where the unit is proved
// alone, an obligation where the whole chip is (GA2_CHIP). GA2_ENSURE is what the unit gives in
// return, the other way round. That is no circle: what a unit ensures is about its registers, hence
// about requirements in earlier cycles only, and what it requires may rest on what is ensured now.
//
// GA2_HELPERS encloses invariants that make a property inductive. They are proved like the rest,
// unit by unit; runs that look for a counterexample (GA2_SEARCH) leave them out, so that the
// property itself has to fail, and assume nothing about units inside the chip.

`undef GA2_REQUIRE
`undef GA2_ENSURE
`undef GA2_HELPERS
`ifdef GA2_CHIP
`ifdef GA2_SEARCH
`define GA2_REQUIRE(expression)
`define GA2_ENSURE(name, expression)
`else
`define GA2_REQUIRE(expression) assert (expression);
`define GA2_ENSURE(name, expression) name : assume (expression);
`endif
`else
`define GA2_REQUIRE(expression) assume (expression);
`define GA2_ENSURE(name, expression) name : assert (expression);
`endif
`ifndef GA2_SEARCH
`ifndef GA2_CHIP
`define GA2_HELPERS
`endif
`endif
