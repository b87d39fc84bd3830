"""What two ranks see of one another's clocks, by which `devlog ranks` lays their times beside one another (docs/fleet.md, "Clocks")."""

from . import _native
from ._log import _whole

__all__ = ["clock_now", "exchange_clocks", "keep_clocks"]


def clock_now():
    """CLOCK_MONOTONIC in ns: the clock of what is kept."""
    return _native.clocks_now()


def exchange_clocks(peer, send, receive, *, answer=False, rounds=10, most_ms=100, folder=None):
    """Exchanges some short messages with another rank, which calls it at the same time with `answer`. `send(data)` brings bytes to it,
    `receive(n)` returns the n bytes that it sent here. Who asks keeps what both saw, in host_<pid>.devlog in `folder` (the log folder
    unless told), and gets the exchange whose way was shortest: (sent, received, answered, arrived) in ns. Ask when the program
    begins and before it ends. Raises Error, and what `send` and `receive` raise."""
    return _native.clocks_exchange(_whole("peer", peer, 2**32), send, receive, answer, _whole("rounds", rounds, 2**32),
                                   _whole("most_ms", most_ms, 2**32), folder)


def keep_clocks(peer, stamps, *, folder=None):
    """Keeps exchanges that the program made by itself: a list of (sent here, received there, answered there, arrived here), each of
    clock_now(). Raises Error when one cannot have been."""
    _native.clocks_keep(_whole("peer", peer, 2**32), stamps, folder)
