"""What is proved, by which script of hw/formal, and the fault that each property must notice.

A mutant is one replacement in one file; the run that looks for its counterexample leaves out the
invariants that help induction, so the property itself has to fail.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault: ``old``, which occurs once in ``file`` (below hw/), becomes ``new``."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Property:
    """An assertion by its label, what it says, and the fault it must notice.

    ``search`` names a task of its own for the counterexample; empty: the proof's.
    """

    name: str
    says: str
    mutant: Mutant
    search: str = ""


@dataclass(frozen=True)
class Proof:
    """One run of sby that proves the properties of one module.

    Attributes:
        module: what is proved; ``script``.sby in hw/formal does it.
        task: of the script, for the proof.
        search: of the script, for the counterexamples of the mutants.
        limit: seconds that the proof may take.
    """

    module: str
    script: str
    task: str
    search: str
    properties: tuple[Property, ...]
    limit: float = 900.0

    @property
    def name(self) -> str:
        """Name in tables and caches."""
        return f"{self.script}:{self.task}"


def _rtl(file: str, old: str, new: str) -> Mutant:
    return Mutant(f"rtl/{file}.sv", old, new)


def _unit(unit: str, formula: str, slow: Mutant, loud: Mutant) -> Proof:
    module = f"ga2_{unit}"
    return Proof(
        module,
        module,
        "prove",
        "search",
        (
            Property("busy_time", f"busy for {formula} cycles", slow),
            Property("idle_is_quiet", "no access to memory when idle", loud),
        ),
    )


def _pipeline(unit: str, formula: str, last: str, ren: str = "ren_q") -> Proof:
    """Build the proof of a unit that counts its reads down to the literal ``last``."""
    file = f"ga2_{unit}"
    sooner = last.replace("d1", "d2")
    return _unit(
        unit,
        formula,
        _rtl(file, f"{ren} <= left_q != {last};", f"{ren} <= left_q != {sooner};"),
        _rtl(file, f"        {ren} <= 1'b0;", f"        {ren} <= 1'b1;"),
    )


def _chip(name: str, says: str, old: str, new: str, file: str = "ga2") -> Property:
    return Property(name, says, _rtl(file, old, new))


def _also(unit: str, other: str, name: str, says: str) -> Property:
    """Build a property that must notice when an instruction starts another's unit as well."""
    start = f".start(issue_start && is_{unit})"
    return _chip(name, says, start, f".start(issue_start && (is_{unit} || is_{other}))")


def _lemma(task: str, name: str, says: str, old: str, new: str) -> Proof:
    mutant = Mutant("formal/ga2_lemmas.sv", old, new)
    return Proof("ga2_lemmas", "ga2_lemmas", task, task, (Property(name, says, mutant),))


DIVIDER = Proof(
    "ga2_divider",
    "ga2_divider",
    "prove",
    "search",
    (
        Property(
            "latency_40",
            "done in the 40th cycle, never else",
            _rtl("ga2_divider", "left_q <= 6'd40;", "left_q <= 6'd39;"),
        ),
        Property(
            "quotient",
            "dividend = quotient * divisor + remainder",
            _rtl("ga2_divider", "partial_q <= 29'(dividend[39]);", "partial_q <= 29'd0;"),
        ),
        Property(
            "remainder",
            "remainder < divisor",
            _rtl("ga2_divider", "partial_q >= {1'b0, divisor}", "partial_q > {1'b0, divisor}"),
        ),
        Property(
            "quotient_bits",
            "the bits decided are the result, and hold",
            _rtl("ga2_divider", "{quotient_q[38:0], fits}", "{quotient_q[38:0], !fits}"),
        ),
        Property(
            "by_zero",
            "division by zero gives all ones",
            _rtl("ga2_divider", "{1'b0, divisor};", "{1'b0, divisor} && divisor != '0;"),
            "search_zero",
        ),
    ),
)

