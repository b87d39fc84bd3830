#!/usr/bin/env python3
"""README.md and docs/ are true as far as a machine can tell: every link leads somewhere, every file that is named is
there, every command that is shown runs (or is listed here with the reason why it does not), README's table is what the
demo prints, excerpts of other outputs are what is printed, and limits are those of the sources.

    check_docs.py [BUILD]              BUILD: the build folder whose programs are run; without: only what needs none
    check_docs.py BUILD --write-demo   writes README's table of the demo and these excerpts anew (./dev docs)

Not for documents made of tables in the code (tests/unit/test_cli_docs.c), nor for the host program of getting-started.md
(tests/check_library.sh)."""
import fcntl
import glob
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = ['README.md', 'CHANGELOG.md'] + sorted(
    os.path.relpath(f, SOURCE) for f in glob.glob(os.path.join(SOURCE, 'docs/*.md')))
COLUMNS = 100  # of README's table
DEMO = re.compile(r'```\n(Durations per RISC.*?)\n```', re.S)
wrong = []


def say(where, what):
    wrong.append(f'{where}: {what}')


def read(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as file:
        return file.read()


# ---- Links and names of files --------------------------------------------------------------------------------------

def lines_of(text):
    """Lines outside of fences, with their numbers."""
    inside = False
    for number, line in enumerate(text.split('\n'), 1):
        if re.match(r'\s*```', line):
            inside = not inside
        elif not inside:
            yield number, line


def slug(heading):
    """As GitHub makes anchors of headings."""
    plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading.replace('`', '')).strip().lower()
    return re.sub(r'[^\w\- ]', '', plain).replace(' ', '-')


def anchors(name):
    found, times = set(), {}
    for _, line in lines_of(read(name)):
        heading = re.match(r'#+ +(.*)', line)
        if heading:
            a = slug(heading.group(1))
            found.add(f'{a}-{times[a]}' if a in times else a)
            times[a] = times.get(a, 0) + 1
    return found


def check_links():
    n = 0
    for name in DOCUMENTS:
        for number, line in lines_of(read(name)):
            for target in re.findall(r'\]\(([^)\s]+)\)', line):
                if re.match(r'[a-z]+:', target):
                    continue  # elsewhere
                n += 1
                path, _, anchor = target.partition('#')
                file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                if not os.path.exists(os.path.join(SOURCE, file)):
                    say(f'{name}:{number}', f'the link to {target} leads to no file')
                elif anchor and anchor not in anchors(file):
                    say(f'{name}:{number}', f'the link to {target} leads to no section')
            if re.search(r'\((see|figures|table) (below|above)\)', line) and '](' not in line:
                say(f'{name}:{number}', '"see below" wants a link')
    if n < 40:
        say('docs', f'only {n} links were found')


def check_files():
    top = r'(?:host|include|docs|tests|bench|examples|firmware|linker|boards|page|cmake)/[\w./-]*\w'
    n = 0
    for name in DOCUMENTS[:1] + DOCUMENTS[2:]:  # what has changed may be gone
        for number, line in lines_of(read(name)):
            for file in re.findall(r'`(' + top + r')`', line):
                n += 1
                if 'NAME' not in file and not os.path.exists(os.path.join(SOURCE, file)):
                    say(f'{name}:{number}', f'there is no {file}')
    if n < 20:
        say('docs', f'only {n} names of files were found')


# ---- Limits --------------------------------------------------------------------------------------------------------

