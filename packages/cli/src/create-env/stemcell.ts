import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/flows/calls";
import type { IntentRecord } from "@slipway/engine/flows/journal";
import { strayOf } from "@slipway/engine/flows/settle-create";
import type { FlowContext } from "@slipway/engine/flows/step";
import { type UnpackedStemcell, unpackStemcell } from "@slipway/engine/stemcells/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { downloadStemcell } from "@slipway/engine/stemcells/download";
import { planUpload } from "@slipway/engine/stemcells/plan-upload";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { RequestId, StemcellCid } from "@slipway/protocol/ids";
import { StemcellMissing } from "./errors.ts";
import type { EnvManifest } from "./manifest/model.ts";
import type { Stages } from "./stages.ts";
import type { StemcellEntry } from "./state/document.ts";
import type { EnvStore } from "./state/store.ts";
import type { Workspace } from "./workspace.ts";

export interface Surroundings {
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The archive as a local file: where the manifest says, or fetched and checked once. */
export async function fetchStemcell(
  { url, sha1 }: EnvManifest["stemcell"],
  { workspace, clock, signal }: Surroundings,
  stages: Stages,
): Promise<string> {
  if (url.startsWith("file:")) {
    const path = fileURLToPath(url);
    if (!existsSync(path)) throw StemcellMissing({ path });
    return path;
  }
  const key = createHash("sha1").update(url).digest("hex");
  const kept = join(workspace.downloads, `${key}-${(sha1 ?? "").replace(/[^\w]/g, "_")}.tgz`);
  if (existsSync(kept)) {
    stages.skipped("Downloading stemcell", "Found in local cache");
    return kept;
  }
  await mkdir(workspace.downloads, { recursive: true, mode: 0o700 });
  const partial = join(workspace.temporary, "stemcell.tgz");
  await stages.step("Downloading stemcell", async () => {
    await downloadStemcell(url, partial, { clock, signal });
    if (sha1 !== undefined) await verifyDigest(partial, sha1);
    await rename(partial, kept);
  });
  return kept;
}

/** Into a directory that is removed with all that is temporary. */
export async function unpack(
  file: string,
  { workspace, signal }: Surroundings,
  stages: Stages,
): Promise<UnpackedStemcell> {
  const dir = await mkdtemp(join(workspace.temporary, "stemcell-"));
  return await stages.step("Validating stemcell", () => unpackStemcell(file, dir, { signal }));
}

export const scopeOf = (name: string, version: string): string => `stemcell ${name}/${version}`;

/** In the cloud, under the cid that is recorded: made now unless it is there. `url`: where it is from. */
export async function uploadStemcell(
  { stemcell, imagePath }: UnpackedStemcell,
  url: string,
  store: EnvStore,
  context: FlowContext,
  stages: Stages,
): Promise<StemcellEntry> {
  const { name, version, apiVersion } = stemcell;
  const words = `Uploading stemcell '${name}/${version}'`;
  const there = store.document.stemcells?.find((one) => one.name === name && one.version === version);
  if (there !== undefined) {
    stages.skipped(words, "Stemcell already uploaded");
    return there;
  }
  const cloud = context.clouds.cloud("");
  const { stemcellFormats, repeatable } = await cloud.info({ signal: context.signal, log: context.cpiLog });
  planUpload(stemcell.formats, [{ name: "", formats: stemcellFormats }], [], false);
  return await stages.step(words, async () => {
    const requestId = await requestFor(scopeOf(name, version), url, repeatable, store, context);
    const cid = await cloud
      .createStemcell(imagePath, stemcell.cloudProperties, {}, { ...optionsOf(context), requestId })
      .catch(async (error: unknown) => {
        // Nobody knows what became of a lost call: it is asked for again under the same id.
        if (!(error instanceof CpiLost) && !context.signal.aborted)
          await forget(scopeOf(name, version), store);
        throw error;
      });
    return await remember({ name, version, apiVersion, cid }, store, context);
  });
}

/** The id of a call that was begun and whose end nobody saw, if the CPI knows it again. */
async function requestFor(
  scope: string,
  url: string,
  repeatable: boolean,
  store: EnvStore,
  context: FlowContext,
): Promise<RequestId> {
  const before = (await store.openIntents(scope)).find(({ instance }) => instance === null);
  if (before !== undefined) {
    const requestId = before.intent.requestId as RequestId;
    if (repeatable) return requestId;
    await giveUp(before, scope, store);
  }
  const requestId = newRequestId(context);
  await store.open({
    taskId: 0,
    deployment: scope,
    instance: null,
    step: "create_stemcell",
    intent: { requestId, url },
  });
  return requestId;
}

const giveUp = (begun: Pick<IntentRecord, "id" | "intent">, scope: string, store: EnvStore): Promise<void> =>
  store.close(begun.id, "stray", (writes) =>
    writes.addStray(strayOf("stemcell", scope, { cpi: "", requestId: begun.intent.requestId as RequestId })),
  );

/**
 * Uploads that were begun, whose end nobody saw and that nobody will ask for again: they are asked for once more, so
 * that what may be in the cloud is recorded and can be deleted.
 */
export async function settleStemcells(
  except: string | undefined,
  store: EnvStore,
  context: FlowContext,
  around: Surroundings,
  stages: Stages,
): Promise<void> {
  const begun = store.document.slipway.intents.filter(
    ({ instance, scope }) => instance === null && scope !== except,
  );
  for (const intent of begun) {
    const { repeatable } = await context.clouds.cloud("").info(optionsOf(context));
    try {
      const url = String(intent.intent.url);
      if (!repeatable || !url.startsWith("file:")) throw new Error("it cannot be asked for again");
      const unpacked = await unpack(fileURLToPath(url), around, stages);
      const { name, version } = unpacked.stemcell;
      if (scopeOf(name, version) !== intent.scope) throw new Error("the file is another one by now");
      await uploadStemcell(unpacked, url, store, context, stages);
    } catch (error) {
      context.signal.throwIfAborted();
      context.debug(`${intent.scope}: ${messageTrail(error)}`);
      await giveUp(intent, intent.scope, store);
    }
  }
}

async function forget(scope: string, store: EnvStore): Promise<void> {
  for (const { id, instance } of await store.openIntents(scope))
    if (instance === null) await store.close(id, "failed");
}

async function remember(
  made: {
    readonly name: string;
    readonly version: string;
    readonly apiVersion: number;
    readonly cid: StemcellCid;
  },
  store: EnvStore,
  { random }: FlowContext,
): Promise<StemcellEntry> {
  const { name, version, apiVersion, cid } = made;
  const entry: StemcellEntry = { id: random.uuid(), name, version, api_version: apiVersion, cid };
  const scope = scopeOf(name, version);
  await store.update((draft) => {
    draft.stemcells = [...(draft.stemcells ?? []), entry];
    draft.slipway.intents = draft.slipway.intents.filter(
      (one) => one.instance !== null || one.scope !== scope,
    );
  });
  return entry;
}

export const optionsOf = (context: FlowContext) => ({ signal: context.signal, log: context.cpiLog });
