"""Runs an S3 endpoint: `python s3_server.py -H HOST -p PORT`."""

from __future__ import annotations

import sys

from moto.server import main
from werkzeug.serving import WSGIRequestHandler

# Both Werkzeug and Python's own server below it answer `Expect: 100-continue`, and S3A's client for
# uploads of files takes the second answer, if it comes by itself, for that of the request.
WSGIRequestHandler.handle_expect_100 = lambda self: True  # type: ignore[method-assign]

if __name__ == "__main__":
    main(sys.argv[1:])
