import type { Command } from "../command.ts";
import type { Tools } from "../tools.ts";
import type { CloudOptions } from "../up/config.ts";
import { detach } from "../up/detach.ts";
import { type Found, findCloud } from "../up/found.ts";
import { obtainCloud } from "../up/obtain.ts";
import { portOf } from "../up/port.ts";
import { warnWithoutNamespaces } from "../up/sandboxes.ts";
import { stopped } from "../up/stopped.ts";
import { listensAt, pointers, seconds, timeText } from "../up/words.ts";

export const up: Command = {
  name: "up",
  summary: "run a Director with the local CPI on this machine, until Ctrl-C",
  topic: "this machine",
  options: [
    { flags: "--detach", about: "in the background; `slipway down` stops it" },
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    { flags: "--config <path>", about: "the Director's configuration, JSON" },
  ],
  run: async (given, tools) => {
    const port = given.text("port");
    const options = { port: port === undefined ? undefined : portOf(port), config: given.text("config") };
    return given.flag("detach") ? await background(options, tools) : await foreground(options, tools);
  },
};

function runsAlready({ reach, pid, since }: Found, { home, ui }: Tools): number {
  ui.line(`The Director runs already: process ${pid}, since ${timeText(since)}.`);
  for (const line of [listensAt(reach, home), "", ...pointers(home)]) ui.line(line);
  ui.line("`slipway down` stops it.");
  return 0;
}

async function background(options: CloudOptions, tools: Tools): Promise<number> {
  const { ui, home, clock } = tools;
  const before = await findCloud(tools, options.port);
  if (before !== undefined) return runsAlready(before, tools);
  await warnWithoutNamespaces(ui);
  const begun = clock.monotonic();
  const { reach, pid } = await detach(options, tools);
  ui.line(listensAt(reach, home));
  ui.line(`It runs in the background, process ${pid}; ready after ${seconds(clock.monotonic() - begun)}.`);
  for (const line of ["", ...pointers(home)]) ui.line(line);
  ui.line(`\`slipway down\` stops it. Its output: ${home.logFile}`);
  return 0;
}

async function foreground(options: CloudOptions, tools: Tools): Promise<number> {
  const { ui, home } = tools;
  await warnWithoutNamespaces(ui);
  const obtained = await obtainCloud(options, tools);
  if (obtained.found !== undefined) return runsAlready(obtained.found, tools);
  const { cloud } = obtained;
  try {
    ui.line(listensAt(cloud.reach, home));
    if (cloud.adoptedDatabase)
      ui.line("The database of a Director that was killed was found running and taken over.");
    for (const line of ["", ...pointers(home, cloud.credentials)]) ui.line(line);
    ui.line("Ctrl-C stops it and its sandboxes. State and disks are kept.");
    await stopped(tools.stop);
    ui.line("Stopping; tasks under way go on at the next start.");
  } finally {
    await cloud.close();
  }
  return 0;
}
