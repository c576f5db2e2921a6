import { shellQuoted } from "@slipway/kernel/shell";
import type { Entry, Flag, Model } from "./model.ts";

const described = (name: string, about: string) => shellQuoted(`${name.replaceAll(":", "\\:")}:${about}`);

/** One list of descriptions per place; files where none fits. */
export function zshScript({ globals, entries }: Model): string {
  const cases = entries.flatMap((entry) =>
    entry.below.length === 0 ? [branch(entry.names, entry.flags, [])] : groupBranches(entry),
  );
  return `#compdef slipway
# zsh completion for slipway. Load it with: source <(slipway completion zsh)
_slipway() {
  local -a commands below opts globals
  local cmd="" word i
  commands=(${entries.map(({ names, about }) => described(names[0] ?? "", about)).join(" ")})
  globals=(${flagList(globals)})
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    [[ $word == -* ]] && continue
    cmd=\${cmd:+$cmd }$word
    case $cmd in
${cases.join("\n")}
    esac
  done
  if [[ $words[CURRENT] == -* ]]; then
    _describe option opts -- globals
  elif [[ -z $cmd ]]; then
    _describe command commands
  elif (( $#below )); then
    _describe command below
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

function branch(names: readonly string[], flags: readonly Flag[], below: readonly Entry[]): string {
  const pattern = names.map((name) => (name.includes(" ") ? shellQuoted(name) : name)).join("|");
  const list = below.map((one) => described(one.names[0] ?? "", one.about)).join(" ");
  return `      ${pattern}) opts=(${flagList(flags)}); below=(${list}) ;;`;
}

const groupBranches = ({ names, below }: Entry): string[] => [
  branch(names, [], below),
  ...below.map((one) =>
    branch(
      one.names.map((name) => `${names[0]} ${name}`),
      one.flags,
      [],
    ),
  ),
];
