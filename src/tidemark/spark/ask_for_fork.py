"""What Spark starts in place of a Python: a few lines that have a process fork which has loaded
PySpark already; see `forks`.

python ask_for_fork.py SOCKET PYTHON -m MODULE ...: without such a process, it becomes that PYTHON.
"""

import os
import socket
import sys


def main() -> None:
    path, *command = sys.argv[1:]
    status = _forked(path, command[2:])
    if status is None:
        os.execv(command[0], command)
    sys.exit(status)


def _forked(path: str, command: list[str]) -> int | None:
    """The exit status of a module in a fork; None if no process forks for it."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return None
        variables = (f"{name}={value}" for name, value in os.environ.items())
        said = ["\n".join(command), os.getcwd(), *variables]
        asked = "\0".join(said).encode("utf-8", "surrogateescape")
        socket.send_fds(connection, [len(asked).to_bytes(8)], [0, 1, 2])
        connection.sendall(asked)
        with connection.makefile("rb") as file:
            answer = file.read()
        # It says that it begins, and its status in the end.
        if not answer:
            return None
        return answer[1] if len(answer) == 2 else 1


if __name__ == "__main__":
    main()
