// SPDX-License-Identifier: Apache-2.0
//
// A testbench without Python, the yardstick of 'make bench': replays programs from one binary file
// and compares 8,192 words of external memory, the five counters and the fault outputs with the model's prediction.
// The file is written by sim/plain_flow.py, which also describes it.

`default_nettype none

module plain_tb;

  localparam int Depth = 8192;
  localparam int ProgramDepth = 4096;
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

  // ---- Instruction memory: past the program it reads as zero

  logic [127:0] imem[ProgramDepth];
  logic [31:0] program_words;

  assign imem_data = {16'd0, imem_addr} < program_words ? imem[imem_addr[11:0]] : '0;

  // ---- External memory: a request in cycle t is answered in cycle t + latency (1..64)

  logic [31:0] ext[Depth];
  logic [31:0] in_flight[64];
  logic [63:0] pending;
  logic [5:0] head;
  logic [5:0] tail;
  logic [31:0] latency;
  logic [31:0] read_data;
  logic answer;

  assign answer = latency == 1 ? req_valid : pending[latency[5:0]-6'd2];
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
        resp_data <= latency == 1 ? read_data : in_flight[tail];
        tail <= tail + 6'd1;
      end
    end
    if (wr_valid && int'(wr_addr) < Depth) ext[wr_addr[12:0]] <= wr_data;
  end

  // ---- Replay

  logic [31:0] expected_ext[Depth];
  logic [31:0] expected[8];
  int file, got, mismatches, comparisons;
  logic [31:0] programs;
  longint cycles;
  string path;

  // Reads one word; the file is big-endian, as $fread expects it.
  task automatic read_word(output logic [31:0] word);
    got = $fread(word, file);
    if (got != 4) $fatal(1, "plain_tb: %s ends too early", path);
  endtask

  task automatic load_program;
    read_word(latency);
    read_word(program_words);
    got = $fread(imem, file, 0, program_words);
    got = $fread(ext, file, 0, Depth);
    got = $fread(expected_ext, file, 0, Depth);
    got = $fread(expected, file, 0, 8);
    if (got != 32) $fatal(1, "plain_tb: %s ends too early", path);
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
      if (observed[i] !== expected[i]) begin
        mismatches++;
        $display("MISMATCH program %0d output %0d: expected %0d, got %0d", index, i, expected[i],
                 observed[i]);
      end
    end
    comparisons += Depth + 8;
    cycles += longint'(observed[0]);
  endtask

  initial begin
    if (!$value$plusargs("job=%s", path)) $fatal(1, "plain_tb: +job=FILE is missing");
    file = $fopen(path, "rb");
    if (file == 0) $fatal(1, "plain_tb: cannot open %s", path);
    read_word(programs);
    rst = 1'b1;
    start = 1'b0;
    mismatches = 0;
    comparisons = 0;
    cycles = 0;
    program_words = 0;
    latency = 8;
    $display("BEGIN");
    $fflush;
    repeat (2) @(negedge clk);
    rst = 1'b0;
    for (int p = 0; p < int'(programs); p++) begin
      load_program();
      @(negedge clk) start = 1'b1;
      @(negedge clk) start = 1'b0;
      wait (halted);
      @(negedge clk) check_program(p);
    end
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
