#!/bin/sh
# Runs a process of the artifact in place of the shell, so that it receives the signals.
set -eu
command=${1:-}
[ $# -gt 0 ] && shift
case "$command" in
  api | worker | console) exec node --enable-source-maps "/app/$command.js" "$@" ;;
  migrate) exec node /app/ops.js migrate "$@" ;;
  ops) exec node /app/ops.js "$@" ;;
  *) echo "'$command' is not a command: api, worker, console, migrate or ops" >&2 && exit 2 ;;
esac
