import { KNOWN_SH } from "./cached-names.ts";
import type { CompletionWord, Flag, Model } from "./model.ts";

const spellings = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])]);

export const withValue = (flags: readonly Flag[]) => spellings(flags.filter(({ value }) => value));

/** Names and options hold letters, digits and dashes only: nothing a shell would read. */
export function bashScript({ globals, entries }: Model): string {
  const cases = entries.flatMap((entry) => (entry.below.length === 0 ? [oneCase(entry)] : groupCases(entry)));
  return `# bash completion for slipway. Load it with: source <(slipway completion bash)
${KNOWN_SH}
# Offers them, as they are: nothing in a name is read by the shell.
_slipway_known() {
  local word
  while IFS= read -r word; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done < <(_slipway_words "$1" "$2")
}
_slipway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} cmd="" word i skip=""
  local commands="${entries.map(({ names }) => names[0]).join(" ")} help"
  local kind="" words_of="" deployment=\${BOSH_DEPLOYMENT:-}
  local globals="${spellings(globals).join(" ")}" valued="${withValue(globals).join(" ")}" opts="" below=""
  COMPREPLY=()
  # bash takes --deployment=shop for three words, and what follows the = for the third.
  [[ $cur == "=" ]] && prev="=" cur=""
  [[ $prev == "=" ]] && prev=\${COMP_WORDS[COMP_CWORD-1]} && [[ $prev == "=" ]] && prev=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == "=" ]] && continue
    if [[ -n $skip ]]; then
      [[ $skip == -d || $skip == --deployment ]] && deployment=$word
      skip=""
      continue
    fi
    if [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* ]] && skip=$word
      continue
    fi
    cmd=\${cmd:+$cmd }$word
    case $cmd in
${cases.join("\n")}
      *) break ;;
    esac
  done
  if [[ " $valued " == *" $prev "* ]]; then
    for word in ${completing(globals)} $words_of; do
      [[ $word == "$prev":* ]] && _slipway_known "\${word#*:}" "$deployment"
    done
    return
  fi
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$opts $globals" -- "$cur"))
  elif [[ -z $cmd ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  elif [[ -n $below ]]; then
    COMPREPLY=($(compgen -W "$below" -- "$cur"))
  elif [[ -n $kind ]]; then
    _slipway_known "$kind" "$deployment"
  fi
}
complete -o default -F _slipway slipway
`;
}

/** `-d:deployment --task:task`: which options take a value that is known. */
export const completing = (flags: readonly Flag[]): string =>
  flags
    .flatMap((flag) =>
      flag.completes === undefined ? [] : spellings([flag]).map((one) => `${one}:${flag.completes}`),
    )
    .join(" ");

const oneCase = (entry: CompletionWord) => branch(entry.names.join("|"), entry, "");

function branch(
  pattern: string,
  { flags, completes }: Pick<CompletionWord, "flags" | "completes">,
  below: string,
): string {
  const own = spellings(flags).join(" ");
  const valued = withValue(flags).join(" ");
  const known = `kind="${completes ?? ""}" words_of="${completing(flags)}"`;
  return `      ${pattern}) opts="${own}" below="${below}" ${known}${valued === "" ? "" : ` valued="$valued ${valued}"`} ;;`;
}

const groupCases = ({ names, below }: CompletionWord): string[] => [
  branch(names.join("|"), { flags: [], completes: undefined }, below.map((one) => one.names[0]).join(" ")),
  ...below.map((one) => branch(one.names.map((name) => `"${names[0]} ${name}"`).join("|"), one, "")),
];
