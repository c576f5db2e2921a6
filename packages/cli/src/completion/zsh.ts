import { shellQuoted } from "@slipway/kernel/shell";
import { completing, withValue } from "./bash.ts";
import { KNOWN_SH } from "./cached-names.ts";
import type { CompletionWord, Flag, Model } from "./model.ts";

const described = (name: string, about: string) => shellQuoted(`${name.replaceAll(":", "\\:")}:${about}`);

/** One list of descriptions per place; files where none fits. */
export function zshScript({ globals, entries }: Model): string {
  const cases = entries.flatMap((entry) =>
    entry.below.length === 0 ? [branch(entry.names, entry, [])] : groupBranches(entry),
  );
  return `#compdef slipway
# zsh completion for slipway. Load it with: source <(slipway completion zsh)
${KNOWN_SH}
_slipway() {
  local -a commands below opts globals
  local cmd="" word i kind="" words_of="" skip="" deployment=\${BOSH_DEPLOYMENT:-}
  local valued=" ${withValue(globals).join(" ")} "
  commands=(${entries.map(({ names, about }) => described(names[0] ?? "", about)).join(" ")})
  globals=(${flagList(globals)})
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $skip ]]; then
      [[ $skip == -d || $skip == --deployment ]] && deployment=$word
      skip=""
      continue
    fi
    [[ $word == --deployment=* ]] && deployment=\${word#*=}
    if [[ $word == -* ]]; then
      [[ $valued == *" $word "* ]] && skip=$word
      continue
    fi
    cmd=\${cmd:+$cmd }$word
    case $cmd in
${cases.join("\n")}
    esac
  done
  if [[ -z $skip && $words[CURRENT] == --*=* ]]; then
    skip=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  if [[ -n $skip ]]; then
    for word in ${completing(globals)} \${=words_of}; do
      if [[ $word == "$skip":* ]]; then
        compadd -- \${(f)"$(_slipway_words "\${word#*:}" "$deployment")"}
        return
      fi
    done
    _files
  elif [[ $words[CURRENT] == -* ]]; then
    _describe option opts -- globals
  elif [[ -z $cmd ]]; then
    _describe command commands
  elif (( $#below )); then
    _describe command below
  elif [[ -n $kind ]]; then
    compadd -- \${(f)"$(_slipway_words $kind $deployment)"}
  else
    _files
  fi
}
if [[ $funcstack[1] == _slipway ]]; then _slipway "$@"; else compdef _slipway slipway; fi
`;
}

const flagList = (flags: readonly Flag[]) =>
  flags
    .flatMap(({ long, short, about }) => [
      described(`--${long}`, about),
      ...(short === undefined ? [] : [described(`-${short}`, about)]),
    ])
    .join(" ");

function branch(
  names: readonly string[],
  { flags, completes }: Pick<CompletionWord, "flags" | "completes">,
  below: readonly CompletionWord[],
): string {
  const pattern = names.map((name) => (name.includes(" ") ? shellQuoted(name) : name)).join("|");
  const list = below.map((one) => described(one.names[0] ?? "", one.about)).join(" ");
  const valued = withValue(flags).join(" ");
  const known = `kind="${completes ?? ""}"; words_of="${completing(flags)}"`;
  const more = valued === "" ? "" : `; valued+="${valued} "`;
  return `      ${pattern}) opts=(${flagList(flags)}); below=(${list}); ${known}${more} ;;`;
}

const groupBranches = ({ names, below }: CompletionWord): string[] => [
  branch(names, { flags: [], completes: undefined }, below),
  ...below.map((one) =>
    branch(
      one.names.map((name) => `${names[0]} ${name}`),
      one,
      [],
    ),
  ),
];
