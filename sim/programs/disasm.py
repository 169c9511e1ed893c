"""Print a program as assembly (``make disasm``); assembling the output gives it back."""

from __future__ import annotations

from model.chip.assembler import disassemble
from sim.programs.program_file import read_program
from sim.shared.cli import Parser, run


def main() -> int:
    """Read the program, in either form, and print one line an instruction."""
    parser = Parser(prog="disasm", description=__doc__)
    parser.add_argument("--program", required=True, metavar="FILE", help=".asm or .hex")
    args = parser.parse_args()
    for pc, word in enumerate(read_program(args.program)):
        print(f"{disassemble(word):<60} ; {pc}")
    return 0


if __name__ == "__main__":
    run("disasm", main)
