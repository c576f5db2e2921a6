import type { Entry, Flag, Model } from "./model.ts";

const spellings = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])]);

const withValue = (flags: readonly Flag[]) => spellings(flags.filter(({ value }) => value));

/** Names and options hold letters, digits and dashes only: nothing a shell would read. */
export function bashScript({ globals, entries }: Model): string {
  const cases = entries.flatMap((entry) => (entry.below.length === 0 ? [oneCase(entry)] : groupCases(entry)));
  return `# bash completion for slipway. Load it with: source <(slipway completion bash)
_slipway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} cmd="" word i skip=""
  local commands="${entries.map(({ names }) => names[0]).join(" ")} help"
  local globals="${spellings(globals).join(" ")}" valued="${withValue(globals).join(" ")}" opts="" below=""
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=""; continue; fi
    if [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* ]] && skip=1
      continue
    fi
    cmd=\${cmd:+$cmd }$word
    case $cmd in
${cases.join("\n")}
      *) break ;;
    esac
  done
  [[ " $valued " == *" $prev "* ]] && return
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$opts $globals" -- "$cur"))
  elif [[ -z $cmd ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  elif [[ -n $below ]]; then
    COMPREPLY=($(compgen -W "$below" -- "$cur"))
  fi
}
complete -o default -F _slipway slipway
`;
}

const oneCase = ({ names, flags }: Entry) => branch(names.join("|"), flags, "");

function branch(pattern: string, flags: readonly Flag[], below: string): string {
  const own = spellings(flags).join(" ");
  const valued = withValue(flags).join(" ");
  return `      ${pattern}) opts="${own}" below="${below}"${valued === "" ? "" : ` valued="$valued ${valued}"`} ;;`;
}

const groupCases = ({ names, below }: Entry): string[] => [
  branch(names.join("|"), [], below.map((one) => one.names[0]).join(" ")),
  ...below.map((one) => branch(one.names.map((name) => `"${names[0]} ${name}"`).join("|"), one.flags, "")),
];
