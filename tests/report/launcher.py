"""mpirun as checks start it: its own faults are told from those of the ranks that it starts. Not a check itself."""
import glob
import os
import signal
import subprocess


def ranks_of(launcher):
    """The processes that mpirun has started and that are alive."""
    alive = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                state, parent = f.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has just ended
        if int(parent) == launcher and state != "Z":
            alive.append(int(path.split("/")[2]))
    return alive


def job(*args, env, cwd=None, again=True):
    """mpirun with these arguments. When a rank has died, mpirun (Open MPI 4.1, PMIx 4.2) sometimes hangs in an end of its own, with a
    mutex of pmix_rte_finalize that nobody gives back, or dies of SIGPIPE, whatever the program. Then the job runs again, or, where it
    must not, its status is a signal's. A rank that is alive is waited for: that would be a hang of ours."""
    command = ["mpirun", "--oversubscribe", *args]
    for attempt in range(5):
        with subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as launcher:
            gone = 0
            for _ in range(20):
                try:
                    out, err = launcher.communicate(timeout=15)
                    break
                except subprocess.TimeoutExpired:
                    gone = 0 if ranks_of(launcher.pid) else gone + 1
                if gone == 2:
                    break
            hangs = launcher.poll() is None
            if hangs:
                for rank in ranks_of(launcher.pid):
                    os.kill(rank, signal.SIGKILL)
                launcher.kill()
                out, err = launcher.communicate()
        if hangs and gone < 2:
            raise SystemExit("%s: its ranks are alive after 300 s: %s" % (" ".join(command), err.decode()[-400:]))
        if launcher.returncode >= 0 or not again:
            break
        print("mpirun ended with signal %d, of its own (attempt %d, %s)" % (-launcher.returncode, attempt, "it hung" if hangs else "at once"))
    return subprocess.CompletedProcess(command, launcher.returncode, out, err)
