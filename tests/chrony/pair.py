# SPDX-License-Identifier: MIT
"""A chronyd that follows another one through a bad network, both on this machine's clock.

Both run with -x: they never touch the clock. As both read the same one, the follower's clock is
exactly right, and whatever offset it believes in is its error. Without root, name spaces or a free
port 123; everything is in one folder and ends with the context manager.
"""

import contextlib
import getpass
import heapq
import itertools
import os
import random
import selectors
import shutil
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

CHRONYD = shutil.which("chronyd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CHRONYC = shutil.which("chronyc")


@dataclass(frozen=True)
class Way:
    """Seconds that a packet takes: at least `least`, and `jitter` more in the mean."""

    least: float
    jitter: float = 0.0

    def delay(self, chance):
        return self.least + (chance.expovariate(1 / self.jitter) if self.jitter else 0.0)


QUICK = Way(0.001, 0.0005)
SLOW = Way(0.020, 0.003)


class Proxy(threading.Thread):
    """Passes datagrams on to a server and back, each way with its own delay."""

    def __init__(self, server_port, up, down, seed):
        super().__init__(daemon=True)
        self.up, self.down = up, down
        self.chance = random.Random(seed)
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.back.connect(("127.0.0.1", server_port))
        self.port = self.front.getsockname()[1]
        self.client = None
        self.waiting = []  # (when, number, way back?, datagram)
        self.numbers = itertools.count()
        self.stopped = threading.Event()

    def run(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.front, selectors.EVENT_READ)
            selector.register(self.back, selectors.EVENT_READ)
            while not self.stopped.is_set():
                pause = self.waiting[0][0] - time.monotonic() if self.waiting else 0.1
                for key, _ in selector.select(max(0.0, min(0.1, pause))):
                    with contextlib.suppress(ConnectionError):
                        self.take(key.fileobj)
                with contextlib.suppress(OSError):
                    self.deliver()

    def take(self, source):
        datagram, address = source.recvfrom(4096)
        is_back = source is self.back
        if not is_back:
            self.client = address
        way = self.down if is_back else self.up
        when = time.monotonic() + way.delay(self.chance)
        heapq.heappush(self.waiting, (when, next(self.numbers), is_back, datagram))

    def deliver(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, is_back, datagram = heapq.heappop(self.waiting)
            if is_back:
                self.front.sendto(datagram, self.client)
            else:
                self.back.send(datagram)

    def stop(self):
        self.stopped.set()
        self.join()
        self.front.close()
        self.back.close()


@contextlib.contextmanager
def held_port():
    """A port that nobody else is given meanwhile; a chronyd can bind it on 127.0.0.1, and receives there.

    SO_REUSEADDR, which chronyd sets too, lets two sockets have one port. It is set after bind(), or the
    system could give one port to two of these. The socket at the more special address receives.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("", 0))
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield holder.getsockname()[1]


def start_chronyd(folder, name, lines):
    configuration = folder / f"{name}.conf"
    common = [f"pidfile {folder}/{name}.pid", f"bindcmdaddress {folder}/{name}.sock"]
    configuration.write_text("\n".join([*lines, *common, ""]))
    folder.chmod(0o700)  # chronyd refuses a socket in a folder of everybody's
    log = (folder / f"{name}.log").open("w")
    # -x: never touch the clock; -U: no need to be root; -d: in the foreground; -4: held_port() is IPv4.
    command = [CHRONYD, "-x", "-U", "-d", "-4", "-u", getpass.getuser(), "-f", str(configuration)]
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def stop(process):
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def follower(folder, up=QUICK, down=SLOW, seed=1, source_options="", local_only=False):
    """A chronyd that follows, or serves its own clock: yields the port of its command socket."""
    folder = Path(folder)
    with contextlib.ExitStack() as stack:
        server_port = stack.enter_context(held_port())
        command_port = stack.enter_context(held_port())
        server = start_chronyd(
            folder,
            "server",
            [
                f"port {server_port}",
                "bindaddress 127.0.0.1",
                "cmdport 0",
                "local stratum 1",
                "allow 127.0.0.1",
            ],
        )
        stack.callback(stop, server)
        proxy = Proxy(server_port, up, down, seed)
        proxy.start()
        stack.callback(proxy.stop)
        source = f"server 127.0.0.1 port {proxy.port} minpoll 0 maxpoll 0 iburst {source_options}"
        client = start_chronyd(
            folder,
            "client",
            [
                "local stratum 5" if local_only else source,
                "port 0",
                f"cmdport {command_port}",
                "bindcmdaddress 127.0.0.1",
                "maxclockerror 50",
            ],
        )
        stack.callback(stop, client)
        wait_until_it_follows(command_port, (server, client), folder, local_only)
        yield command_port


def ask(port, *options):
    done = subprocess.run(
        [CHRONYC, "-n", *options, "-h", "127.0.0.1", "-p", str(port), "tracking"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def wait_until_it_follows(port, processes, folder, local_only):
    """Until it answers, and says that it follows. What hangs, scripts/watchdog ends."""
    while all(process.poll() is None for process in processes):
        text = ask(port)
        if text is not None and (local_only or "Not synchronised" not in text):
            return
        time.sleep(0.05)
    logs = "\n".join(path.read_text() for path in sorted(folder.glob("*.log")))
    raise RuntimeError(f"no chronyd here: {logs}")
