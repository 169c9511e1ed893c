"""JSON and YAML as typed records, with errors that name the place and the value."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

T = TypeVar("T")
_PLACE = re.compile(r"(.*?)(?: - at (`key` in )?`\$(.*)`)?", re.DOTALL)
_WORDS = {"object": "mapping", "array": "list", "null": "none"}
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")


class RecordError(ValueError):
    """Data that is not what its reader needs: one line with the place, the value, what is right."""


def convert(data: Any, kind: type[T], where: str) -> T:
    """Return plain data as a record. Raises RecordError, which begins with ``where``."""
    try:
        return msgspec.convert(data, kind, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise RecordError(f"{where}: {explain(str(error), data, kind)}") from None


def read_json(path: Path, kind: type[T]) -> T:
    """Return the record that a JSON file holds. Raises RecordError, also when it has none."""
    try:
        data = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: no JSON: {error}") from None
    return convert(data, kind, str(path))


def read_yaml(path: Path) -> Any:
    """Return what a YAML file holds. Raises RecordError, also for a key that is given twice."""
    try:
        return yaml.load(path.read_bytes(), _Loader)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise RecordError(f"{path}{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise RecordError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def plain(record: Any) -> Any:
    """Return a record, or whatever holds records and paths, as plain JSON values."""
    return msgspec.to_builtins(record, enc_hook=str)


def _decode(kind: type[Any], value: Any) -> Any:
    return kind(value)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which no second value silently replaces the first one of a key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping whose keys are all different."""
        seen = set()
        for key, _ in node.value:
            if key.value != "<<" and str(key.value) in seen:
                problem = f"key {key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def explain(message: str, data: Any, kind: Any) -> str:
    """Turn msgspec's words about ``data`` into ours: ``lat[1] is 65; needs int <= 64``."""
    match = _PLACE.fullmatch(message)
    what, key, place = (match[1], match[2], match[3] or "") if match else (message, "", "")
    value, info = _follow(data, msgspec.inspect.type_info(kind), place)
    name = place.lstrip(".")
    if key and isinstance(value, dict):
        name, info = f"a key of {name or 'it'}", getattr(info, "key_type", None)
        value = next((one for one in value if not _fits(one, info)), value)
    if unknown := _UNKNOWN.fullmatch(what):
        known = [field.encode_name for field in getattr(info, "fields", ())]
        near = difflib.get_close_matches(unknown[1], known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        return f"{name + ': ' if name else ''}unknown key {unknown[1]!r}; {hint}"
    if isinstance(info, msgspec.inspect.LiteralType) and what.startswith("Invalid enum"):
        return f"{name} is {value!r}; known: {', '.join(map(str, info.values))}"
    if what.startswith("Object missing"):
        return f"{name + ': ' if name else ''}{what.removeprefix('Object ').replace('`', '')}"
    needs = what.replace("`", "").removeprefix("Expected ").split(", got ")[0]
    needs = re.sub(r"\b(object|array|null)\b", lambda found: _WORDS[found[0]], needs)
    return f"{name or 'it'} is {value!r}; needs {needs}"


def _fits(key: Any, info: Any) -> bool:
    """Whether a key is one of a mapping whose keys are these words, or match this pattern."""
    if isinstance(info, msgspec.inspect.LiteralType):
        return key in info.values
    return isinstance(key, str) and bool(re.search(getattr(info, "pattern", None) or "", key))


def _follow(data: Any, info: Any, place: str) -> tuple[Any, Any]:
    """Return the value and the type at a place such as ``.groups[2].lat``."""
    inspect = msgspec.inspect
    for key, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", place):
        if isinstance(info, inspect.UnionType):
            many = (inspect.ListType, inspect.StructType)
            info = next((one for one in info.types if isinstance(one, many)), None)
        if key:
            data = data.get(key) if isinstance(data, dict) else None
            fields = {field.encode_name: field.type for field in getattr(info, "fields", ())}
            info = fields.get(key)
        else:
            data = data[int(index)] if isinstance(data, list) and index != "..." else data
            info = getattr(info, "item_type", None)
    if isinstance(info, inspect.UnionType):
        literal = (one for one in info.types if isinstance(one, inspect.LiteralType))
        info = next(literal, info)
    return data, info