# (document, what it says with its number as a group, source, what stands there, what a unit of the document is)
NUMBERS = (
    ('docs/markers.md', r'([\d,]+) zones may be open', 'host/decode/pair/pair.h', r'DL_MAX_OPEN = (.+?)[,} ]', 1),
    ('docs/page.md', r'A table holds ([\d,]+) rows', 'host/cli/page_answers.c', r'ROWS = (.+?),', 1),
    ('docs/page.md', r'An address has room for ([\d,]+) characters', 'page/link.js', r'MOST = (.+?);', 1),
    ('docs/views.md', r'does not fit into ([\d,]+) lanes', 'host/report/view.h', r'DL_VIEW_LANES = (.+?) }', 1),
    ('docs/views.md', r'are cut at ([\d,]+) bytes', 'host/report/fxt.c', r'MOST_STRING = (.+?),', 1),
    ('docs/views.md', r'bytes, texts at ([\d,]+)', 'host/report/fxt.c', r'MOST_TEXT = (.+?),', 1),
    ('docs/file-formats.md', r'`text`; the first ([\d,]+)', 'host/decode/series.h', r'DL_MAX_MESSAGES = (.+?) }', 1),
    ('docs/op-reports.md', r'A line may have (\d+) MiB', 'host/ops/op_log.h', r'OP_MAX_LINE = (.+?),', 1 << 20),
    ('docs/op-reports.md', r'`thread` \(up to ([\d,]+)\)', 'host/ops/op_log.h', r'OP_MOST_THREAD = (.+?) }', 1),
    ('docs/op-reports.md', r'has room for (\d+)\s+threads', 'host/base/run_file.h', r'DL_RUN_THREADS = (.+?)[,} ]', 1),
    ('docs/archive.md', r'over `--most` \((\d+)M unless', 'host/cli/cmd_archive.c', r'\.most = (.+?),', 1 << 20),
)


def check_numbers():
    """Limits that documents state are those of the sources."""
    for document, said, file, there, unit in NUMBERS:
        told, value = re.search(said, read(document)), re.search(there, read(file))
        if not told or not value:
            say(document if not told else file, f'no "{said if not told else there}"')
        elif not re.fullmatch(r'[\d u()<*+-]+', value.group(1)):
            say(file, f'"{value.group(1)}" is no number')
        elif int(told.group(1).replace(',', '')) * unit != eval(value.group(1).replace('u', '')):  # pylint: disable=eval-used
            say(document, f'says {told.group(1)} where {file} has {value.group(1)}')


def check_limits():
    markers = read('docs/markers.md')
    limits = re.findall(r'"more than (\d+) ([a-z ]+?)(?: of | in |:)', read('linker/devlog_sites.ld'))
    if len(limits) < 5:
        say('linker/devlog_sites.ld', f'only {len(limits)} limits were found')
    for number, what in limits:
        if not re.search(r'\b' + number + r'\b', markers.replace(',', '')):
            say('docs/markers.md', f'does not speak of the limit of {number} {what}')


# ---- Commands ------------------------------------------------------------------------------------------------------

