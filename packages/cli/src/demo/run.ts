import { shellWord } from "@slipway/kernel/shell";
import type { Tools } from "../tools.ts";
import { secondsText } from "../ui/time-text.ts";
import { calledAs } from "../up/called-as.ts";
import { obtainCloud } from "../up/obtain.ts";
import type { Reach } from "../up/running.ts";
import { namespaces } from "../up/sandboxes.ts";
import { stopped } from "../up/stopped.ts";
import { rangeOf } from "./cloud-config.ts";
import { connect } from "./connect.ts";
import { NoNamespaces } from "./errors.ts";
import { step } from "./step.ts";
import { tellStory } from "./story.ts";

export interface DemoOptions {
  readonly port: number | undefined;
  /** Addresses of sandboxes. */
  readonly range: string | undefined;
}

const INTERRUPTED = 130;

/** The whole demo. A Director that it starts runs until Ctrl-C; one that runs already is left running. */
export async function runDemo({ port, range: given }: DemoOptions, tools: Tools): Promise<number> {
  const { ui, clock, stop } = tools;
  const begun = clock.monotonic();
  const range = given === undefined ? undefined : rangeOf(given);
  const allowed = await namespaces();
  if (!allowed.ok) throw NoNamespaces(allowed);
  ui.line("A Director, a sandbox with a disk, and what becomes of the disk when the sandbox is replaced.");
  ui.line("");
  const obtained = await step(tools, "Starting the Director and its database", async () => {
    const value = await obtainCloud({ port, config: undefined }, tools);
    const again = value.found === undefined ? "" : ", where it ran already";
    return { said: `The Director is at ${reachOf(value).url}${again}`, value };
  });
  const own = obtained.found === undefined ? obtained.cloud : undefined;
  try {
    await play(reachOf(obtained), range, tools);
    for (const line of whatNext(tools, secondsText(clock.monotonic() - begun), own !== undefined))
      ui.line(line);
    if (own !== undefined) await stopped(stop);
    return 0;
  } catch (error) {
    if (!stop.aborted) throw error;
    return INTERRUPTED;
  } finally {
    if (own !== undefined && stop.aborted) ui.line("Stopping the Director, its database and the sandbox.");
    await own?.close();
  }
}

const reachOf = (obtained: Awaited<ReturnType<typeof obtainCloud>>): Reach =>
  obtained.found === undefined ? obtained.cloud.reach : obtained.found.reach;

async function play(reach: Reach, range: string | undefined, tools: Tools): Promise<void> {
  const api = await connect(reach, tools);
  try {
    await tellStory(api, tools, range);
  } finally {
    api.close();
  }
}

function whatNext({ home, programs, env }: Tools, took: string, own: boolean): readonly string[] {
  const slipway = calledAs(programs.self, env);
  return [
    "",
    `All of it took ${took}. Try next${own ? ", in another terminal" : ""}:`,
    "",
    `  . ${shellWord(home.envFile)}`,
    "  bosh env",
    "  bosh -d demo instances",
    `  ${slipway} -d demo explain`,
    "",
    own
      ? `The Director runs until Ctrl-C. State and disks are kept in ${home.dir}.`
      : `The Director runs on; \`${slipway} down\` stops it.`,
  ];
}
