"""The kernel ends the worker's group when the gateway is gone, whatever the worker does at that moment.

The thread that reads the link does so, too, but needs the interpreter, which a call into C may hold for minutes.
Where the kernel does not know this way (it is Linux'), the thread is what there is.
"""

import fcntl
import os
import signal


def tie(life: int) -> None:
    """Have this process group killed once nobody holds the other end of the pipe `life`; nothing is written to it."""
    os.set_inheritable(life, False)
    if not hasattr(fcntl, "F_SETSIG") or os.getpgrp() != os.getpid():
        return
    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
