import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { shellWord } from "@slipway/kernel/shell";
import { variable } from "@slipway/protocol/director/variable";
import { REDACTED } from "@slipway/protocol/schema/redact";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import type { DemoSetup } from "../cpis/descriptor.ts";
import type { Tools } from "../tools.ts";
import { secondsText } from "../ui/time-text.ts";
import type { Ui } from "../ui/ui.ts";
import {
  type DemoRelease,
  deployDemo,
  ERRAND,
  ensureCloudConfig,
  ensureRelease,
  ensureStemcell,
  runSmoke,
} from "./deploy.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import { PromiseBroken } from "./errors.ts";
import { carryOut, finish, unfinishedTasks } from "./follow.ts";
import {
  authorityFile,
  curlLine,
  type DemoVm,
  type Page,
  pageAuthority,
  pageUrl,
  readPage,
  registryText,
  vmOf,
} from "./vm.ts";

type StoryTools = Pick<Tools, "home" | "ui" | "clock" | "programs" | "stop">;

/** Deploys a release, visits its page, replaces its VM and finds the count. Harmless to run again at any point. */
export async function tellStory(
  api: DirectorApi,
  tools: StoryTools,
  range: string | undefined,
  setup: DemoSetup,
): Promise<{ readonly curl: string }> {
  const { home, ui } = tools;
  const { one, many } = setup.words;
  const dir = join(home.dir, "demo");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await resume(api, tools);
  // First, as it is quick: addresses that cannot be had are said before anything is made.
  await step(tools, "Updating the cloud config", async () => {
    const used = await ensureCloudConfig(api, dir, range, setup);
    const said =
      used === undefined
        ? "Cloud config: yours, left as it is"
        : `Cloud config: ${many} get addresses of ${used}`;
    return { said, value: undefined };
  });
  const stemcell = await step(tools, setup.stemcell.doing, async (tell) => {
    const value = await ensureStemcell(api, dir, setup, tell);
    return { said: `Stemcell ${value.name}/${value.version}: ${setup.stemcell.about}`, value };
  });
  const release = await step(tools, "Uploading the release", async (tell) => {
    const value = await ensureRelease(api, tools, tell);
    return { said: `Release ${value.name}/${value.version}: ${contentText(value)}`, value };
  });
  const first = await step(tools, "Deploying the release", async (tell) => {
    const { compiled } = await deployDemo(api, dir, { stemcell, release }, tools, tell);
    const packages = compiled ? `packages compiled in ${many} of their own, ` : "";
    return {
      said: `Deployment ${DEPLOYMENT}: ${packages}jobs run in ${many}`,
      value: await vmOf(api, setup.words),
    };
  });
  show(first, await variableNames(api), one, tools);
  const before = await step(tools, "Looking at the page", async () => {
    const page = await pageOf(first);
    return { said: `The page at ${pageUrl(first)}, over TLS: "${page.text}"`, value: page };
  });
  await step(tools, `Running the errand ${ERRAND}`, async (tell) => {
    const said = await runSmoke(api, tell);
    return { said: `The errand ${ERRAND}, which has address and password by a link: ${said}`, value: said };
  });
  const second = await step(tools, `Replacing the ${one}`, async (tell) => {
    const path = `/deployments/${DEPLOYMENT}/jobs/${GROUP}/${pathSegment(first.instance)}`;
    const query = { state: "recreate" };
    await carryOut(api, { method: "PUT", path, query, body: "", contentType: "text/yaml" }, tell);
    const now = await vmOf(api, setup.words);
    if (now.cid === first.cid) throw PromiseBroken({ what: `the ${one} is still ${now.cid}` });
    const said = `The ${one} was drained and deleted, and a new one has its disk: ${now.cid}`;
    return { said, value: now };
  });
  await step(tools, "Looking at the page again", async () => {
    const page = await pageOf(second);
    if (second.disk !== first.disk) throw PromiseBroken({ what: `the disk is ${second.disk} now` });
    // The errand has visited it.
    if (page.count <= before.count) throw PromiseBroken({ what: `the page says "${page.text}"` });
    return { said: `The page of the new one: "${page.text}"`, value: undefined };
  });
  const registry = await registryText(home, [first, second], setup.words);
  ui.line("");
  ui.line(ui.paint.bold(`The count goes on: a new ${one}, the same disk.`));
  ui.line(registry);
  return { curl: curlLine(second, shellWord(authorityFile(dir))) };

  async function pageOf(vm: DemoVm): Promise<Page> {
    return await readPage(vm, await pageAuthority(api, vm, authorityFile(dir)), tools);
  }
}

const contentText = ({ jobs, packages }: DemoRelease): string =>
  `jobs ${jobs.join(", ")}; packages ${packages.join(", ")}`;

/** Without the names of Director and deployment before them. */
async function variableNames(api: DirectorApi): Promise<readonly string[]> {
  const path = `/deployments/${DEPLOYMENT}/variables`;
  const all = await api.json({ method: "GET", path }, v.array(variable));
  return [...new Set(all.map(({ name }) => name.slice(name.lastIndexOf("/") + 1)))].sort();
}

/** Waits for tasks of an interrupted run; prints nothing if there are none. */
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
  variables: readonly string[],
  word: string,
  { ui }: StoryTools,
) {
  const rows = [
    ["instance", `${GROUP}/${instance}`],
    [word, `${cid} at ${ip}`],
    ["disk", disk],
    ["disk hint", `from attach_disk to the agent: ${hintText(hint)}`],
    ["settings", `by ${channel} (CPI API v${cpiVersion}, stemcell API v${stemcellVersion})`],
    ["variables", `${variables.join(", ")}: made by the Director`],
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

/** Result of a step, and the text that reports it. */
interface StoryOutcome<T> {
  readonly said: string;
  readonly value: T;
}

/** One step of the story: live on a terminal; elsewhere one line when it is over. With the time it took. */
export async function step<T>(
  { ui, clock }: { readonly ui: Ui; readonly clock: Clock },
  doing: string,
  work: (update: (text: string) => void) => Promise<StoryOutcome<T>>,
): Promise<T> {
  const begun = clock.monotonic();
  const progress = ui.live ? ui.progress(doing) : undefined;
  try {
    const { said, value } = await work((text) => progress?.update(`${doing}: ${text}`));
    const line = `${said} ${ui.paint.dim(`(${secondsText(clock.monotonic() - begun)})`)}`;
    if (progress === undefined) ui.line(line);
    else progress.done(line);
    return value;
  } catch (error) {
    if (progress === undefined) ui.line(`${doing}: failed`);
    else progress.failed();
    throw error;
  }
}
