"""`tidemark pack`: an archive of packages for the workers of a cluster."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from tidemark.cli.status import size
from tidemark.cli.terminal import Terminal


def pack_command(archive: str, also: Sequence[str], terminal: Terminal) -> None:
    from tidemark.cli.packing import pack

    target = Path(archive)
    terminal.say(f"packing what is installed here into {archive}")
    packed = pack(target, ["tidemark", *also])
    python = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    machine = f"{platform.system()} on {platform.machine()}"
    length = size(target.stat().st_size)
    terminal.say(f"{archive}: {len(packed)} packages for {python}, {machine}, {length}")
    for name in packed:
        terminal.say(f"  {name}")
