// Holds the tables of `docs/bosh-commands.md` to what the stories have really run. Pure.

/** Which command and flags somebody typed; undefined: none, or only for help. */
export function parsedRun(args, { globals, commands }) {
  const words = [];
  const used = new Set();
  let command;
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      command ??= commands.find(({ name, aliases }) => name === word || aliases.includes(word));
      if (command === undefined) return undefined;
      continue;
    }
    if (word === "-h" || word === "--help") return undefined;
    const [, long, short, value] = /^(?:--([^=]+)|-([^-]))(=?.*)$/s.exec(word) ?? [];
    const is = (flag) => (long === undefined ? flag.short === short : flag.name === long);
    // A command's own `-v` goes before the one of all.
    const own = command?.flags.find(is);
    const flag = own ?? globals.find(is);
    if (flag === undefined) continue;
    if (own !== undefined) used.add(own.name);
    if (flag.takes && value === "") at++;
  }
  return command === undefined ? undefined : { command: command.name, flags: [...used].sort() };
}

/**
 * Every flag of the CLI, with a story that ran it and succeeded, or null: `{ deploy: { recreate: "states" } }`. The first
 * story by name, so that it is the same each time.
 */
export function flagsRun({ commands }, runs) {
  return Object.fromEntries(
    commands.map(({ name, flags }) => {
      const of = runs.filter(({ command, code }) => command === name && code === 0);
      const story = (flag) =>
        of
          .filter((run) => run.flags.includes(flag))
          .map((run) => run.story)
          .sort()[0] ?? null;
      return [name, Object.fromEntries(flags.map((flag) => [flag.name, story(flag.name)]))];
    }),
  );
}

/**
 * What the tables say and these runs do not hold. `claimed`: each flag with the story that runs it, or null; `verdicts`: why
 * not, of those with null.
 */
export function unheld({ help, rows, claimed, verdicts, runs }) {
  const names = help.commands.map(({ name }) => name);
  const now = flagsRun(help, runs);
  return [
    ...names.filter((name) => !rows.some((row) => row.name === name)).map((name) => `${name}: it has no row`),
    ...rows.flatMap((row) =>
      names.includes(row.name) ? rowProblems(row, runs) : [`${row.name}: the CLI has no such command`],
    ),
    ...Object.entries(now).flatMap(([command, flags]) =>
      Object.entries(flags).flatMap(([flag, story]) => claimProblems(command, flag, story, claimed)),
    ),
    ...Object.entries(claimed).flatMap(([command, flags]) =>
      Object.keys(flags)
        .filter((flag) => now[command]?.[flag] === undefined)
        .map((flag) => `${command} --${flag}: the CLI has no such flag`),
    ),
    ...unjudged(claimed, verdicts),
    ...verdicts.flatMap((verdict) => verdictProblems(verdict, runs)),
  ];
}

function rowProblems({ name, story, verdict, test, says }, runs) {
  const here = runs.filter((run) => run.command === name && run.story === story);
  if (verdict === "works")
    return here.some(({ code }) => code === 0)
      ? []
      : [`${name} "works": ${story} has not run it with exit code 0`];
  if (verdict === "differs")
    return here.some((run) => run.test === test)
      ? []
      : [`${name} "differs": the test '${test}' of ${story} has not run it`];
  return here.some(({ code, said }) => code !== 0 && said.includes(says))
    ? []
    : [`${name} "refused": ${story} has not seen it refused with '${says}'`];
}

function claimProblems(command, flag, story, claimed) {
  const said = claimed[command]?.[flag];
  if (said === undefined) return [`${command} --${flag}: the table does not have it`];
  if ((said === null) === (story === null)) return [];
  return said === null
    ? [`${command} --${flag}: the table says that nobody runs it, and ${story} does`]
    : [`${command} --${flag}: the table says that ${said} runs it, and nobody has`];
}

/** Flags that have neither a story nor a verdict, or both. */
export function unjudged(claimed, verdicts) {
  const judged = new Set(
    verdicts.flatMap(({ commands, flags }) =>
      commands.flatMap((command) => flags.map((flag) => `${command} --${flag}`)),
    ),
  );
  const all = Object.entries(claimed).flatMap(([command, flags]) =>
    Object.entries(flags).map(([flag, story]) => ({ name: `${command} --${flag}`, story })),
  );
  return [
    ...all.flatMap(({ name, story }) => {
      if ((story === null) === judged.has(name)) return [];
      return story === null
        ? [`${name}: no story runs it, and it has no verdict`]
        : [`${name}: ${story} runs it, and it has a verdict why none does`];
    }),
    ...[...judged]
      .filter((name) => !all.some((one) => one.name === name))
      .map((name) => `${name}: it has a verdict, and the table does not have it`),
  ];
}

/** Each flag of a verdict was tried by its test, and ended as the verdict says. */
function verdictProblems({ commands, flags, story, test, says }, runs) {
  return commands.flatMap((command) =>
    flags
      .filter(
        (flag) =>
          !runs.some(
            (run) =>
              run.command === command &&
              run.flags.includes(flag) &&
              run.story === story &&
              run.test === test &&
              run.code !== 0 &&
              run.said.includes(says),
          ),
      )
      .map(
        (flag) => `${command} --${flag}: the test '${test}' of ${story} has not seen it fail with '${says}'`,
      ),
  );
}
