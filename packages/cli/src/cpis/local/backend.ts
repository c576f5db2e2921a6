import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "../../home/home.ts";
import type { Tools } from "../../tools.ts";
import type { Ui } from "../../ui/ui.ts";
import type { Backend, BackendTools, VmState } from "../descriptor.ts";
import { WORDS } from "./descriptor.ts";

type Where = Pick<Tools, "home" | "programs">;

/** Sandboxes of this machine. */
export const localBackend = (tools: BackendTools): Backend => ({
  words: WORDS,
  outlives: false,
  engine: undefined,
  leftovers: [],
  kept: `State and disks are kept in ${tools.home.dir}.`,
  look: async () => ({ vms: await sandboxesOf(tools.home), disks: await disksOf(tools.home) }),
  configure: async (config) => config,
  embedded: async () => {
    const [{ cpiLocal }, { embed }] = await Promise.all([
      import("@slipway/cpi-local/cpi-local"),
      import("@slipway/cpi-sdk/embed"),
    ]);
    const config = { cloud: { properties: { local: await localCloud(tools) } } };
    return { name: "local", open: (around) => embed(cpiLocal, { ...around, config }) };
  },
  startVms: () => startSandboxes(tools),
  stopVms: () => stopSandboxes(tools),
});

/** The local CPI's part of the configuration. Sandboxes see this machine's files, but not the Director's secrets. */
const localCloud = async ({ home, programs }: Where) => ({
  dir: home.cloud,
  agent: programs.agent,
  hide: [await realpath(home.dir)],
});

/** Starts sandboxes that were stopped together with their Director. Reports a failure and goes on with the others. */
async function startSandboxes({ ui, ...where }: Where & { readonly ui: Ui }): Promise<void> {
  const { startAll } = await import("@slipway/cpi-local/power");
  const { failed } = await startAll(await localCloud(where));
  for (const { cid, why } of failed) ui.note(`Sandbox ${cid} could not be started again: ${why}`);
}

async function stopSandboxes(where: Where): Promise<void> {
  const { stopAll } = await import("@slipway/cpi-local/power");
  await stopAll(await localCloud(where));
}

async function sandboxesOf(home: Home): Promise<readonly VmState[]> {
  const [{ wholeNames }, { runningIn }] = await Promise.all([
    import("@slipway/cpi-local/files"),
    import("@slipway/cpi-local/sandbox/identity"),
  ]);
  const directory = join(home.cloud, "vms");
  const look = async (cid: string) => ({
    cid,
    running: (await runningIn(join(directory, cid))) !== undefined,
  });
  return await Promise.all((await wholeNames(directory)).map(look));
}

async function disksOf(home: Home): Promise<number> {
  const { wholeNames } = await import("@slipway/cpi-local/files");
  return (await wholeNames(join(home.cloud, "disks"))).length;
}
