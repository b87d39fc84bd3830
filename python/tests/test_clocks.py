"""Two ranks in Python exchange their clocks over a socket, as programs do, and what was kept is what both saw. Run by ctest:
test_clocks.py DEVLOG SOURCE."""

import os
import socket
import sys
import tempfile
import threading
import unittest

import devlog

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "report"))
import captures  # noqa: E402 (what reads a capture, without devlog)


def ends(s):
    return s.sendall, lambda n: s.recv(n, socket.MSG_WAITALL)


def kept(folder):
    found = [captures.read_exchanges(os.path.join(folder, name))[0] for name in sorted(os.listdir(folder))]
    return [x for exchanges in found for x in exchanges]


class Clocks(unittest.TestCase):
    def test_an_exchange(self):
        here, there = socket.socketpair()
        with tempfile.TemporaryDirectory() as folder:
            answers = threading.Thread(target=lambda: devlog.exchange_clocks(1, *ends(there), answer=True))
            answers.start()
            before = devlog.clock_now()
            sent, received, answered, arrived = devlog.exchange_clocks(0, *ends(here), rounds=5, folder=folder)
            after = devlog.clock_now()
            answers.join()
            self.assertTrue(before <= sent <= received <= answered <= arrived <= after)
            [(peer, boot, stamps)] = kept(folder)
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
                self.assertEqual((peer, boot), (0, f.read().strip()))
            self.assertIn((sent, received, answered, arrived), stamps)

    def test_what_it_keeps(self):
        with tempfile.TemporaryDirectory() as folder:
            devlog.keep_clocks(3, [(1000, 5, 6, 2000), [3000, 2005, 2006, 4000]], folder=folder)
            devlog.keep_clocks(3, [], folder=folder)
            self.assertEqual(kept(folder), [(3, "", [(1000, 5, 6, 2000), (3000, 2005, 2006, 4000)])])
            with self.assertRaises(devlog.Error):
                devlog.keep_clocks(3, [(1000, 5, 4, 2000)], folder=folder)
            for wrong in ([(1, 2, 3)], [(1, 2, 3, "4")], 7, [None]):
                with self.assertRaises(TypeError):
                    devlog.keep_clocks(3, wrong, folder=folder)

    def test_what_goes_wrong(self):
        def fails(*_):
            raise KeyError("no way")
        with self.assertRaisesRegex(KeyError, "no way"):
            devlog.exchange_clocks(0, fails, fails)
        with self.assertRaisesRegex(KeyError, "no way"):
            devlog.exchange_clocks(0, lambda data: None, fails)
        with self.assertRaisesRegex(ValueError, "gave 3 bytes"):
            devlog.exchange_clocks(0, lambda data: None, lambda n: b"abc")
        with self.assertRaises(TypeError):
            devlog.exchange_clocks(0, lambda data: None, lambda n: None)
        with self.assertRaisesRegex(devlog.Error, "not of such an exchange"):
            devlog.exchange_clocks(0, lambda data: None, lambda n: b"x" * n)
        with self.assertRaisesRegex(devlog.Error, "10000 at most"):
            devlog.exchange_clocks(0, lambda data: None, lambda n: b"x" * n, rounds=10001)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
