import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { newRequestId } from "@slipway/engine/flows/calls";
import { parseYaml } from "@slipway/engine/manifest/yaml";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { downloadStemcell } from "@slipway/engine/stemcells/download";
import { planUpload } from "@slipway/engine/stemcells/plan-upload";
import { updateStemcellParams } from "@slipway/protocol/director/task-params";
import type { StemcellCid } from "@slipway/protocol/ids";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { Stemcell } from "@slipway/protocol/stemcell/stemcell-mf";
import { latestConfig } from "../store/configs.ts";
import { listStemcells, noteUpload, saveStemcell } from "../store/stemcells.ts";
import type { Stage, TaskContext } from "../tasks/task.ts";
import { operation, type Workshop } from "./operation.ts";
import { lastRequest, rememberRequest } from "./stemcell-requests.ts";

const LOCK_MS = 900_000;

/** A stemcell from a file that was uploaded, or from an address, into every CPI that takes it. */
export const updateStemcell = operation(updateStemcellParams, async (params, task, shop) => {
  const stage = task.stage("Update stemcell", [], 5);
  const dir = join(shop.uploadsDir, `unpacked-${task.id}`);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    const file = "path" in params ? params.path : await fetched(params, dir, stage, task, shop);
    const { stemcell, imagePath } = await stage.step("Extracting stemcell archive", () =>
      unpackStemcell(file, dir, { signal: task.signal }),
    );
    await stage.step("Verifying stemcell manifest", () => Promise.resolve());
    const result = await intoClouds({ stemcell, imagePath, fix: params.fix }, stage, task, shop);
    // Only now: a task that is taken up again after a crash needs the file once more.
    if ("path" in params) await rm(params.path, { force: true });
    return result;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

async function fetched(
  { location, sha1 }: { readonly location: string; readonly sha1?: string | undefined },
  dir: string,
  stage: Stage,
  task: TaskContext,
  shop: Workshop,
): Promise<string> {
  const file = join(dir, "stemcell.tgz");
  await stage.step("Downloading remote stemcell", () =>
    downloadStemcell(location, file, { clock: shop.clock, signal: task.signal }),
  );
  if (sha1 !== undefined) await stage.step("Verifying remote stemcell", () => verifyDigest(file, sha1));
  return file;
}

interface Upload {
  readonly stemcell: Stemcell;
  readonly imagePath: string;
  readonly fix: boolean;
}

async function intoClouds(upload: Upload, stage: Stage, task: TaskContext, shop: Workshop): Promise<string> {
  const { name, version } = upload.stemcell;
  return await task.withLock(`lock:stemcells:${name}:${version}`, LOCK_MS, async () => {
    const clouds = await Promise.all(
      shop.clouds.names.map(async (cpi) => {
        const { stemcellFormats } = await shop.clouds.cloud(cpi).info({ signal: task.signal });
        return { name: cpi, formats: stemcellFormats };
      }),
    );
    const there = (await listStemcells(shop.db, { name, version })).map(({ cpi }) => cpi);
    for (const { cpi, what } of planUpload(upload.stemcell.formats, clouds, there, upload.fix)) {
      if (what === "create") await intoCloud(cpi, upload, stage, task, shop);
      await noteUpload(shop.db, { name, version, cpi });
    }
    return `/stemcells/${name}/${version}`;
  });
}

async function intoCloud(
  cpi: string,
  { stemcell, imagePath }: Upload,
  stage: Stage,
  task: TaskContext,
  shop: Workshop,
): Promise<void> {
  const { name, version } = stemcell;
  const of = cpi === "" ? "" : ` (cpi: ${cpi})`;
  const cid = await stage.step(`Uploading stemcell ${name}/${version} to the cloud${of}`, async () =>
    create(cpi, stemcell, imagePath, task, shop),
  );
  await stage.step(`Save stemcell ${name}/${version} (${cid})${of}`, async () => {
    await saveStemcell(shop.db, {
      name,
      version,
      operatingSystem: stemcell.operatingSystem,
      cid,
      digest: stemcell.digest,
      cpi,
      apiVersion: stemcell.apiVersion,
    });
  });
}

/** Tags of the runtime config `default`; CPIs of version 3 label the image with them. */
async function runtimeTags({ db }: Workshop): Promise<JsonObject> {
  const config = await latestConfig(db, "runtime", "default");
  const document = config === undefined ? {} : parseYaml(config.content, "the runtime config 'default'");
  const tags = isObject(document) ? document.tags : undefined;
  return isObject(tags) ? (tags as JsonObject) : {};
}

/** A task that was interrupted asks with the same request id: a CPI that remembers it makes no second image. */
async function create(
  cpi: string,
  stemcell: Stemcell,
  imagePath: string,
  task: TaskContext,
  shop: Workshop,
): Promise<StemcellCid> {
  const scope = `stemcell ${stemcell.name}/${stemcell.version} ${cpi}`;
  const { repeatable } = await shop.clouds.cloud(cpi).info({ signal: task.signal });
  const before = await lastRequest(shop, scope);
  if (before !== undefined && !repeatable) await rememberRequest(shop, scope, "stray", before);
  const intent =
    before !== undefined && repeatable
      ? before
      : await shop.journal.open({
          taskId: task.id,
          deployment: scope,
          instance: null,
          step: "create_stemcell",
          intent: { requestId: newRequestId(shop), cpi, about: scope },
        });
  const cid = await shop.clouds
    .cloud(cpi)
    .createStemcell(imagePath, stemcell.cloudProperties, await runtimeTags(shop), {
      requestId: intent.intent.requestId as never,
      signal: task.signal,
      log: (text) => task.cpi(text),
    })
    .catch(async (error: unknown) => {
      await rememberRequest(shop, scope, "failed", intent, error);
      throw error;
    });
  await shop.journal.close(intent.id, "done");
  return cid;
}
