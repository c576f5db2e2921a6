import { join } from "node:path";
import { acquireLock, LockTimeout } from "@slipway/kernel/lock-file";
import { shellWord } from "@slipway/kernel/shell";
import { Client } from "../api/client.ts";
import { SILENT } from "../api/follow.ts";
import { backendFor, readChoice } from "../cpis/choice.ts";
import type { AskedCpi, Backend, ChosenCpi, DemoSetup } from "../cpis/descriptor.ts";
import { prepare, readSelection } from "../cpis/prepare.ts";
import { cpiNamed, DEFAULT_CPI } from "../cpis/table.ts";
import { findSession } from "../session/session.ts";
import type { Tools } from "../tools.ts";
import { calledAs, isInstalled } from "../ui/command-text.ts";
import { secondsText } from "../ui/time-text.ts";
import { obtainCloud } from "../up/cloud.ts";
import type { Reach } from "../up/running.ts";
import { leftRunning, stopped } from "../up/stop.ts";
import { givenStemcell, rangeOf } from "./deploy.ts";
import { DemoRuns } from "./errors.ts";
import { step, tellStory } from "./story.ts";

export interface DemoOptions {
  readonly port: number | undefined;
  /** Addresses of VMs. */
  readonly range: string | undefined;
  /** An archive, in place of the built-in one. */
  readonly stemcell: string | undefined;
}

const INTERRUPTED = 130;

/** The whole demo. A Director that it starts runs until Ctrl-C; one that runs already is left running. */
export async function runDemo(options: DemoOptions, asked: AskedCpi, tools: Tools): Promise<number> {
  const { ui, home, clock, stop } = tools;
  const begun = clock.monotonic();
  const selection = await readSelection(asked, tools);
  const cpi = cpiNamed(selection.cpi);
  const range = options.range === undefined ? undefined : rangeOf(options.range, cpi);
  const stemcell = options.stemcell === undefined ? undefined : await givenStemcell(options.stemcell);
  // Unlike `up`, the demo is of no use without VMs.
  const prepared = await prepare(selection, tools, true);
  const { one } = cpi.words;
  ui.line(
    `A Director, a release that keeps a count on its disk, and what becomes of it when its ${one} is replaced.`,
  );
  ui.line("");
  const obtained = await step(tools, "Starting the Director and its database", async () => {
    const value = await obtainCloud({ port: options.port, config: undefined }, prepared, tools);
    const again = value.found === undefined ? "" : ", where it ran already";
    return { said: `The Director is at ${reachOf(value).url}${again}`, value };
  });
  const own = obtained.found === undefined ? obtained.cloud : undefined;
  try {
    const choice: ChosenCpi = (await readChoice(home)) ?? { cpi: DEFAULT_CPI };
    const stage = await cpiNamed(choice.cpi).stage(choice, tools);
    const { curl } = await play(
      reachOf(obtained),
      range,
      stemcell === undefined ? stage : { ...stage, stemcell },
      tools,
    );
    const backend = await backendFor(choice, tools);
    const took = secondsText(clock.monotonic() - begun);
    for (const line of whatNext(tools, { took, curl, own: own !== undefined, stage, backend })) ui.line(line);
    if (own !== undefined) await stopped(stop);
    return 0;
  } catch (error) {
    if (!stop.aborted) throw error;
    return INTERRUPTED;
  } finally {
    if (own !== undefined && stop.aborted) ui.line(own.backend.words.stopping);
    await own?.close();
    if (own !== undefined && stop.aborted)
      for (const line of leftRunning(own.backend, await own.backend.look())) ui.line(line);
  }
}

const reachOf = (obtained: Awaited<ReturnType<typeof obtainCloud>>): Reach =>
  obtained.found === undefined ? obtained.cloud.reach : obtained.found.reach;

async function play(
  reach: Reach,
  range: string | undefined,
  stage: DemoSetup,
  tools: Tools,
): ReturnType<typeof tellStory> {
  const { home, clock, stop } = tools;
  const options = { clock, waitMs: 0, signal: stop };
  const lock = await acquireLock(join(home.dir, "demo.lock"), options).catch((error: unknown) => {
    const held = LockTimeout.paramsOf(error);
    throw held === undefined ? error : DemoRuns({ home: home.dir, holder: held.holder });
  });
  try {
    const api = await connect(reach, tools);
    try {
      return await tellStory(api, tools, range, stage);
    } finally {
      api.close();
    }
  } finally {
    await lock.release();
  }
}

interface Played {
  readonly took: string;
  /** Shows the page. */
  readonly curl: string;
  /** The Director is this process. */
  readonly own: boolean;
  readonly stage: DemoSetup;
  readonly backend: Backend;
}

function whatNext(
  { home, programs, env }: Tools,
  { took, curl, own, stage, backend }: Played,
): readonly string[] {
  const slipway = calledAs(programs.self, env);
  const { many } = backend.words;
  return [
    "",
    `All of it took ${took}. Try next${own ? ", in another terminal" : ""}:`,
    "",
    `  . ${shellWord(home.envFile)}`,
    `  ${isInstalled("bosh", env) ? "bosh" : slipway} -d demo instances --ps`,
    `  ${curl}`,
    `  ${slipway} -d demo explain`,
    ...stage.look.map((line) => `  ${line}`),
    "",
    own
      ? `The Director runs until Ctrl-C. ${backend.kept}`
      : `The Director runs on; \`${slipway} down\` stops it.`,
    ...(backend.outlives
      ? [
          `The ${many} run on after that. To remove them before: ${slipway} -d demo delete-deployment`,
          "To remove all of it: docs/run-a-cloud-on-this-machine.md#with-docker",
        ]
      : []),
  ];
}

/** The home's own Director, whatever BOSH_ENVIRONMENT says. Of its tasks the story tells in words of its own. */
export async function connect(
  { url, caFile }: Reach,
  { home, clock, stop }: Pick<Tools, "home" | "clock" | "stop">,
): Promise<Client> {
  const asked = { environment: url, caCert: caFile, client: undefined, clientSecret: undefined };
  return new Client({ ...(await findSession(asked, home)), clock, stop, teller: SILENT });
}
