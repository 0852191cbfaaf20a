"""The machine: its description for measured figures, and its free memory."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import cpu_count

# A container's limits, as systems since 2021 show them.
_GROUP = "/sys/fs/cgroup"
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system and versions."""
    return {
        "processor": _processor(),
        "cores": cpu_count(),
        "memory_gb": round(_memory() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name.replace("-", "_"): _version(name) for name in _PACKAGES},
    }


def peak_megabytes() -> float:
    """The most memory this process has held; 0 where that is unknown."""
    return _number("/proc/self/status", "VmHWM:") / 1024


def available_memory() -> float:
    """Bytes that this process can still take without swapping; infinity where that is unknown.

    In a container it is what the limit leaves, where that is less; cached files do not count.
    """
    stated = [_number("/proc/meminfo", "MemAvailable:") * 1024]
    most = _lines(f"{_GROUP}/memory.max")
    if most and most[0].isdigit():
        used = _lines(f"{_GROUP}/memory.current")
        cached = _number(f"{_GROUP}/memory.stat", "inactive_file")
        stated.append(max(int(most[0]) - int(used[0]) + cached, 1.0))
    return min((each for each in stated if each), default=_memory() or float("inf"))


def in_words(size: float) -> str:
    """Bytes in a unit of which there is at least one."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"


def _number(path: str, name: str) -> float:
    """The number behind a name in one of the system's files; 0 where there is none."""
    found = [line.split()[1] for line in _lines(path) if line.split()[:1] == [name]]
    return float(found[0]) if found else 0.0


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0.0


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
