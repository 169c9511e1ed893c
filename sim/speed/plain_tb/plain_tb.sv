// SPDX-License-Identifier: Apache-2.0
//
// A testbench without Python, the yardstick of 'make bench': replays programs and checks what the
// pyuvm flow checks, against the model's predictions: memory, counters and fault outputs here,
// retired instructions, external writes and pins in plain_checker. It reads hexadecimal files as
// such testbenches do, or with +binary one binary file. sim/speed/plain_flow.py writes and
// describes both. With GA2_BARE nothing looks on while a program runs: that is what the RTL takes.

`default_nettype none

module plain_tb;

  localparam int Depth = 8192;
  localparam int ProgramDepth = 4096;
  localparam int Settle = 4;  // cycles after halted in which nothing may change
  localparam int Patience = 100_000_000;  // cycles for all programs together

  logic clk;
  logic rst;
  logic start;
  logic halted;
  logic [15:0] imem_addr;
  logic [127:0] imem_data;
  logic req_valid;
  logic [15:0] req_addr;
  logic resp_valid;
  logic [31:0] resp_data;
  logic wr_valid;
  logic [15:0] wr_addr;
  logic [31:0] wr_data;
  logic [31:0] observed[8];  // the five counters, then the fault outputs
  logic fault;
  logic [3:0] fault_code;
  logic [15:0] fault_pc;

  initial begin
    clk = 1'b0;
    forever #5 clk = ~clk;
  end

  ga2 dut (
      .cyc_total(observed[0]),
      .cyc_mm(observed[1]),
      .cyc_dma(observed[2]),
      .cyc_vec(observed[3]),
      .n_inst(observed[4]),
      .*
  );

  assign observed[5] = {31'd0, fault};
  assign observed[6] = {28'd0, fault_code};
  assign observed[7] = {16'd0, fault_pc};

`ifndef GA2_BARE
  plain_checker u_checker (
      .counters({observed[0], observed[1], observed[2], observed[3], observed[4]}),
      .pc(dut.pc_q),
      .op(dut.op),
      .issue(dut.issue),
      .issue_fault(dut.issue_fault),
      .issue_start(dut.issue_start),
      .retire(dut.retire),
      .spad_we(dut.spad_we),
      .spad_ren(dut.spad_ren),
      .spad_waddr(dut.spad_waddr),
      .spad_wdata(dut.spad_wdata),
      .*
  );
`endif

  // Of the program that runs: read latency, its words, retire records, external writes, read
  // bursts, then the expected outputs.
  logic [31:0] info[13];

  // ---- Instruction memory: past the program it reads as zero

  logic [127:0] imem[ProgramDepth];

  assign imem_data = {16'd0, imem_addr} < info[1] ? imem[imem_addr[11:0]] : '0;

  // ---- External memory: a request in cycle t is answered in cycle t + latency (1..64)

  logic [31:0] ext[Depth];
  logic [31:0] in_flight[64];
  logic [63:0] pending;
  logic [5:0] head;
  logic [5:0] tail;
  logic [31:0] read_data;
  logic answer;

  assign answer = info[0] == 1 ? req_valid : pending[info[0][5:0]-6'd2];
  assign read_data = int'(req_addr) < Depth ? ext[req_addr[12:0]] : '0;

  always @(posedge clk) begin
    if (rst) begin
      pending <= '0;
      resp_valid <= 1'b0;
      resp_data <= '0;
      head <= '0;
      tail <= '0;
    end else if (req_valid || resp_valid || pending != '0) begin
      pending <= {pending[62:0], req_valid};
      if (req_valid) begin
        in_flight[head] <= read_data;
        head <= head + 6'd1;
      end
      resp_valid <= answer;
      if (answer) begin
        resp_data <= info[0] == 1 ? read_data : in_flight[tail];
        tail <= tail + 6'd1;
      end
    end
    if (wr_valid && int'(wr_addr) < Depth) ext[wr_addr[12:0]] <= wr_data;
  end

  // ---- Replay

  logic [31:0] expected_ext[Depth];
  int file, got, programs, mismatches, comparisons;
  longint cycles;
  string folder;
  bit binary;

  // The usual way: hexadecimal files, one a memory.
  task automatic load_text(input int index);
    string name;
    name = $sformatf("%s/%0d", folder, index);
    $readmemh({name, ".info.hex"}, info, 0, 12);
    if (info[1] != 0) $readmemh({name, ".program.hex"}, imem, 0, info[1] - 1);
    $readmemh({name, ".image.hex"}, ext, 0, Depth - 1);
    $readmemh({name, ".final.hex"}, expected_ext, 0, Depth - 1);
`ifndef GA2_BARE
    if (info[2] != 0) $readmemh({name, ".records.hex"}, u_checker.expected_records, 0, info[2] - 1);
    if (info[3] != 0) $readmemh({name, ".writes.hex"}, u_checker.expected_writes, 0, info[3] - 1);
    if (info[4] != 0) $readmemh({name, ".reads.hex"}, u_checker.expected_reads, 0, info[4] - 1);
