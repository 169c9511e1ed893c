// SPDX-License-Identifier: Apache-2.0
//
// Testbench top: GA-2, its clock and memories, bulk load and dump through binary files, passive
// probes and checks. Python drives `clk_enable`, `load_req`, `rst`, `start` and, in reactive mode,
// the answers; it wakes at the end of a program, never every cycle (docs/testbench.md).

`default_nettype none

module ga2_tb;

  localparam int Period = 2;  // clock period in time units
  localparam int HeaderWords = 8;
`ifdef GA2_NETLIST
  localparam bit Probed = 1'b0;  // a netlist has none of the names the probe looks at
`else
  localparam bit Probed = 1'b1;
`endif

  // ---- What Python drives

  logic clk_enable, load_req, rst, start;
  logic py_resp_valid;
  logic [31:0] py_resp_data;

  // ---- What Python reads besides the pins

  logic load_ack, probed, done, hang;
  wire rd_valid, st_valid;
  wire [15:0] rd_addr, rd_length, st_addr, st_length;
  wire [3:0] flaws;
  wire [31:0] errors, error_mask, first_cycle;
  wire [7:0] first_error;

  // ---- Pins

  logic clk;
  wire halted;
  wire [15:0] imem_addr;
  wire [127:0] imem_data;
  wire req_valid, resp_valid, mem_resp_valid;
  wire [15:0] req_addr;
  wire [31:0] resp_data, mem_resp_data;
  wire wr_valid;
  wire [15:0] wr_addr;
  wire [31:0] wr_data;
  wire [31:0] cyc_total, cyc_mm, cyc_dma, cyc_vec, n_inst;
  wire fault;
  wire [3:0] fault_code;
  wire [15:0] fault_pc;

  // ---- Per program, from the header of the load file

  logic [31:0] header[HeaderWords];
  logic [16:0] program_length, depth;
  logic [7:0] latency;
  logic [31:0] limit;
  logic load_spad, load_image, reactive, restarts;

  logic running, closing, executing, unanswered;
  logic [3:0] executing_op;

  initial begin
    {clk, clk_enable, load_req, rst, start, py_resp_valid, load_ack} = '0;
    py_resp_data = '0;
    program_length = '0;
    depth = '0;
    latency = 8'd1;
    limit = '0;
    load_spad = 1'b0;
    load_image = 1'b0;
    reactive = 1'b0;
    restarts = 1'b0;
    probed = Probed;
  end

  // The clock waits for Python: a simulator that failed to load it ends at once, having no events.
  // Nothing happens on the falling edge, so it follows the rising one in no time, which halves the
  // moments to simulate. Whoever records waves wants to see the clock. In Verilator the main program
  // makes the edges itself, at the same times (sim/engine/main.cpp).
  int high;
  initial begin
    high = $test$plusargs("ga2_waves") ? Period / 2 : 0;
    if ($test$plusargs("ga2_clock_outside") == 0) begin
      wait (clk_enable);
      #(Period / 2);
      forever begin
        clk = 1'b1;
        if (high != 0) #(high);
        else #0;
        clk = 1'b0;
        #(Period - high);
      end
    end
  end

  ga2 dut (.*);

  instruction_memory u_imem (.length(program_length), .addr(imem_addr), .data(imem_data));

  external_memory u_ext (
      .clk, .rst, .reactive, .depth, .latency, .req_valid, .req_addr,
      .resp_valid(mem_resp_valid), .resp_data(mem_resp_data), .py_resp_valid, .unanswered,
      .wr_valid, .wr_addr, .wr_data
  );
  assign resp_valid = reactive ? py_resp_valid : mem_resp_valid;
  assign resp_data = reactive ? py_resp_data : mem_resp_data;

  watchdog #(.Period(Period)) u_watchdog (
      .clk, .rst, .start, .limit, .restarts, .halted, .running, .closing, .done, .hang
  );

  bus_watch #(.Period(Period)) u_bus_watch (
      .clk, .rst, .fd(writes_fd), .bursts_fd, .req_valid, .req_addr, .wr_valid, .wr_addr, .wr_data,
      .rd_valid, .rd_addr, .rd_length, .st_valid, .st_addr, .st_length, .flaws
  );

  protocol_checker #(.Probed(Probed), .Period(Period)) u_checker (
      .clk, .rst, .start, .done, .halted, .imem_addr, .req_valid, .wr_valid, .flaws,
      .unanswered, .cyc_total, .cyc_mm, .cyc_dma, .cyc_vec, .n_inst,
      .fault, .fault_code, .fault_pc, .executing, .executing_op, .errors, .error_mask, .first_error,
      .first_cycle,
