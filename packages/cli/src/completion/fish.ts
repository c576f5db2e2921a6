import { completing, withValue } from "./bash.ts";
import { KNOWN_FISH } from "./cached-names.ts";
import type { CompletionWord, Flag, Model } from "./model.ts";

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
/** Returns a name with its description after a tab, as fish shows it. */
const described = (name: string, about: string) => quoted(`${name}\t${about}`);
const setTo = (name: string, words: string) => (words === "" ? `set ${name}` : `set ${name} ${words}`);

/**
 * One function that looks at the whole line: conditions of single completions, as fish has them, would be asked by the
 * hundred, and know nothing of options with values.
 */
export function fishScript({ globals, entries }: Model): string {
  const cases = entries.flatMap((entry) =>
    entry.below.length === 0 ? [branch(entry.names, entry, [])] : groupBranches(entry),
  );
  return `# fish completion for slipway. Load it with: slipway completion fish | source
${KNOWN_FISH}
function __slipway_offer
  set -l current (commandline -ct)
  set -l words (commandline -opc)
  set -e words[1]
  set -l command
  set -l skip
  set -l kind
  set -l words_of
  set -l opts
  set -l below
  set -l deployment $BOSH_DEPLOYMENT
  set -l valued ${withValue(globals).join(" ")}
  for word in $words
    if test -n "$skip"
      contains -- $skip -d --deployment; and set deployment $word
      set skip
      continue
    end
    switch $word
      case '--deployment=*'
        set deployment (string replace -- --deployment= '' $word)
      case '-*'
        contains -- $word $valued; and set skip $word
      case '*'
        set -a command $word
        switch "$command"
${cases.join("\n")}
        end
    end
  end
  set -l before
  if string match -q -- '--*=*' $current
    set skip (string replace -r -- '=.*' '' $current)
    set before $skip=
  end
  if test -n "$skip"
    for word in ${completing(globals)} $words_of
      if string match -q -- "$skip:*" $word
        __slipway_words (string replace -- "$skip:" '' $word) $deployment | string replace -r -- '^' "$before"
        return
      end
    end
    test -z "$before"; and __fish_complete_path $current
  else if string match -q -- '-*' $current
    printf '%s\\n' $opts ${flagList(globals)}
  else if test -z "$command"
    printf '%s\\n' ${entries.map(({ names, about }) => described(names[0] ?? "", about)).join(" ")}
  else if test -n "$below"
    printf '%s\\n' $below
  else if test -n "$kind"
    __slipway_words $kind $deployment
  else
    __fish_complete_path $current
  end
end
complete -c slipway -f -a '(__slipway_offer)'
`;
}

const flagList = (flags: readonly Flag[]): string =>
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
  const valued = withValue(flags).join(" ");
  const lines = [
    setTo("opts", flagList(flags)),
    setTo("below", below.map((one) => described(one.names[0] ?? "", one.about)).join(" ")),
    setTo("kind", completes ?? ""),
    setTo("words_of", completing(flags)),
    ...(valued === "" ? [] : [`set -a valued ${valued}`]),
  ];
  return `          case ${names.map(quoted).join(" ")}\n            ${lines.join("; ")}`;
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
