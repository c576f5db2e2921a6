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

/** What the tables say and these runs do not hold. */
export function unheld({ help, rows, claimed, runs, source }) {
  const names = help.commands.map(({ name }) => name);
  const now = flagsRun(help, runs);
  return [
    ...names.filter((name) => !rows.some((row) => row.name === name)).map((name) => `${name}: it has no row`),
    ...rows.flatMap((row) =>
      names.includes(row.name)
        ? rowProblems(row, runs, source)
        : [`${row.name}: the CLI has no such command`],
    ),
    ...Object.entries(now).flatMap(([command, flags]) =>
      Object.entries(flags).flatMap(([flag, story]) => flagProblems(command, flag, story, claimed)),
    ),
    ...Object.entries(claimed).flatMap(([command, flags]) =>
      Object.keys(flags)
        .filter((flag) => now[command]?.[flag] === undefined)
        .map((flag) => `${command} --${flag}: the CLI has no such flag`),
    ),
  ];
}

function rowProblems({ name, story, verdict, test, says }, runs, source) {
  const here = runs.filter((run) => run.command === name && run.story === story);
  if (verdict === "works")
    return here.some(({ code }) => code === 0)
      ? []
      : [`${name} "works": ${story} has not run it with exit code 0`];
  if (verdict === "differs")
    return here.some((run) => run.test === test)
      ? []
      : [`${name} "differs": the test '${test}' of ${story} has not run it`];
  if (!here.some(({ code }) => code !== 0)) return [`${name} "refused": ${story} has not seen it refused`];
  return source(story).includes(says) ? [] : [`${name} "refused": ${story} does not look for '${says}'`];
}

function flagProblems(command, flag, story, claimed) {
  const said = claimed[command]?.[flag];
  if (said === undefined) return [`${command} --${flag}: the table does not have it`];
  return said !== null && story === null
    ? [`${command} --${flag}: the table says that ${said} runs it, and nobody has`]
    : [];
}

/** Flags that were run and are said not to be: no mistake, but the table may say more. */
export const unclaimed = (help, runs, claimed) =>
  Object.entries(flagsRun(help, runs)).flatMap(([command, flags]) =>
    Object.entries(flags)
      .filter(([flag, story]) => story !== null && claimed[command]?.[flag] === null)
      .map(([flag]) => `${command} --${flag}`),
  );
