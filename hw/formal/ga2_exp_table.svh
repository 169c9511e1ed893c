// SPDX-License-Identifier: Apache-2.0
// The table of exponentials, entry by entry, against the real function.

`include "ga2_formal.svh"

  always @* begin
    `GA2_ENSURE(table_entry, e == ga2_spec::exponential(d))

    `GA2_COVER(greatest, e == 16'hFFFF && d == 8'd0)
    `GA2_COVER(last_above_zero, e == 16'd1 && d == 8'd188)
  end
