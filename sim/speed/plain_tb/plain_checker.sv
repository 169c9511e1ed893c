// SPDX-License-Identifier: Apache-2.0
//
// The checks of the plain testbench that look on while a program runs: retired instructions,
// external writes and read bursts against the model's lists, and the rules of the pins
// (docs/testbench.md). plain_tb loads the lists before a program starts and calls finish_program
// after its end.

`default_nettype none

module plain_checker (
    input wire         clk,
    input wire         rst,
    input wire         start,
    input wire         halted,
    input wire [ 15:0] imem_addr,
    input wire         req_valid,
    input wire [ 15:0] req_addr,
    input wire         resp_valid,
    input wire         wr_valid,
    input wire [ 15:0] wr_addr,
    input wire [ 31:0] wr_data,
    input wire [159:0] counters,     // total, mm, dma, vec, n_inst
    input wire         fault,
    input wire [  3:0] fault_code,
    input wire [ 15:0] fault_pc,
    input wire [ 15:0] pc,
    input wire [  3:0] op,
    input wire         issue,
    input wire         issue_fault,
    input wire         issue_start,
    input wire         retire,
    input wire         spad_we,
    input wire         spad_ren,
    input wire [ 11:0] spad_waddr,
    input wire [ 31:0] spad_wdata
);

  localparam int MaxRecords = 4096;
  localparam int MaxWrites = 65536;
  localparam int MaxReads = 4096;
  localparam logic [3:0] OpLoad = 4'd1;
  localparam logic [3:0] OpStore = 4'd2;

  // pc, op | fault << 8, busy cycles, scratchpad writes, external writes, signature
  logic [191:0] expected_records[MaxRecords];
  // address, data
  logic [63:0] expected_writes[MaxWrites];
  // address and length of each burst of read requests
  logic [63:0] expected_reads[MaxReads];
  int record_count, write_count, read_count, mismatches, comparisons;

  logic running, ended, executing, cleared, reset_before;
  logic [3:0] executing_op;
  logic [31:0] cycle, busy, spad_writes, ext_writes, signature;
  logic last_req, last_wr;
  logic [15:0] first_req_addr;
  logic [15:0] last_req_addr, last_wr_addr;
  logic [15:0] outstanding;
  logic [159:0] held_counters;
  logic [21:0] held_end;

  logic [31:0] signature_now, total;
  logic [31:0] spad_writes_now, ext_writes_now;
  logic ending;

  function automatic logic [31:0] mix(input logic [31:0] word);
    logic [31:0] x;
    x = word ^ (word >> 16);
    x = x * 32'h85EB_CA6B;
    x = x ^ (x >> 13);
    x = x * 32'hC2B2_AE35;
    return x ^ (x >> 16);
  endfunction

  // Writes of the retiring cycle belong to the retiring instruction.
  assign signature_now = signature + (spad_we ? mix(
      spad_wdata ^ {20'd0, spad_waddr} * 32'h9E37_79B1 ^ spad_writes * 32'h85EB_CA6B
  ) : 32'd0);
  assign spad_writes_now = spad_writes + 32'(spad_we);
  assign ext_writes_now = ext_writes + 32'(wr_valid);
  assign total = counters[159:128];
  assign ending = retire || issue_fault;

  function automatic void fail(input string what);
    mismatches++;
    $display("MISMATCH cycle %0d pc %0d: %s", cycle, pc, what);
  endfunction

  task automatic check_record;
    logic [191:0] record;
    record = {
      16'd0, pc, 23'd0, issue_fault, 4'd0, op, issue_fault ? 32'd0 : busy + 32'd1, spad_writes_now,
      ext_writes_now, signature_now
    };
    if (record !== expected_records[record_count]) fail("retire record");
    record_count++;
    comparisons += 6;
  endtask

  task automatic check_write;
    if ({16'd0, wr_addr, wr_data} !== expected_writes[write_count]) fail("external write");
    write_count++;
    comparisons += 2;
  endtask

  // In the cycle after a burst.
  task automatic check_read;
    logic [15:0] length;
    length = last_req_addr - first_req_addr + 16'd1;
    if ({16'd0, first_req_addr, 16'd0, length} !== expected_reads[read_count]) fail("read burst");
    read_count++;
    comparisons += 2;
  endtask

  task automatic check_pins;
    if (^{halted, fault, req_valid, wr_valid, imem_addr, retire} === 1'bx)
      fail("unknown control output");
    if (req_valid) begin
      if (!executing || executing_op != OpLoad) fail("read request outside an LD");
      if (last_req && req_addr != last_req_addr + 16'd1) fail("read burst with a gap");
      if (^req_addr === 1'bx) fail("unknown read address");
    end
    if (wr_valid) begin
      if (!executing || executing_op != OpStore) fail("external write outside an ST");
      if (last_wr && wr_addr != last_wr_addr + 16'd1) fail("write burst with a gap");
    end
    if (spad_we && !executing) fail("scratchpad write outside busy time");
    if (spad_ren && !executing) fail("scratchpad read outside busy time");
    if (retire && outstanding != 16'(resp_valid)) fail("retired with reads unanswered");
    if (reset_before && {halted, fault, fault_code, fault_pc, imem_addr, counters} !== '0)
      fail("not cleared by reset");
    if (cleared && counters != '0) fail("counters not cleared by start");
    if (fault && !halted) fail("fault without halted");
    if (running && halted) begin
      if (total != cycle) fail("total does not count every cycle");
      if (total != counters[127:96] + counters[95:64] + counters[63:32] + 2 * counters[31:0] + 2)
        fail("counters do not add up");
      if (^{counters, fault, fault_code, fault_pc} === 1'bx) fail("unknown bits at the end");
    end
    if (ended && !start) begin
      if (counters !== held_counters) fail("counters changed after the end");
      if ({halted, fault, fault_code, fault_pc} !== held_end) fail("outputs changed after the end");
    end
  endtask

  always @(posedge clk) begin
    if (rst) begin
      {running, ended, executing, cleared} <= '0;
      {last_req, last_wr, outstanding} <= '0;
      {spad_writes, ext_writes, signature} <= '0;
      {record_count, write_count, read_count, mismatches, comparisons} <= '0;
    end else begin
      check_pins();
      if (wr_valid) check_write();
      if (last_req && !req_valid) check_read();
      if (ending) check_record();

      cleared <= start && !running;
      cycle <= start && !running ? '0 : cycle + 32'd1;
      if (start) {running, ended} <= 2'b10;
      else if (running && halted) {running, ended} <= 2'b01;
      held_counters <= counters;
      held_end <= {halted, fault, fault_code, fault_pc};

      if (issue) begin
        executing <= issue_start;
        executing_op <= op;
        busy <= '0;
      end else begin
        busy <= busy + 32'd1;
        if (retire) executing <= 1'b0;
      end
      spad_writes <= ending ? '0 : spad_writes_now;
      ext_writes <= ending ? '0 : ext_writes_now;
      signature <= ending ? '0 : signature_now;

      last_req <= req_valid;
      last_req_addr <= req_addr;
      if (req_valid && !last_req) first_req_addr <= req_addr;
      last_wr <= wr_valid;
      last_wr_addr <= wr_addr;
      outstanding <= outstanding + 16'(req_valid) - 16'(resp_valid);
    end
    reset_before <= rst;
  end

  // Compares the lengths of the lists with the model's and starts counting afresh.
  task automatic finish_program(input int records, input int writes, input int reads);
    if (record_count != records) fail("number of retired instructions");
    if (write_count != writes) fail("number of external writes");
    if (read_count != reads) fail("number of read bursts");
    comparisons += 3;
    read_count = 0;
    record_count = 0;
    write_count = 0;
  endtask

endmodule

`default_nettype wire
