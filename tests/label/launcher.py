"""Start ``halfmoon label`` many times, with its libraries imported once.

Reads lines of JSON, each a list of a folder and arguments; forks a process that runs
the command there, and answers with its process id. What the command says goes to a
file ``said.txt`` in the folder.
"""

import json
import os
import signal
import sys
import tempfile
import traceback

import uvicorn.protocols.http.h11_impl  # noqa: F401

import halfmoon._cli.commands
import halfmoon._cli.run_label
import halfmoon._label.access_guard
import halfmoon._label.background
import halfmoon._label.server


def child(folder, arguments):
    os.chdir(folder)
    # Ignored if the tests run in the background of a shell.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tempfile.tempdir = folder
    said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, place in ((0, nothing), (1, said), (2, said)):
        os.dup2(place, number)
    sys.argv = ["halfmoon", "label", *arguments]
    try:
        halfmoon._cli.main()
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def say(number):
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main():
    for line in sys.stdin:
        folder, arguments = json.loads(line)
        sys.stdout.flush()
        number = os.fork()
        if number == 0:
            sys.stdin.close()
            code = child(folder, arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)
        say(number)
        _, status = os.waitpid(number, 0)
        say(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
