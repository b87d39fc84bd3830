#!/usr/bin/env bash
# Completion of the command line: what bash offers for beginnings of command lines, and that zsh takes its script (where zsh
# is). Called by ctest: check_completion.sh DEVLOG.
set -uo pipefail
devlog=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" && touch a_file.csv || exit 1
"$devlog" man --completion bash >bash && "$devlog" man --completion zsh >zsh || exit 1
# shellcheck disable=SC1091
source ./bash
bad=0

offers() { # what is offered, then the words of the line, of which the last is completed
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _devlog
  [ "${COMPREPLY[*]}" = "$expected" ] || { echo "'$*' offers '${COMPREPLY[*]}', not '$expected'"; bad=1; }
}

offers decode devlog dec
offers '--help' devlog --he
offers '--format' devlog decode --form
offers 'json' devlog decode --format j
offers 'text csv json' devlog boards -f ''
offers 'a_file.csv' devlog decode a_
offers 'a_file.csv' devlog decode --output a_
offers 'a_file.csv' devlog decode --no-files a_
offers 'summary' devlog ops su
offers '--max-regression' devlog ops compare --max-r
offers '' devlog ops --max-r
offers 'environment' devlog help envi
offers 'ops ops-compare ops-summary' devlog help ops
offers '' devlog nonsense x

# Every option of every command is offered.
for command in $("$devlog" man --list); do
  for option in $("$devlog" help "$command" | sed -n 's/^ *\(-., \)\?\(--[a-z-]*\).*/\2/p'); do
    if [[ $command == ops-* ]]; then offers_one=(devlog ops "${command#ops-}" "$option"); else offers_one=(devlog "$command" "$option"); fi
    COMP_WORDS=("${offers_one[@]}") COMP_CWORD=$((${#offers_one[@]} - 1)) COMPREPLY=()
    _devlog
    [[ " ${COMPREPLY[*]} " == *" $option "* ]] || { echo "'${offers_one[*]}' is not offered"; bad=1; }
  done
done
if command -v zsh >/dev/null; then zsh -n zsh || bad=1; else echo "no zsh: its script was not read"; fi
exit $bad