PROOFS: tuple[Proof, ...] = (
    DIVIDER,
    _lemma(
        "horner",
        "horner_step",
        "adding up bit by bit is multiplication",
        "68'd2 * before + next * divisor",
        "68'd2 * before + next",
    ),
    Proof(
        "ga2_requantizer",
        "ga2_requantizer",
        "prove",
        "prove",
        (
            Property(
                "requantize",
                "clamp(rnd(p, s), lo, 127) for every p",
                _rtl("ga2_requantizer", "+ 57'd1) >> 1;", "+ 57'd0) >> 1;"),
            ),
        ),
    ),
    Proof(
        "ga2_requantizer",
        "ga2_requantizer",
        "product",
        "product",
        (
            Property(
                "product_of_magnitude",
                "product = |acc| * m",
                _rtl("ga2_requantizer", "* 57'(m);", "* 57'(m[22:0]);"),
            ),
        ),
    ),
    _lemma(
        "negated",
        "negated_factor",
        "(-x) * y = -(x * y)",
        "(-x) * y == -(x * y)",
        "(-x) * y == ~(x * y)",
    ),
    _lemma(
        "magnitude",
        "magnitude_of_acc",
        "|acc| fits 32 bits",
        "magnitude = acc[31] ? -acc : acc",
        "magnitude = acc[31] ? ~acc : acc",
    ),
    Proof(
        "ga2_fault_checker",
        "ga2_fault_checker",
        "prove",
        "prove",
        (
            Property(
                "fault_rules",
                "the first fault rule that applies",
                _rtl("ga2_fault_checker", "end_a > 20'd4096", "end_a >= 20'd4096"),
            ),
        ),
    ),
    Proof(
        "ga2_sequencer",
        "ga2_sequencer",
        "prove",
        "search",
        (
            _chip(
                "halted_is_stable",
                "halted and fault hold until start or rst",
                "begin_run = start && (",
                "begin_run = (start || halted) && (",
                "ga2_sequencer",
            ),
            _chip(
                "fault_is_reported",
                "halted, fault, code and pc together",
                "fault_pc <= pc_q;",
                "fault_pc <= pc_q + 16'd1;",
                "ga2_sequencer",
            ),
            _chip(
                "fault_means_halted",
                "fault only while halted",
                "            fault <= 1'b0;",
                "            fault <= fault;",
                "ga2_sequencer",
            ),
            _chip(
                "reset_ends",
                "reset stops the program and clears fault",
                "state_q <= StIdle;",
                "state_q <= StHalted;",
                "ga2_sequencer",
            ),
        ),
    ),
    _unit(
        "load",
        "len + LAT + 1",
        _rtl("ga2_load", "resp_left_q == '0;", "resp_left_q <= 12'd1;"),
        _rtl("ga2_load", "req_valid_q <= 1'b0;", "req_valid_q <= 1'b1;"),
    ),
    _pipeline("store", "len + 2", "12'd1"),
    _unit(
        "matmul",
        "M*K + K*N + (K+M+N-2) + M*N + 7",
        _rtl("ga2_matmul", "7'(m) + 7'(n) - 7'd2", "7'(m) + 7'(n) - 7'd1"),
        _rtl(
            "ga2_matmul",
            "t_q <= '0;\n        we_q <= 1'b0;",
            "t_q <= '0;\n        we_q <= 1'b1;",
        ),
    ),
    _pipeline("requant", "len + 2", "12'd1"),
    _unit(
        "softmax",
        "3*len + 47",
        _rtl("ga2_softmax", "done = we_q && !scale_q;", "done = we_q;"),
        _rtl(
            "ga2_softmax",
            "state_q <= StIdle;\n        ren_q <= 1'b0;",
            "state_q <= StIdle;\n        ren_q <= 1'b1;",
        ),
    ),
    _pipeline("vadd", "2*len + 2", "13'd1"),
    _pipeline("amax", "len + 3", "12'd1"),
    _unit(
        "unpack",
        "10*len + 1",
        _rtl("ga2_unpack", "if (nibble_q == 3'd7)", "if (nibble_q == 3'd6)"),
        _rtl(
            "ga2_unpack",
            "if (rst) begin\n        ren_q <= 1'b0;",
            "if (rst) begin\n        ren_q <= 1'b1;",
        ),
    ),
    Proof(
        "ga2",
        "ga2",
        "prove",
        "search",
        (
            _chip(
                "time_of_instruction",
                "every instruction takes what the cycle model says",
                "ld_done || st_done || mm_done",
                "ld_done || mm_done",
            ),
            _chip(
                "retire_is_waiting",
                "only the unit that was started reports its end",
                "assign retire = ld_done",
                "assign retire = issue || ld_done",
            ),
            _also("unpack", "rq", "one_writer", "one unit at a time drives the write port"),
            _also("unpack", "amax", "writer_is_executing", "and it is the instruction's own"),
            _also("st", "rq", "store_is_executing", "external writes only by ST"),
            _also("ld", "st", "load_is_executing", "external reads only by LD"),
            _chip(
                "fault_writes_nothing",
                "a faulting instruction writes nothing",
                "issue_start = issue && !issue_fault",
                "issue_start = issue",
                "ga2_sequencer",
            ),
            _chip(
                "reset_ends_writing",
                "no write after reset until an instruction starts",
                "wr_valid_q <= 1'b0;",
                "wr_valid_q <= 1'b1;",
                "ga2_store",
            ),
        ),
    ),
    Proof(
        "ga2",
        "ga2_sum",
        "prove",
        "search",
        (
            _chip(
                "sum_of_counters",
                "total = mm + dma + vec + 2 * n_inst + 2",
                "if (waiting) begin",
                "if (waiting && !is_dma) begin",
                "ga2_counters",
            ),
        ),
    ),
)
