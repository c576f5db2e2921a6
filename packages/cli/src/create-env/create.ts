import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { fingerprint } from "@slipway/engine/documents/tree";
import { runInstance } from "@slipway/engine/flows/run-instance";
import { changeInstance } from "@slipway/engine/flows/run-steps";
import { activeVm } from "@slipway/engine/model/records";
import type { UnpackedStemcell } from "@slipway/engine/stemcells/archive";
import type { JobsToRun } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import type { Ui } from "../ui/ui.ts";
import { busOf, envWithBus } from "./agents/bus.ts";
import { fetchArchive, surroundingsOf } from "./archive.ts";
import { deleteUnusedDisks, deleteUnusedStemcells } from "./dispose.ts";
import { jobsToRun } from "./jobs/jobs-to-run.ts";
import { planJobs, type RenderTools } from "./jobs/plan.ts";
import { openReleases, type Releases } from "./jobs/releases.ts";
import { withCpi } from "./jobs/with-cpi.ts";
import type { EnvManifest } from "./manifest/model.ts";
import { readEnvManifest } from "./manifest/read.ts";
import { desiredInstance, planEnv } from "./plan.ts";
import { printSteps } from "./print-steps.ts";
import { printStrays } from "./print-strays.ts";
import {
  askOldAgent,
  type EnvRequest,
  type EnvSession,
  type EnvTools,
  prepareTemporary,
  settle,
  withSession,
  withStateLock,
} from "./session.ts";
import { type Stages, stagesOn } from "./stages.ts";
import { EnvStore, INSTANCE } from "./state/store.ts";
import { settleStemcells, unpack, uploadStemcell } from "./stemcell.ts";
import { workspaceOf } from "./workspace.ts";

export interface CreateRequest extends EnvRequest {
  readonly recreate: boolean;
  readonly recreateDisks: boolean;
}

/** Makes the VM of the manifest with its disk, or brings what is there to it. Run again, it goes on where it stopped. */
export async function createEnv(request: CreateRequest, tools: EnvTools): Promise<void> {
  const { ui, clock } = tools;
  const workspace = workspaceOf(request.manifestPath, request.statePath);
  ui.line(`Deployment manifest: '${shownPath(request.manifestPath)}'`);
  ui.line(`Deployment state: '${workspace.stateFile}'`);
  ui.line("");
  await withStateLock(workspace, tools, async () => {
    const { manifestPath: path, document: value } = request;
    const { manifestDir: dir } = workspace;
    const validated = await stagesOn(ui, clock).stage("validating", async (stages) => {
      const manifest = await stages.step("Validating deployment manifest", async () =>
        withBus(readEnvManifest({ path, dir, value })),
      );
      await prepareTemporary(workspace);
      const around = surroundingsOf(workspace, tools);
      const releases = await openReleases(manifest.releases, around, stages);
      const file = await fetchArchive("stemcell", manifest.stemcell, around, stages);
      return { manifest, releases, unpacked: await unpack(file, around, stages) };
    });
    const store =
      (await EnvStore.open(workspace.stateFile, tools.random)) ??
      (await EnvStore.create(workspace.stateFile, tools.random));
    const { name, cloudProvider } = validated.manifest;
    await withCpi(
      { name, cloudProvider, releases: validated.releases },
      workspace,
      tools,
      async (provider, rendering) => {
        const manifest = { ...validated.manifest, cloudProvider: provider };
        const { unpacked, releases } = validated;
        // Templates of a deployment that stays as it is are not rendered.
        const upToDate =
          isUpToDate(manifest, request, store, unpacked.stemcell) && sameReleases(releases, store);
        const jobs = upToDate ? undefined : await plannedJobs(manifest, releases, rendering, tools);
        const work = (session: EnvSession) =>
          upToDate ? leaveAsIs(session, ui) : bring({ ...validated, manifest }, request, session, tools);
        await withSession(workspace, store, manifest, tools, work, jobs);
      },
    );
  });
}

/** Renders templates before a VM is touched: a mistake in one must not cost the operator the VM. */
async function plannedJobs(
  manifest: EnvManifest,
  releases: Releases,
  rendering: RenderTools,
  { ui, clock, random }: EnvTools,
): Promise<JobsToRun | undefined> {
  if (manifest.jobs.length === 0) return undefined;
  const plan = await stagesOn(ui, clock).step("Rendering job templates", () =>
    planJobs(manifest, releases, rendering),
  );
  return jobsToRun(plan, stagesOn(ui, clock, "  "), random);
}

const shownPath = (path: string): string => (path === "-" ? "-" : resolve(path));

/** With what the agent must know to be reached in its env, where changes of it are seen. */
const withBus = (manifest: EnvManifest): EnvManifest => {
  const { cloudProvider, env, networks } = manifest;
  return { ...manifest, env: envWithBus(busOf(cloudProvider, env), cloudProvider, env, networks) };
};

/** Returns the digest of the whole manifest, whatever the order of its keys. Other programs compute another digest. */
const manifestSha = (document: unknown): string =>
  createHash("sha512").update(fingerprint(document)).digest("hex");

interface Validated {
  readonly manifest: EnvManifest;
  readonly releases: Releases;
  readonly unpacked: UnpackedStemcell;
}

async function leaveAsIs(session: EnvSession, ui: Ui): Promise<void> {
  // The machine may have been restarted, and the registry with it.
  if (usesRegistry(session.store)) await session.registry.start();
  ui.line("No deployment, stemcell or release changes. Skipping deploy.");
  ui.line("");
  await tellSilent(session, ui);
}

