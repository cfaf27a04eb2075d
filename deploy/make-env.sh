#!/bin/sh
# Writes .env with a random value for every name in .env.example. Never overwrites one that is there.
set -eu
cd "$(dirname "$0")/.."
if [ -e .env ]; then
  echo '.env is there already; remove it first to make new secrets' >&2
  exit 1
fi
umask 077
while IFS= read -r line; do
  case $line in
    '#'* | '') ;;
    *=) printf '%s%s\n' "$line" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')" ;;
  esac
done < .env.example > .env
echo '.env written'
