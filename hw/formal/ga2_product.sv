// SPDX-License-Identifier: Apache-2.0
//
// The product of two int8, as a module that a proof can cut. No part of the design.

`default_nettype none

module ga2_product (
    input  wire signed [ 7:0] x,
    input  wire signed [ 7:0] y,
    output wire        [31:0] product
);

  assign product = ga2_spec::product(x, y);

endmodule

`default_nettype wire