async function bring(
  { manifest, releases, unpacked }: Validated,
  request: CreateRequest,
  session: EnvSession,
  { ui, random }: EnvTools,
): Promise<void> {
  const { store, stages, registry, context } = session;
  await settle(session);
  const { operatingSystem } = unpacked.stemcell;
  await settleStemcells(store, context, stages);
  const stemcell = await uploadStemcell(unpacked, store, context, stages);
  ui.line("");
  await stages.stage("deploying", async (inner) => {
    await beginAttempt(manifest, request, store);
    const desired = desiredInstance(manifest, stemcell, operatingSystem);
    await deploy(desired, manifest, request, session, inner);
  });
  await deleteUnusedStemcells(session, stages, "Deleting unused stemcell");
  if (!usesRegistry(store) && registry.running) await stages.step("Stopping registry", () => registry.end());
  await store.update((draft) => {
    draft.current_manifest_sha = manifestSha(request.document);
    draft.releases = loaded(releases).map(({ name, version }) => ({ id: random.uuid(), name, version }));
    draft.current_release_ids = draft.releases.map(({ id }) => id);
    draft.slipway.attempt = null;
  });
  printStrays(store, ui);
}

const usesRegistry = (store: EnvStore): boolean =>
  store.instanceNow?.vms.some(({ channel }) => channel === "registry") === true;

/** Upstream's rule; an unfinished run is never up to date. */
function isUpToDate(
  { persistentDisk }: EnvManifest,
  request: CreateRequest,
  store: EnvStore,
  stemcell: { readonly name: string; readonly version: string },
): boolean {
  const { document, instanceNow: instance } = store;
  const current = document.stemcells?.find(({ id }) => id === document.current_stemcell_id);
  const withDisk = persistentDisk === null || document.current_disk_id !== "";
  return (
    !request.recreate &&
    !request.recreateDisks &&
    document.current_manifest_sha === manifestSha(request.document) &&
    current?.name === stemcell.name &&
    current.version === stemcell.version &&
    document.slipway.intents.length === 0 &&
    document.slipway.unusedDisks.length === 0 &&
    instance?.updateCompleted === true &&
    instance.vms.length === 1 &&
    withDisk
  );
}

const releaseNames = (releases: Iterable<{ readonly name: string; readonly version: string }>): string =>
  JSON.stringify([...releases].map(({ name, version }) => [name, version]).sort());

const loaded = (releases: Releases) => [...releases.values()].map(({ release }) => release);

const sameReleases = (releases: Releases, { document }: EnvStore): boolean =>
  releaseNames(loaded(releases)) === releaseNames(document.releases ?? []);

/** Starts an attempt, to which everything made from here on belongs. Continues the previous one if it wanted the same. */
async function beginAttempt(manifest: EnvManifest, request: CreateRequest, store: EnvStore): Promise<void> {
  const digest = manifestSha([request.document, manifest.stemcell]);
  const before = store.document.slipway.attempt;
  const goesOn =
    before !== null &&
    before.digest === digest &&
    (before.recreate || !request.recreate) &&
    (before.renewDisks || !request.recreateDisks);
  await store.update((draft) => {
    const own = draft.slipway;
    draft.current_manifest_sha = "";
    draft.current_release_ids = [];
    draft.releases = [];
    own.instance ??= { group: manifest.group, updateCompleted: false, spec: null, vms: [], disks: [] };
    own.instance.group = manifest.group;
    own.instance.updateCompleted = false;
    if (!goesOn)
      own.attempt = {
        digest,
        firstId: own.nextId,
        recreate: request.recreate,
        renewDisks: request.recreateDisks,
      };
  });
}

async function deploy(
  desired: ReturnType<typeof desiredInstance>,
  manifest: EnvManifest,
  request: CreateRequest,
  session: EnvSession,
  stages: Stages,
): Promise<void> {
  const { store, context } = session;
  const agent = await askOldAgent(session, stages);
  const recorded = store.instanceNow;
  const { attempt } = store.document.slipway;
  if (recorded === undefined || attempt === null) throw new Error("bug: the attempt was not begun");
  const plan = planEnv({
    recorded,
    desired,
    agent,
    attempt,
    skipDrain: request.skipDrain,
    recreate: request.recreate,
  });
  const about = { stemcell: desired.stemcell.cid, machine: session.machine };
  await printSteps(stages, about, (progress) =>
    runInstance({ uuid: INSTANCE, plan, watchMs: manifest.watchMs, progress }, context),
  );
  const unused = (store.instanceNow?.disks ?? []).filter((disk) => !disk.active && disk.attachedTo === null);
  if (unused.length > 0)
    await changeInstance(INSTANCE, context, (writes) => {
      for (const disk of unused) writes.orphanDisk(disk.cid);
    });
  await deleteUnusedDisks(session, stages, "Deleting unused disk");
}

/** Limit for an agent to answer. A busy machine delays the answer of a healthy one for seconds. */
const ANSWER_MS = 10_000;

/** Warns if the agent of an unchanged VM does not answer. Upstream's rule leaves such a VM alone. */
export async function tellSilent({ store, context, machine }: EnvSession, ui: Ui): Promise<void> {
  const vm = store.instanceNow && activeVm(store.instanceNow);
  if (vm === undefined) return;
  const { signal } = context;
  try {
    await context.agents.agent(vm).waitUntilReady({ withinMs: ANSWER_MS, signal });
  } catch (error) {
    signal.throwIfAborted();
    context.debug(`the agent on ${vm.cid}: ${messageTrail(error)}`);
    ui.note(
      `The agent on ${machine} '${vm.cid}' does not answer. --recreate makes a new ${machine} in its place, with the same disk.`,
    );
  }
}
