"""Write what follows from the table of operations, and say what each still lacks."""

from __future__ import annotations

from sim.operations.generate import GenerateError, generated
from sim.operations.missing import problems
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.paths import ROOT


def main() -> int:
    """Rewrite the generated parts (not with --check); 1 when anything is missing or stale."""
    parser = Parser(prog="operations", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    if not args.check:
        try:
            texts = generated()
        except (GenerateError, OSError) as error:
            raise UsageError(str(error)) from None
        for path, text in texts.items():
            if path.read_text() != text:
                path.write_text(text)
                print(f"wrote {path.relative_to(ROOT)}")
    found = problems()
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    run("operations", main)
