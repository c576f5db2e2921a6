import { shellWord } from "@slipway/kernel/shell";
import type { AskedCpi, Selection } from "../cpis/descriptor.ts";
import { prepare, readSelection } from "../cpis/prepare.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { calledAs, isInstalled } from "../ui/command-text.ts";
import { localTimeText, secondsText } from "../ui/time-text.ts";
import { obtainCloud } from "./cloud.ts";
import { configOf, type UpOptions } from "./config.ts";
import { detach } from "./detach.ts";
import { findCloud, type Reach, type RunningDirector } from "./running.ts";
import { leftRunning, stopped } from "./stop.ts";

/** In the background: resolves when the Director answers. */
export async function upDetached(options: UpOptions, asked: AskedCpi, tools: Tools): Promise<number> {
  const { ui, home, clock } = tools;
  const selection = await readSelection(asked, tools);
  // Another configuration is refused also while the Director runs: it would be silently ignored.
  await configOf(options, home);
  const before = await findCloud(tools, options.port);
  if (before !== undefined) return await alreadyThere(before, selection, asked, tools);
  const prepared = await prepare(selection, tools);
  const begun = clock.monotonic();
  const { reach, pid } = await detach(options, prepared, tools);
  const took = secondsText(clock.monotonic() - begun);
  ui.line(listensAt(reach, home));
  ui.line(`It runs in the background, process ${pid}; ready after ${took}.`);
  for (const line of pointers(reach, tools)) ui.line(line);
  ui.line(`${stopsIt(tools)} Its output: ${home.logFile}`);
  return 0;
}

/** In this process, until Ctrl-C. */
export async function upHere(options: UpOptions, asked: AskedCpi, tools: Tools): Promise<number> {
  const { ui, home } = tools;
  const selection = await readSelection(asked, tools);
  // Another configuration is refused also while the Director runs: it would be silently ignored.
  await configOf(options, home);
  const before = await findCloud(tools, options.port);
  if (before !== undefined) return await alreadyThere(before, selection, asked, tools);
  const obtained = await obtainCloud(options, await prepare(selection, tools), tools);
  if (obtained.found !== undefined) return runsAlready(obtained.found, tools);
  const { cloud } = obtained;
  try {
    ui.line(listensAt(cloud.reach, home));
    if (cloud.adoptedDatabase)
      ui.line("The database of a Director that was killed was found running and taken over.");
    for (const line of pointers(cloud.reach, tools, cloud.credentials)) ui.line(line);
    ui.line(cloud.backend.words.interrupted);
    await stopped(tools.stop);
    ui.line("Stopping; tasks under way go on at the next start.");
  } finally {
    await cloud.close();
  }
  for (const line of leftRunning(cloud.backend, await cloud.backend.look())) ui.line(line);
  return 0;
}

/** Another engine than it has is not silently ignored. */
async function alreadyThere(
  found: RunningDirector,
  selection: Selection,
  asked: AskedCpi,
  tools: Tools,
): Promise<number> {
  if (Object.keys(asked.options).length > 0) await prepare(selection, tools);
  return runsAlready(found, tools);
}

function runsAlready({ reach, pid, since }: RunningDirector, tools: Tools): number {
  const { ui, home } = tools;
  ui.line(`The Director runs already: process ${pid}, since ${localTimeText(since)}.`);
  ui.line(listensAt(reach, home));
  for (const line of pointers(reach, tools)) ui.line(line);
  ui.line(stopsIt(tools));
  return 0;
}

const stopsIt = ({ programs, env }: Tools): string => `\`${calledAs(programs.self, env)} down\` stops it.`;

const listensAt = (reach: Reach, home: Home): string =>
  `The Director listens at ${reach.url}. State: ${home.dir}`;

/** Returns what to type next. The `bosh` CLI must be pointed at a home's Director, and may not be installed. */
function pointers(reach: Reach, { home, env, programs }: Tools, credentials = true): readonly string[] {
  const slipway = calledAs(programs.self, env);
  const first = isInstalled("bosh", env) ? [] : ["", "Try next:", "", `  ${slipway} env`];
  const login = isInstalled("bosh", env) ? "bosh log-in" : `${slipway} log-in`;
  return [
    ...first,
    "",
    "Point the bosh CLI at it:",
    "",
    `  . ${shellWord(home.envFile)}`,
    "  bosh env",
    "",
    `Or open ${reach.url}/console in a browser; \`${slipway} console\` says how to sign in.`,
    ...(credentials ? [] : ["", `Its users are those of the configuration: \`${login}\`.`]),
    "",
  ];
}
