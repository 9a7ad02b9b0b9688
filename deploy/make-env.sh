#!/bin/sh
# Writes deploy/.env with new random secrets. Never over one that is there: its key opens what the database keeps sealed.
set -eu
cd "$(dirname "$0")"
umask 077
if [ -e .env ]; then
    echo "make-env.sh: deploy/.env is there already, and stays as it is" >&2
    exit 1
fi
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
for name in $(sed -n 's/^\([A-Z_]*\)=$/\1/p' env.example); do
    echo "$name=$(random)"
done > .env.new
# Only a whole one gets the name.
mv .env.new .env
