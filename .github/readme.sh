# Runs the one command of the README that makes a virtual environment and then does what the argument says.
command=$(sed -n "s/^\(.*python3 -m venv .*$1.*\)\$/\1/p" README.md)
[ "$(printf '%s\n' "$command" | wc -l)" = 1 ] && [ -n "$command" ] || { echo "README.md must hold exactly one command with $1" >&2; exit 1; }
if [ "$RUNNER_OS" = Windows ]; then
  command=$(printf '%s' "$command" | sed 's#python3 -m venv#python -m venv#; s#\.venv/bin/activate#.venv/Scripts/activate#')
fi
echo "+ $command"
eval "$command"
