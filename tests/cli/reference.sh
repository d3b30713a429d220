# docs/cli.md has the commands and options that the programs have.
. "$(dirname "$0")/prelude"

PYTHONDONTWRITEBYTECODE=1 python3 "$tests/../deploy/cli_page.py" "$EK" >cli.md
diff "$tests/../docs/cli.md" cli.md >difference || fail "docs/cli.md is stale, run make reference: $(head -5 difference)"
