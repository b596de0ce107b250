"""One call in its own process: a crash or a hang ends the call, not the run."""

import multiprocessing


def apart(function, *arguments, limit):
    """Return the result, and the reason of a failure; one of both is None.

    `limit` is in seconds. The function must be importable by its name.
    """
    context = multiprocessing.get_context("spawn")
    answer, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, function, arguments))
    process.start()
    sender.close()  # so that the end of the process ends the wait
    try:
        if not answer.poll(limit):
            return None, f"no answer after {limit:,.0f} s"
        return answer.recv()
    except EOFError:
        process.join()
        return None, f"the process ended with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()
        answer.close()


def _send(sender, function, arguments):
    try:
        sender.send((function(*arguments), None))
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        sender.send((None, f"{type(error).__name__}: {first[:200]}"))