`ifdef GA2_NETLIST
      .retire(1'b0), .spad_we(1'b0), .spad_ren(1'b0)
  );
  initial {executing, executing_op} = '0;
`else
      .retire(dut.retire), .spad_we(dut.spad_we), .spad_ren(dut.spad_ren)
  );
  retire_probe #(.Period(Period)) u_probe (
      .clk, .rst, .start(start && !running), .fd(retires_fd), .pc(dut.pc_q), .op(dut.op),
      .issue(dut.issue), .issue_fault(dut.issue_fault), .issue_start(dut.issue_start),
      .retire(dut.retire), .spad_we(dut.spad_we), .spad_waddr(dut.spad_waddr),
      .spad_wdata(dut.spad_wdata), .wr_valid, .executing, .executing_op
  );
`endif

  // ---- Bulk load and dump

  // Files are in the working directory, which each simulation has for itself: load.bin in,
  // memory and scratchpad (.bin or .hex), writes.bin, bursts.bin and retires.bin out.
  integer writes_fd, bursts_fd, retires_fd, load_fd, dump_fd, got;

  initial begin
    writes_fd = 0;
    bursts_fd = 0;
    retires_fd = 0;
  end

  // In Verilator $fread takes a byte at a time, and $fwrite makes text of everything: memories move
  // in one piece instead. Their first word is left to $fread, which says that they change.
`ifdef VERILATOR
`define GA2_READ(Mem, Fd, Words) \
    got = $fread(Mem, Fd, 0, 1); \
    $c("{ const size_t got = std::fread(&", Mem, "[1], 4, ", Words, " - 1, VL_CVT_I_FP(", Fd, "));", \
       " for (size_t i = 1; i <= got; ++i) ", Mem, "[i] = __builtin_bswap32(", Mem, "[i]); }")
`define GA2_WRITE(Mem, Fd, Words) \
    $c("std::fwrite(&", Mem, "[0], 4, ", Words, ", VL_CVT_I_FP(", Fd, "));")
`else
`define GA2_READ(Mem, Fd, Words) got = $fread(Mem, Fd, 0, Words)
`endif

  // load.bin, all words big-endian: the header (program length, depth, latency, cycle limit, flags:
  // bit 0 scratchpad follows, bit 1 reactive, bit 2 image follows; image length, restarts), 128-bit
  // program words, the image of the external memory and 4,096 words of scratchpad if flagged.
  always @(load_req) if (load_req !== load_ack) begin
    load_fd = $fopen("load.bin", "rb");
    got = $fread(header, load_fd);
    program_length = header[0][16:0];
    depth = header[1][16:0];
    latency = header[2][7:0];
    limit = header[3];
    load_spad = header[4][0];
    reactive = header[4][1];
    load_image = header[4][2];
    restarts = header[6][0];
    if (program_length != 0) got = $fread(u_imem.mem, load_fd, 0, {15'd0, program_length});
    if (load_image) begin
      if (header[5] != 0) begin
        `GA2_READ(u_ext.mem, load_fd, header[5]);
      end
      u_ext.end_at(header[5][16:0]);
    end
`ifndef GA2_NETLIST
    if (load_spad) begin
      `GA2_READ(dut.u_scratchpad.mem, load_fd, ga2_pkg::SpadWords);
    end
`endif
    $fclose(load_fd);
    close_logs;
    writes_fd = $fopen("writes.bin", "wb");
    bursts_fd = $fopen("bursts.bin", "wb");
    retires_fd = $fopen("retires.bin", "wb");
    if (load_fd != 0 && got != 0) load_ack = load_req;
  end

  task automatic close_logs;
    if (writes_fd != 0) $fclose(writes_fd);
    if (bursts_fd != 0) $fclose(bursts_fd);
    if (retires_fd != 0) $fclose(retires_fd);
    writes_fd = 0;
    bursts_fd = 0;
    retires_fd = 0;
  endtask

  // Words of the memory, each in the way that is fast: binary in Verilator, hexadecimal in Icarus
  // (which also shows unknown bits).
  always @(posedge closing) begin
    close_logs;
`ifdef VERILATOR
    dump_fd = $fopen("memory.bin", "wb");
    `GA2_WRITE(u_ext.mem, dump_fd, depth);
    $fclose(dump_fd);
`ifndef GA2_NETLIST
    dump_fd = $fopen("scratchpad.bin", "wb");
    `GA2_WRITE(dut.u_scratchpad.mem, dump_fd, ga2_pkg::SpadWords);
    $fclose(dump_fd);
`endif
`else
    $writememh("memory.hex", u_ext.mem, 0, depth - 1);
`ifndef GA2_NETLIST
    $writememh("scratchpad.hex", dut.u_scratchpad.mem, 0, 4095);
`endif
`endif
  end

`ifndef VERILATOR
  // Verilator's waves come from cocotb's main program and a build of their own.
  string waves;
  initial begin
    if ($value$plusargs("ga2_waves=%s", waves)) begin
      $dumpfile(waves);
      $dumpvars(0, ga2_tb);
    end
  end
`endif

endmodule

`default_nettype wire