# Why a command that is shown is not run here. One that is gone from the documents is to go from here, too.
NOT_RUN = {
    './dev demo': 'what it runs is run here, and compared with README.md',
    './dev demo --device qemu': 'tests/sim/test_qemu.c runs it',
    './dev demo --device usb': 'tests/usb/test_usb_demo.c runs it',
    './dev test': 'this is part of it',
    './dev build': 'builds the program that is run here',
    'devlog run --host-only -- python3 program.py': 'python/tests/test_docs.py runs it',
    'python3 -m devlog -o logs -- program.py': 'wants the package; python/tests/test_profile.py',
    'devlog decode logs/host_*.devlog': 'the same',
    'devlog run -o out -- python3 program.py': 'python/tests/test_run.py runs such a program',
    'devlog report out': 'the same',
    'devlog export -f perfetto -o trace.pftrace out/logs_device': 'the same',
    './dev package': 'tests/check_packages.sh builds them',
    'apt install ./build/packages/devlog_*.deb ./build/packages/python3-devlog_*.deb': 'writes to the system; check_packages.sh unpacks them, check_install.sh installs them on a clean one',
    'TT_METAL_DEVICE_PROFILER=1 /usr/lib/devlog/demo': 'check_install.sh runs it',
    'export DEVLOG_HOME=/usr/share/devlog': 'check_install.sh does',
    'devlog man --completion bash >~/.local/share/bash-completion/completions/devlog': 'writes to the home folder; check_completion.sh',
    './dev python': 'builds the package that python/tests run',
    './dev bench decode': 'takes minutes',
    './dev bench capture': 'takes minutes',
    './dev bench pack': 'takes minutes',
    './dev bench instructions': 'takes minutes',
    './dev bench mpi': 'takes minutes',
    './dev bench ttmetal': 'takes minutes',
    'devlog decode log.csv --from-signpost "step 3" --op "Matmul*" --skip-warm-up': 'wants such a run; tests/ttmetal/selections.py',
    './dev bench accesses': 'as bench sim',
    'DEVLOG_HOST=1 ./frames': 'check_library.sh runs it',
    'devlog decode generated/profiler/logs/host_*.devlog': 'check_library.sh decodes it',
    'devlog export -f perfetto -o trace.pftrace generated/profiler/logs/capture.devlog generated/profiler/logs/host_*.devlog': 'tests/unit/test_host_zones.c exports',
    './dev bench sim': 'takes a minute, and measures',
    'cmake --install build/release --prefix /usr/local': 'writes to the system; check_library.sh installs elsewhere',
    'TT_METAL_SIMULATOR=/path/to/libttsim.so ./dev demo': 'wants a simulator of others; test_ttsim_abi.c loads ours',
    'DEVLOG_BOARD=blackhole TT_METAL_SIMULATOR=/path/to/libttsim.so ./dev demo': 'as the one before',
    'TT_METAL_DEVICE_PROFILER=1 ./host': 'check_library.sh builds and runs it',
    'DEVLOG_TRANSPORT=usb my_program': 'wants a probe; tests/usb has models of one',
    'DEVLOG_TRANSPORT=usb:E6614103E72F2F29 my_program': 'as the one before',
    'DEVLOG_TRANSPORT=usb:1-2.3 my_program': 'as the one before',
    'build/release/bin/usb_model openocd -f my.cfg': 'wants a configuration; tests/usb/test_usb_openocd.c writes one',
    'DEVLOG_POSTMORTEM=hang.state ./program; devlog dump hang.state': 'wants a program that hangs; tests/sim/test_dump.c',
    'devlog dump --device qemu': 'wants a program that waits; tests/sim/test_dump.c',
    'devlog dump --device usb --save hang.state': 'wants a probe; tests/usb/test_usb_dump.c',
    'devlog selftest fe310 --device usb': 'wants a probe; tests/usb has models of one',
    'devlog run -o out --once ./app --its options': 'the options are those of an app of one\'s own',
    'devlog selftest my_board.json -d sim': 'as long as the one of the default board, which is run; tests/sim/test_selftest.c',
    'devlog devices': 'tells about this machine; tests/usb/test_usb_devices.c',
    'devlog devices --format json': 'as the one before',
    'devlog ops ~/tt-metal/generated/profiler -o out': 'wants a run of tt-metal; tests/ttmetal makes such folders',
    'devlog archive add --commit "$(git rev-parse HEAD)" --label branch=main generated/profiler/run': 'keeps runs in a file of the reader; tests/report/archive.py does',
    'mpirun -n 4 env LD_PRELOAD=/usr/local/lib/libdevlog-pmpi.so DEVLOG_LOG_FOLDER=runs ./program': 'wants Open MPI and a program; tests/report/pmpi.py has both',
    "mpirun -n 4 sh -c 'LD_PRELOAD=/usr/local/lib/libdevlog-pmpi.so devlog run --once -o runs/rank$OMPI_COMM_WORLD_RANK -- ./program'": 'as the one before',
    'mpirun -n 4 devlog-mpi decode --stats profile_log_device.csv': 'wants Open MPI; tests/report/mpi.py',
    'mpirun -n 16 --hostfile hosts devlog-mpi decode runs/*/profile_log_device.csv': 'as the one before',
    'mpirun -n 4 devlog-mpi decode profile_log_device.csv': 'as the one before',
    'mpirun -n 4 devlog-mpi decode -o out profile_log_device.csv': 'as the one before',
    'mpirun -n 16 --hostfile hosts devlog-mpi decode -o out runs/*/profile_log_device.csv': 'as the one before',
    'mpirun -n 4 devlog-mpi decode --resume kept profile_log_device.csv': 'as the one before',
    'mpirun -n 16 --hostfile hosts devlog-mpi decode --stats runs/*/profile_log_device.csv': 'as the one before',
    'mpirun -n 8 devlog-mpi ops -o all runs/rank*': 'as the one before',
    'mpirun -n 8 devlog-mpi report --format json runs/rank*': 'as the one before',
    'devlog archive list': 'wants that file; as the one before',
    'devlog archive history --label branch=main': 'as the one before',
    'sqlite3 devlog-runs.sqlite "SELECT run, commit_id, value FROM history WHERE name LIKE \'Matmul%\'"': 'as the one before',
    'devlog archive find --label branch=main --since 2026-01-01': 'as the one before',
    'devlog archive page -o history.html': 'as the one before; tests/unit/test_page_history.c does',
    'devlog archive history --label branch=main --fail': 'as the one before',
    "devlog archive diff 41 42 -- --fail-on 'op>+5%'": 'as the one before',
    'devlog ranks generated/profiler/ttrun': 'wants folders of ranks; tests/report/ranks.py makes some',
    'devlog ranks --merge all.csv rank0 rank1 rank2 rank3': 'as the one before',
    'devlog ranks --format json --tables collectives,late generated/profiler/ttrun': 'as the one before',
    'devlog serve': 'does not end; tests/unit/test_serve.c',
    'devlog serve -p 9000 ~/runs': 'does not end; tests/unit/test_serve.c',
    'devlog serve --skip-warm-up --from-signpost start ~/runs': 'does not end; tests/unit/test_serve.c',
    'ssh -L 8050:127.0.0.1:8050 machine': 'wants another machine',
    'devlog view --ui perfetto run1.csv': 'waits for a browser; tests/unit/test_view.c',
}
# Commands that want a program which is not installed everywhere.
WANTS = ('jq', 'sqlite3', 'zstdcat', 'man')