`endif
  endtask

  // The fast way: everything in one binary file, big-endian as $fread expects it.
  task automatic load_binary;
    got = $fread(info, file, 0, 13);
    if (info[1] != 0) got = $fread(imem, file, 0, info[1]);
    got = $fread(ext, file, 0, Depth);
    got = $fread(expected_ext, file, 0, Depth);
`ifdef GA2_BARE
    if ($fseek(file, 24 * info[2] + 8 * info[3] + 8 * info[4], 1) != 0) got = 0;
`else
    if (info[2] != 0) got = $fread(u_checker.expected_records, file, 0, info[2]);
    if (info[3] != 0) got = $fread(u_checker.expected_writes, file, 0, info[3]);
    if (info[4] != 0) got = $fread(u_checker.expected_reads, file, 0, info[4]);
`endif
    if (got == 0) $fatal(1, "plain_tb: %s/replay.bin ends too early", folder);
  endtask

  task automatic check_program(input int index);
    for (int i = 0; i < Depth; i++) begin
      if (ext[i] !== expected_ext[i]) begin
        mismatches++;
        $display("MISMATCH program %0d word %0d: expected %h, got %h", index, i, expected_ext[i],
                 ext[i]);
      end
    end
    for (int i = 0; i < 8; i++) begin
      if (observed[i] !== info[5+i]) begin
        mismatches++;
        $display("MISMATCH program %0d output %0d: expected %0d, got %0d", index, i, info[5+i],
                 observed[i]);
      end
    end
    comparisons += Depth + 8;
    cycles += longint'(observed[0]);
  endtask

  initial begin
    if (!$value$plusargs("job=%s", folder)) $fatal(1, "plain_tb: +job=FOLDER is missing");
    if (!$value$plusargs("programs=%d", programs)) $fatal(1, "plain_tb: +programs=N is missing");
    binary = $test$plusargs("binary") != 0;
    if (binary) file = $fopen({folder, "/replay.bin"}, "rb");
    if (binary && file == 0) $fatal(1, "plain_tb: cannot open %s/replay.bin", folder);
    rst = 1'b1;
    start = 1'b0;
    mismatches = 0;
    comparisons = 0;
    cycles = 0;
    info[0] = 8;
    info[1] = 0;
    $display("BEGIN");
    $fflush;
    repeat (2) @(negedge clk);
    rst = 1'b0;
    for (int p = 0; p < programs; p++) begin
      if (binary) load_binary();
      else load_text(p);
      @(negedge clk) start = 1'b1;
      @(negedge clk) start = 1'b0;
      wait (halted);
      repeat (Settle) @(negedge clk);
`ifndef GA2_BARE
      u_checker.finish_program(int'(info[2]), int'(info[3]), int'(info[4]));
`endif
      check_program(p);
    end
`ifndef GA2_BARE
    comparisons += u_checker.comparisons;
    mismatches += u_checker.mismatches;
`endif
    $display("END programs %0d cycles %0d comparisons %0d mismatches %0d", programs, cycles,
             comparisons, mismatches);
    $fflush;
    $finish;
  end

  initial begin
    #(Patience * 10.0);
    $fatal(1, "plain_tb: no end after %0d cycles", Patience);
  end

endmodule

`default_nettype wire
