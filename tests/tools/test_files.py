"""Files that outlive a kill, a full disk and a second writer."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from sim.shared import jsonl
from sim.shared.files import digest, locked, read_text, write_json, write_text
from sim.shared.paths import RESULTS
from sim.shared.test_log import RAN_FILE, last_runs, record


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "figures.json"
    write_json(path, {"passed": True})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left on device") as error:
            write_text(path, "half")
    assert error.value.filename == str(path)
    assert json.loads(path.read_text()) == {"passed": True}
    assert os.listdir(path.parent) == ["figures.json"]


def test_a_name_of_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="figures") as error:
        write_text(tmp_path / "file" / "figures.json", "")
    assert error.value.filename == str(tmp_path / "file" / "figures.json")


def test_any_text_can_be_written_and_any_bytes_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"caf\xe9 \xff\n")
    assert read_text(path) == "caf\\xe9 \\xff\n"
    write_text(path, "a lone \udce9")
    assert read_text(path) == "a lone \\udce9"


def test_a_digest_depends_on_all_parts_and_where_they_end(tmp_path: Path) -> None:
    file = tmp_path / "a.sv"
    file.write_text("wire")
    names = [digest(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), (file,), ())]
    assert len(set(names)) == len(names)
    before = digest(file)
    file.write_text("wires")
    assert digest(file) != before
    assert digest("ab", b"c") == digest("ab", "c")


def hold(path: Path, log: Path) -> None:
    with locked(path):
        for word in ("in", "out"):
            jsonl.append(log, {"pid": os.getpid(), "what": word})
            time.sleep(0.02)


def test_one_process_at_a_time_holds_a_lock(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    arguments = (tmp_path / "some" / "build", log)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=hold, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [each["what"] for each in jsonl.read(log)] == ["in", "out"] * 3
    assert len({each["pid"] for each in jsonl.read(log)[::2]}) == 3


def test_a_torn_line_costs_itself_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ran.jsonl"
    jsonl.append(path, {"n": 1}, {"n": 2})
    with open(path, "ab") as file:
        file.write(b'{"n": 3, "tes')
    assert jsonl.read(path) == [{"n": 1}, {"n": 2}]
    assert capsys.readouterr().err == f'{path}:3: no JSON object: b\'{{"n": 3, "tes\': left out\n'
    jsonl.append(path, {"n": 4})
    assert [each["n"] for each in jsonl.read(path)] == [1, 2, 4]
    path.write_bytes(b'{"n": 1}\n\xff\xfe\n[5]\n\n{"n": 6}\n')
    assert [each["n"] for each in jsonl.read(path)] == [1, 6]
    assert capsys.readouterr().err.count("left out") == 3
    assert jsonl.read(tmp_path / "none") == []


def test_the_test_log_outlives_a_torn_line(tmp_path: Path) -> None:
    record("icarus", {"directed/a": (True, 1)}, tmp_path)
    with open(tmp_path / RAN_FILE, "a") as file:
        file.write('{"test": "directed/b", "si')
    record("icarus", {"directed/c": (False, 2)}, tmp_path)
    found = last_runs(tmp_path)
    assert found["directed/a"]["icarus"].passed
    assert not found["directed/c"]["icarus"].passed
    assert set(found) == {"directed/a", "directed/c"}


def test_a_growing_file_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    tail = jsonl.Tail(path)
    assert tail.new() == []
    with open(path, "ab", buffering=0) as file:
        file.write(b'{"n": 1}\n{"n"')
        assert tail.new() == [{"n": 1}]
        assert tail.new() == []
        file.write(b': 2}\n{"n": 3}\nrubbish\n')
        with pytest.raises(jsonl.JsonLinesError, match=r"results\.jsonl:4: .*rubbish"):
            tail.new()


def test_a_full_disk_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "ran.jsonl"
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        jsonl.append(path, {"n": 1})
    assert error.value.filename == str(path)


def test_a_line_written_in_part_is_ended_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ran.jsonl"
    write = os.write
    left = [4]

    def small(handle: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(handle, data[: left[0]])
        left[0] -= done
        return done

    with jsonl.Writer(path) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", small)
            with pytest.raises(OSError, match="No space left"):
                writer.add({"n": 1})
        writer.add({"n": 2})
    assert path.read_text() == '{"n"\n{"n":2}\n'


def test_results_have_one_place() -> None:
    assert RESULTS.parts[-2:] == ("build", "results")