def shown_commands():
    """(where, command) of every line of a fence of sh, and of the examples in docs/cli.md."""
    for name in DOCUMENTS:
        fence, examples = None, False
        for number, line in enumerate(read(name).split('\n'), 1):
            opening = re.match(r'\s*```(\w*)', line)
            if opening:
                fence = opening.group(1) if fence is None else None
                examples = False
            elif fence == 'sh' and line.strip():
                yield f'{name}:{number}', re.sub(r'\s+#.*', '', line).strip()
            elif fence == 'text' and name == 'docs/cli.md':
                if examples and line.strip():
                    yield f'{name}:{number}', re.split(r'\s{2,}', line.strip())[0]
                examples = line == 'Examples' or (examples and line.strip() != '')


def run(command, folder, env, quiet=True):
    done = subprocess.run(['bash', '-c', 'set -o pipefail; ' + command], cwd=folder, env=env, timeout=280, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    if not quiet and done.returncode:
        sys.exit(f'check_docs: {command}: {done.returncode}\n{done.stdout}')
    return done


def on_terminal(command, folder, env):
    """What a command prints on a terminal of COLUMNS columns without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, COLUMNS, 0, 0))
    child = subprocess.Popen(['bash', '-c', command], cwd=folder, env=dict(env, NO_COLOR='1', TERM='xterm'), stdin=subprocess.DEVNULL,
                             stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    printed = b''
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        printed += part
    os.close(master)
    if child.wait():
        sys.exit(f'check_docs: {command}: {child.returncode}')
    return printed.decode().replace('\r\n', '\n')


def run_demo(build, folder):
    """Runs what ./dev demo runs; returns the environment and what was printed."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(('DEVLOG_', 'TT_METAL_', 'TTNN_')) and k not in ('DISPLAY', 'WAYLAND_DISPLAY', 'SSH_CONNECTION')}
    env.update(HOME=folder, DEVLOG_HOME=SOURCE, DEVLOG_CACHE=os.path.join(build, 'cache'), LC_ALL='C.UTF-8', TERM='dumb',
               MANPAGER='cat', PATH=f'{folder}/bin:{build}/bin:{env["PATH"]}')
    run('TT_METAL_DEVICE_PROFILER=1 demo', folder, env, quiet=False)
    printed = on_terminal('devlog decode --max-launches 0 generated/profiler/logs/profile_log_device.csv', folder, env)
    return env, printed[printed.find('Durations per RISC'):].rstrip()


def prepare(build, folder):
    """What the commands of the documents speak of: the demo's log under several names, op reports, programs."""
    env, printed = run_demo(build, folder)
    for made in ('bin', 'build/release', 'runs'):
        os.makedirs(f'{folder}/{made}')
    os.symlink(f'{build}/bin', f'{folder}/build/release/bin')
    for program in ('app', 'bin/your-program'):
        os.symlink(f'{build}/bin/nn', f'{folder}/{program}')
    shutil.copy(f'{SOURCE}/boards/wormhole_b0.json', f'{folder}/my_board.json')
    run('devlog run -o nn -- nn 2 2>/dev/null && devlog decode --print-analyses >mine.json && '
        'zstd -q generated/profiler/logs/*.csv -o old.csv.zst', folder, env, quiet=False)
    kernel = re.search(r'```c\n(/\* kernel\.c:.*?)```', read('docs/getting-started.md'), re.S)
    if kernel:
        with open(f'{folder}/kernel.c', 'w', encoding='utf-8') as file:
            file.write(kernel.group(1))
    logs = f'{folder}/generated/profiler/logs'
    for copy in ('log.csv', 'profile_log_device.csv', 'run1.csv', 'runs/profile_log_device.csv'):
        shutil.copy(f'{logs}/profile_log_device.csv', f'{folder}/{copy}')
    shutil.copy(f'{logs}/capture.devlog', folder)
    shutil.copytree(f'{folder}/nn/logs_device', f'{folder}/logs')
    run('DEVLOG_LOG_FOLDER=cycles TT_METAL_DEVICE_PROFILER=1 DEVLOG_ANNOTATE=1 nn 1', folder, env, quiet=False)
    for table in ('rules', 'thresholds'):
        shutil.copy(f'{SOURCE}/tables/{table}.json', f'{folder}/my_{table}.json')
    with open(f'{folder}/budgets.txt', 'w', encoding='utf-8') as file:
        file.write('# as in docs/budgets.md\n1000000000 * BRISC-KERNEL\n')
    for copy in ('report.csv', 'before.csv', 'after.csv', 'main.csv', 'branch.csv'):
        shutil.copy(f'{folder}/nn/ops_perf_results.csv', f'{folder}/{copy}')
    for copy in ('before', 'after', 'main', 'branch', 'generated/profiler/output/ops'):
        os.makedirs(f'{folder}/{copy}', exist_ok=True)
        shutil.copy(f'{folder}/report.csv', f'{folder}/{copy}/ops_perf_results.csv')
    for run_of in ('before', 'after', 'main', 'branch'):
        shutil.copytree(f'{folder}/nn/logs_device', f'{folder}/{run_of}/logs_device')
    return env, printed


def check_commands(env, folder):
    met, n, skipped = set(), 0, []
    for where, command in shown_commands():
        if command in NOT_RUN:
            met.add(command)
            continue
        if not re.match(r'(\w+=\S+ )*(\./\S+|[\w./-]+)( |$)', command):
            say(where, f'"{command}" is no command')
            continue
        missing = [w for w in WANTS if re.search(r'\b' + w + r'\b', command) and not shutil.which(w)]
        if missing:
            skipped.append(f'{command} (no {missing[0]})')
            continue
        n += 1
        done = run(command, folder, env)
        if done.returncode:
            say(where, f'{command}: exit status {done.returncode}: {done.stdout[-400:]}')
    for command in sorted(set(NOT_RUN) - met):
        say('tests/check_docs.py', f'"{command}" is in no document any more')
    print(f'{n} commands were run, {len(met)} are listed with a reason' + (f', skipped: {"; ".join(skipped)}' if skipped else ''))


def check_demo(printed):
    """README's table is what the demo prints, from the table to its end."""
    shown = DEMO.search(read('README.md'))
    if not shown or not printed.startswith('Durations'):
        say('README.md', 'has no table of the demo' if not shown else f'the demo prints no table: {printed[-400:]}')
    elif shown.group(1) != printed:
        say('README.md', 'the table is not what the demo prints; run ./dev docs:\n' + printed)


# (document, how its excerpt begins, what prints it). Blanks are not compared.
NET20 = 'DEVLOG_GRID=columns=1-4,rows=1-3 devlog run --once --waits --recording stream -o {} -- net20 {} >said 2>&1'
EXCERPTS = (
    ('docs/budgets.md', 'pipeline_write.c on', 'DEVLOG_ANNOTATE=1 TT_METAL_DEVICE_PROFILER=1 DEVLOG_LOG_FOLDER=by_line demo >said && '
                                               'devlog annotate --top 0 by_line'),
    ('docs/bottleneck.md', 'WHAT WOULD SAVE MOST', NET20.format('net3', 3) + ' && devlog report --tables verdict,savings net3'),
    ('docs/bottleneck.md', '   old     new', NET20.format('net0', 0) + ' && devlog diff --exact --top 1 net3 net0'),
    ('docs/time.md', 'Clock of chip', 'DEVLOG_LOG_FOLDER=clocks TT_METAL_DEVICE_PROFILER=1 demo >said && '
                                      'devlog decode --no-files clocks/capture.devlog'),
)


def shape(line):
    """A line without its numbers."""
    return ' '.join(re.sub(r'\b[0-9a-f]*\d[0-9a-f,.]*', '#', line).split())


def excerpts(env, folder):
    """(document, excerpt, what it should be; None: something in it is not printed), each line in the order of the output."""
    for document, begins, command in EXCERPTS:
        shown = re.search(r'```(?:text)?\n(' + re.escape(begins) + r'.*?)\n```', read(document), re.S)
        if not shown:
            say(document, f'has no excerpt that begins with "{begins}"')
            continue
        printed, now = iter(run(command, folder, env, quiet=False).stdout.split('\n')), []
        for line in shown.group(1).split('\n'):
            found = next((p for p in printed if shape(p) == shape(line)), None)
            if found is None:
                say(document, f'"{line}" is no line of what {command} prints, or not in this order')
                break
            now.append(found.rstrip())
        else:
            yield document, shown.group(1), '\n'.join(now)


def check_excerpts(env, folder):
    """What documents show of other outputs is printed."""
    for document, shown, now in excerpts(env, folder):
        if shown.split() != now.split():
            say(document, 'an excerpt is not what is printed; run ./dev docs:\n' + now)


def write_demo(build):
    """README's table and excerpts anew; ./dev docs does it."""
    folder = tempfile.mkdtemp(prefix='devlog-docs-')
    try:
        env, printed = run_demo(build, folder)
        made = list(excerpts(env, folder))
    finally:
        shutil.rmtree(folder)
    for document, shown, now in made:
        text = read(document)
        with open(os.path.join(SOURCE, document), 'w', encoding='utf-8') as file:
            file.write(text.replace(shown, now))
    if wrong:
        sys.exit('\n'.join(wrong))
    readme = read('README.md')
    shown = DEMO.search(readme)
    if not shown or not printed.startswith('Durations'):
        sys.exit('check_docs: README.md has no table of the demo, or the demo prints none')
    readme = readme[:shown.start(1)] + printed + readme[shown.end(1):]
    with open(os.path.join(SOURCE, 'README.md'), 'w', encoding='utf-8') as file:
        file.write(readme)


def main():
    if '--write-demo' in sys.argv:
        write_demo(os.path.abspath(sys.argv[1]))
        return
    check_links()
    check_files()
    check_numbers()
    check_limits()
    if len(sys.argv) > 1:
        folder = tempfile.mkdtemp(prefix='devlog-docs-')
        try:
            env, printed = prepare(os.path.abspath(sys.argv[1]), folder)
            check_demo(printed)
            check_commands(env, folder)
            check_excerpts(env, folder)
        finally:
            shutil.rmtree(folder)
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
