"""Two-way assembler for GA-2 programs (syntax: docs/isa.md, "Assembly").

One instruction a line, ``key=value`` operands in any order, ``;`` starts a comment.  The directive
``.word`` gives a 128-bit word literally, so that every word, also an undefined one, has a text that
assembles back to it.
"""

from __future__ import annotations

import difflib
import re
from typing import NoReturn

from model.chip.image import BYTE_ORDER_MARK
from model.chip.isa import WORD_BITS, Instruction, Op, decode
from model.chip.operation_table import FIELDS, OPERATIONS, Operand


class AssemblyError(ValueError):
    """A line that does not assemble.

    Attributes:
        line: line number, from 1.
        text: the offending piece of that line.
        reason: what is wrong and what would be right.
    """

    def __init__(self, line: int, text: str, reason: str) -> None:
        super().__init__(f"line {line}: {text!r}: {reason}")
        self.line = line
        self.text = text
        self.reason = reason


_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")


def assemble(text: str) -> list[int]:
    """Translate a program into its 128-bit words; blank and comment lines take no address.

    A byte order mark at the beginning is skipped.

    Raises:
        AssemblyError: names the first bad line, its offending text and what would be right.
    """
    words = []
    for number, raw in enumerate(text.removeprefix(BYTE_ORDER_MARK).split("\n"), start=1):
        line = raw.split(";", 1)[0].strip()
        if line:
            words.append(_assemble_line(number, line))
    return words


def disassemble(word: int) -> str:
    """Return a line that assembles back to exactly ``word``.

    Words with an undefined operation, or with bits set that their operation ignores, become a
    ``.word`` with the readable form as its comment.

    Raises:
        EncodingError: ``word`` is not a 128-bit unsigned number.
    """
    instr = decode(word)
    text = describe(instr)
    if instr.op in OPERATIONS and assemble(text) == [word]:
        return text
    return f".word 0x{word:032x} ; {text}"


def describe(instr: Instruction) -> str:
    """Return the mnemonic and the operands that its operation reads, for reports."""
    if instr.op not in OPERATIONS:
        return f"undefined operation {instr.op}"
    # The fields are reassembled without checks: a report must print any instruction.
    word = sum(getattr(instr, field) << low for field, (low, _) in FIELDS.items())
    op = Op(instr.op)
    return " ".join([op.name, *(f"{o.name}={o.read(word)}" for o in OPERATIONS[op].operands)])


def _assemble_line(number: int, line: str) -> int:
    mnemonic, *tokens = line.split()
    if mnemonic.lower() == ".word":
        return _assemble_literal(number, line, tokens)
    if mnemonic.upper() not in Op.__members__:
        _reject(number, mnemonic, "unknown operation", mnemonic.upper(), list(Op.__members__))
    op = Op[mnemonic.upper()]
    operands = {o.name: o for o in OPERATIONS[op].operands}
    values: dict[str, int] = {}
    for token in tokens:
        name, equals, digits = token.partition("=")
        if not equals:
            raise AssemblyError(
                number, token, f"operands are written key=value; {op.name} {_usage(op)}"
            )
        if name not in operands:
            what = f"{op.name} has no operand {name!r}"
            _reject(number, token, what, name, list(operands))
        if name in values:
            raise AssemblyError(number, token, f"{name} is given twice; give it once")
        values[name] = _parse(number, token, digits, operands[name].width)

    word = int(op) << 124
    for name, operand in operands.items():
        if name not in values:
            values[name] = _default(number, line, op, operand, values)
        word |= values[name] << operand.shift
    return word


def _assemble_literal(number: int, line: str, tokens: list[str]) -> int:
    if len(tokens) != 1:
        raise AssemblyError(number, line, ".word takes one number, e.g. .word 0x9000")
    return _parse(number, tokens[0], tokens[0], WORD_BITS)


def _parse(number: int, token: str, digits: str, width: int) -> int:
    if not _NUMBER.fullmatch(digits):
        comma = " (operands are separated by blanks, without commas)" if "," in digits else ""
        raise AssemblyError(
            number, token, f"the value must be an unsigned decimal or 0x hexadecimal number{comma}"
        )
    limit = (1 << width) - 1
    # Python refuses to convert thousands of digits; no field needs more than 39.
    value = int(digits, 0 if digits[1:2] in ("x", "X") else 10) if len(digits) < 200 else limit + 1
    if value > limit:
        raise AssemblyError(number, token, f"does not fit; the value must be 0..{limit}")
    return value


def _default(number: int, line: str, op: Op, operand: Operand, values: dict[str, int]) -> int:
    if operand.default is None:
        raise AssemblyError(number, line, f"{operand.name} is missing; {op.name} {_usage(op)}")
    return values[operand.default] if isinstance(operand.default, str) else operand.default


def _usage(op: Op) -> str:
    """Describe the operands of ``op``, optional ones in brackets."""
    if not OPERATIONS[op].operands:
        return "takes no operands"
    names = [o.name if o.default is None else f"[{o.name}]" for o in OPERATIONS[op].operands]
    return "takes " + " ".join(names)


def _reject(number: int, token: str, what: str, name: str, known: list[str]) -> NoReturn:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    choices = ", ".join(known) if known else "none"
    raise AssemblyError(number, token, f"{what}; {hint}known: {choices}")
