/**
 * Names that the Director had when it was last asked. A shell reads them from a file: starting a program and asking a
 * Director takes longer than one waits for a TAB. `slipway completion refresh`, in the background, writes the file
 * again when it is older than some seconds.
 *
 * A line is a kind, a deployment or `-`, and a name; none of them holds a blank or anything else a shell would read.
 */
const FRESH_S = 10;

/** For bash and zsh. Arguments, as in fish: kind, deployment (for instances; empty: of all). */
export const KNOWN_SH = `_slipway_words() {
  local home=$SLIPWAY_HOME file=\${BOSH_ENVIRONMENT:-default} now made kind of name
  if [[ -z $home ]]; then
    if [[ $EUID == 0 ]]; then home=/var/lib/slipway; else home=\${XDG_STATE_HOME:-$HOME/.local/state}/slipway; fi
  fi
  file=$home/completion/\${file//[^A-Za-z0-9.-]/_}
  now=\${EPOCHSECONDS:-$(date +%s)}
  made=$(stat -c %Y "$file" 2>/dev/null || stat -f %m "$file" 2>/dev/null || echo 0)
  if ((now - made > ${FRESH_S})); then
    [[ -e $file ]] && touch "$file"
    (slipway completion refresh >/dev/null 2>&1 </dev/null &)
  fi
  [[ -r $file ]] || return 0
  while read -r kind of name; do
    [[ $kind == "$1" ]] || continue
    [[ -z $2 || $of == - || $of == "$2" ]] && printf '%s\\n' "$name"
  done <"$file"
  return 0
}`;

export const KNOWN_FISH = `function __slipway_words
  set -l home $SLIPWAY_HOME
  if test -z "$home"
    if test (id -u) = 0
      set home /var/lib/slipway
    else if test -n "$XDG_STATE_HOME"
      set home $XDG_STATE_HOME/slipway
    else
      set home $HOME/.local/state/slipway
    end
  end
  set -l environment default
  test -n "$BOSH_ENVIRONMENT"; and set environment $BOSH_ENVIRONMENT
  set -l file $home/completion/(string replace -ra '[^A-Za-z0-9.-]' _ -- $environment)
  set -l made (stat -c %Y $file 2>/dev/null; or stat -f %m $file 2>/dev/null; or echo 0)
  if test (math (date +%s) - $made) -gt ${FRESH_S}
    test -e $file; and touch $file
    if command -q slipway
      slipway completion refresh >/dev/null 2>&1 </dev/null &
      disown 2>/dev/null
    end
  end
  test -r $file; or return 0
  set -l of '\\S+'
  test -n "$argv[2]"; and set of (string escape --style=regex -- $argv[2])
  string replace -rf "^$argv[1] (?:-|$of) " "" <$file
end`;

/** The file of an environment, as the scripts above find it. */
export const knownFile = (environment: string | undefined): string =>
  (environment || "default").replace(/[^A-Za-z0-9.-]/g, "_");
