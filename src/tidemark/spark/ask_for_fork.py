"""What Spark starts in place of a Python for each stateful operator, whenever a query starts: a few
lines that have a process fork which has loaded PySpark already. Loading it takes ten times as long.

python ask_for_fork.py SOCKET PYTHON -m MODULE: without such a process, it becomes that PYTHON.
"""

import os
import socket
import sys


def main() -> None:
    path, *command = sys.argv[1:]
    status = _forked(path, command[-1])
    if status is None:
        os.execv(command[0], command)
    sys.exit(status)


def _forked(path: str, module: str) -> int | None:
    """The exit status of the module in a fork; None if there is no one to ask."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return None
        said = [module, os.getcwd(), *(f"{name}={value}" for name, value in os.environ.items())]
        asked = "\0".join(said).encode("utf-8", "surrogateescape")
        socket.send_fds(connection, [len(asked).to_bytes(8)], [2])
        connection.sendall(asked)
        with connection.makefile("rb") as file:
            answer = file.read()
        # It says that it begins, and its status in the end.
        if not answer:
            return None
        return answer[1] if len(answer) == 2 else 1


if __name__ == "__main__":
    main()
