"""A small design with its coverage data, as Verilator writes them."""

from __future__ import annotations

from pathlib import Path

from sim.coverage.code import CodeCoverage, measure
from sim.coverage.dat import read_points
from sim.coverage.exclusions import load_exclusions
from sim.coverage.functional import FunctionalCoverage, PointCoverage
from sim.coverage.report import Report
from sim.engine.job_result import JobResult
from sim.engine.play import Batch, Simulation
from verif.items.job import Job
from verif.items.result import ProgramResult
from verif.plan import Point

A_BIT_2 = '{files: [gate.sv], kind: toggle, signals: ["a[2]"], reason: tied}'

SOURCE = """\
module gate (input wire clk, input wire [2:0] a, output logic [2:0] q);
  always_ff @(posedge clk) begin
    if (a[0] && a[1]) q <= a;
    else q <= '0;
    case (a)
      3'd1: q <= 3'd2;
      default: ;
    endcase
  end
endmodule
"""

SOURCES = {"gate.sv": SOURCE.splitlines()}


def point(
    line: int,
    column: int,
    kind: str,
    what: str,
    count: int,
    lines: str = "",
    hierarchy: str = "top.u_a",
    file: str = "/somewhere/rtl/gate.sv",
) -> str:
    """One line of a data file."""
    fields = {"f": file, "l": line, "n": column, "t": kind, "page": f"v_{kind}/gate", "o": what}
    if lines:
        fields["S"] = lines
    fields["h"] = hierarchy
    text = "".join(f"\x01{name}\x02{value}" for name, value in fields.items())
    return f"C '{text}' {count}\n"


POINTS = [
    point(2, 3, "line", "block", 9, "2,5"),
    point(3, 5, "branch", "if", 4, "3"),
    point(3, 6, "branch", "else", 5, "4"),
    point(3, 9, "expr", "(a[0]==1 && a[1]==1) => 1", 4),
    point(3, 9, "expr", "(a[0]==0) => 0", 0),
    point(6, 12, "line", "case", 0, "6"),
    point(7, 7, "line", "case", 9, "7"),
    *(
        point(1, 43, "toggle", f"a[{bit}]:{edge}", 0 if bit == 2 else 3)
        for bit in range(3)
        for edge in ("0->1", "1->0")
    ),
    point(1, 63, "toggle", "clk:0->1", 18),
    point(1, 63, "toggle", "clk:1->0", 18),
]


def write_data(path: Path, points: list[str]) -> Path:
    """A data file of these points."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# SystemC::Coverage-3\n" + "".join(points))
    return path


def exclusions(tmp_path: Path, *entries: str) -> Path:
    path = tmp_path / "exclusions.yaml"
    path.write_text("code:\n" + "".join(f"  - {entry}\n" for entry in entries))
    return path


def measured(tmp_path: Path, *entries: str, points: list[str] = POINTS) -> CodeCoverage:
    counts = read_points(write_data(tmp_path / "coverage.dat", points))
    return measure(counts, SOURCES, load_exclusions(exclusions(tmp_path, *entries)))


def report(code: CodeCoverage | None, *, holes: bool = False, failed: bool = False) -> Report:
    """A report of two bins and one program."""
    hits = {"one": 3, "two<&": 0 if holes else 1}
    planned = Point("length", "how <long>", tuple(hits), {"three": "cannot be"})
    functional = FunctionalCoverage({"length": PointCoverage(planned, hits, {"three": 0})})
    result = ProgramResult("p", passed=not failed, comparisons=1)
    done = JobResult(Path("x"), Path("x/run.log"), [result])
    played = Batch([Simulation(Job(), "icarus", 1, "directed")], [done])
    return Report(played, functional, {"icarus": functional}, code, 1.5)
