import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { REDACTED } from "@slipway/protocol/schema/redact";
import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Tools } from "../tools.ts";
import { ensureCloudConfig } from "./cloud-config.ts";
import { deployDemo } from "./deploy.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import { PromiseBroken } from "./errors.ts";
import { carryOut } from "./follow.ts";
import { readNote, writeNote } from "./note.ts";
import { registryText } from "./registry.ts";
import type { Stage } from "./stage.ts";
import { ensureStemcell } from "./stemcell.ts";
import { step } from "./step.ts";
import { finish, unfinishedTasks } from "./unfinished.ts";
import { type DemoVm, vmOf } from "./vm.ts";

type StoryTools = Pick<Tools, "home" | "ui" | "clock">;

/** Deploys, writes to the disk, replaces the VM and finds what was written. Harmless to run again at any point. */
export async function tellStory(
  api: DirectorApi,
  tools: StoryTools,
  range: string | undefined,
  stage: Stage,
): Promise<void> {
  const { home, ui } = tools;
  const { one, many } = stage.words;
  const dir = join(home.dir, "demo");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await resume(api, tools);
  // First, as it is quick: addresses that cannot be had are said before anything is made.
  await step(tools, "Updating the cloud config", async () => {
    const used = await ensureCloudConfig(api, dir, range, stage);
    const said =
      used === undefined
        ? "Cloud config: yours, left as it is"
        : `Cloud config: ${many} get addresses of ${used}`;
    return { said, value: undefined };
  });
  const stemcell = await step(tools, stage.stemcell.doing, async (tell) => {
    const value = await ensureStemcell(api, dir, stage, tell);
    return { said: `Stemcell ${value.name}/${value.version}: ${stage.stemcell.about}`, value };
  });
  const first = await step(tools, `Deploying one ${one} with a disk`, async (tell) => {
    await deployDemo(api, dir, stemcell, tools, tell);
    return {
      said: `Deployment ${DEPLOYMENT}: one ${one} with a persistent disk`,
      value: await vmOf(api, stage.words),
    };
  });
  show(first, one, tools);
  const note = await step(tools, "Writing a note to the disk", async () => {
    const written = await writeNote(api, first, tools);
    return { said: `A note on the disk, put there by the agent: "${written}"`, value: written };
  });
  const second = await step(tools, `Replacing the ${one}`, async (tell) => {
    const path = `/deployments/${DEPLOYMENT}/jobs/${GROUP}/${piece(first.instance)}`;
    const query = { state: "recreate" };
    await carryOut(api, { method: "PUT", path, query, body: "", contentType: "text/yaml" }, tell);
    const now = await vmOf(api, stage.words);
    if (now.cid === first.cid) throw PromiseBroken({ what: `the ${one} is still ${now.cid}` });
    return { said: `The ${one} was deleted and a new one has its disk: ${now.cid}`, value: now };
  });
  await step(tools, "Reading the note", async () => {
    const read = await readNote(api, second);
    if (second.disk !== first.disk) throw PromiseBroken({ what: `the disk is ${second.disk} now` });
    if (read !== note) throw PromiseBroken({ what: `the note reads "${read}"` });
    return { said: `The note, read by the agent of the new one: "${read}"`, value: undefined };
  });
  const registry = await registryText(home, [first, second], stage.words);
  ui.line("");
  ui.line(ui.paint.bold(`The data is still there: a new ${one}, the same disk.`));
  ui.line(registry);
}

/** What an interrupted run has left under way is waited for, in silence where there is nothing. */
async function resume(api: DirectorApi, tools: StoryTools): Promise<void> {
  const left = await unfinishedTasks(api);
  if (left.length === 0) return;
  await step(tools, "Waiting for a task of an earlier run", async () => {
    await finish(api, left);
    return { said: "A task of an earlier run came to its end", value: undefined };
  });
}

function show(
  { instance, cid, ip, disk, hint, channel, cpiVersion, stemcellVersion }: DemoVm,
  word: string,
  { ui }: StoryTools,
) {
  const rows = [
    ["instance", `${GROUP}/${instance}`],
    [word, `${cid} at ${ip}`],
    ["disk", disk],
    ["disk hint", `from attach_disk to the agent: ${hintText(hint)}`],
    ["settings", `by ${channel} (CPI API v${cpiVersion}, stemcell API v${stemcellVersion})`],
  ] as const;
  ui.line("");
  for (const [name, value] of rows) ui.line(`  ${ui.paint.dim(name.padEnd(9))}  ${value}`);
  ui.line("");
}

/** Without what was kept from us. */
function hintText(hint: unknown): string {
  if (typeof hint !== "object" || hint === null) return JSON.stringify(hint);
  const shown = Object.entries(hint).filter(([, value]) => value !== REDACTED);
  return JSON.stringify(Object.fromEntries(shown));
}
