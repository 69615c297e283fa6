"""Checks that `scripts/book serve` on a port in use prints a one-line error and builds nothing."""

import pathlib
import socket
import subprocess
import sys

BOOK = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "book"

with socket.create_server(("127.0.0.1", 0)) as taken:
    port = taken.getsockname()[1]
    serve = [sys.executable, BOOK, "serve", "--port", str(port)]
    done = subprocess.run(serve, capture_output=True, text=True, timeout=60)
lines = done.stderr.splitlines()
if done.returncode != 1 or len(lines) != 1 or f"port {port}" not in lines[0] or "--port" not in lines[0]:
    sys.exit(f"error: with a port in use, scripts/book serve exits with {done.returncode} instead of one line of error:\n{done.stderr}")
print("a port in use is reported in one line")
