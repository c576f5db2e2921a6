import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runOther } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { stemcellsByCpiName } from "@slipway/engine/journal/cpi-names";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { downloadArchive } from "@slipway/engine/stemcells/download";
import { planUpload } from "@slipway/engine/stemcells/plan-upload";
import { stemcellScope } from "@slipway/engine/steps/create_stemcell";
import { updateStemcellParams } from "@slipway/protocol/director/task-params";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { Stemcell } from "@slipway/protocol/stemcell/stemcell-mf";
import { latestConfig } from "../store/configs.ts";
import { listStemcells, noteUpload } from "../store/stemcells.ts";
import type { Stage, TaskContext } from "../tasks/task.ts";
import { deleteUploadedStemcell } from "./delete-uploaded-stemcell.ts";
import { flowContext, type OperationContext, operation } from "./operation.ts";

const LOCK_MS = 900_000;

/** A stemcell from a file that was uploaded, or from an address, into every CPI that takes it. */
export const updateStemcell = operation(updateStemcellParams, async (params, task, tools) => {
  const remote = "location" in params ? (params.sha1 === undefined ? 1 : 2) : 0;
  const stage = task.stage("Update stemcell", [], remote + 2 + tools.clouds.names.length * 3);
  // Not before: a task that is taken up again after a crash needs the file once more.
  if ("path" in params) task.atEnd(() => rm(params.path, { force: true }));
  const dir = join(tools.uploadsDir, `unpacked-${task.id}`);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    const file = "path" in params ? params.path : await fetched(params, dir, stage, task, tools);
    const { stemcell, imagePath } = await stage.step("Extracting stemcell archive", () =>
      unpackStemcell(file, dir, { signal: task.signal }),
    );
    await stage.step("Verifying stemcell manifest", () => Promise.resolve());
    return await intoClouds({ stemcell, imagePath, fix: params.fix }, stage, task, tools);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

async function fetched(
  { location, sha1 }: { readonly location: string; readonly sha1?: string | undefined },
  dir: string,
  stage: Stage,
  task: TaskContext,
  tools: OperationContext,
): Promise<string> {
  const file = join(dir, "stemcell.tgz");
  await stage.step("Downloading remote stemcell", () =>
    downloadArchive(location, file, { clock: tools.clock, signal: task.signal, proxy: tools.proxy?.() }),
  );
  if (sha1 !== undefined) await stage.step("Verifying remote stemcell", () => verifyDigest(file, sha1));
  return file;
}

interface Upload {
  readonly stemcell: Stemcell;
  readonly imagePath: string;
  readonly fix: boolean;
}

async function intoClouds(
  upload: Upload,
  stage: Stage,
  task: TaskContext,
  tools: OperationContext,
): Promise<string> {
  const { name, version } = upload.stemcell;
  return await task.withLock(`lock:stemcells:${name}:${version}`, LOCK_MS, async () => {
    const clouds = await Promise.all(
      tools.clouds.names.map(async (cpi) => {
        const { stemcellFormats } = await tools.clouds.cloud(cpi).info({ signal: task.signal });
        return { name: cpi, formats: stemcellFormats };
      }),
    );
    const there = (await listStemcells(tools.db, { name, version })).map(({ cpi }) =>
      tools.clouds.nameOf(cpi),
    );
    for (const { cpi, what } of planUpload(upload.stemcell.formats, clouds, there, upload.fix)) {
      if (what !== "unsupported") await intoCloud(cpi, upload, stage, task, tools);
      await task.write((db) => noteUpload(db, { name, version, cpi }));
    }
    return `/stemcells/${name}/${version}`;
  });
}

/** Uploads a stemcell to a CPI, with upstream's stages, also if the CPI has it already. */
async function intoCloud(
  cpi: string,
  { stemcell, imagePath, fix }: Upload,
  stage: Stage,
  task: TaskContext,
  tools: OperationContext,
): Promise<void> {
  const { name, version } = stemcell;
  const of = cpi === "" ? "" : ` (cpi: ${cpi})`;
  const context = flowContext(tools, task, "");
  const scope = stemcellScope(name, version, cpi);
  // A task that was interrupted asks with the same request id: a CPI that remembers it makes no second image.
  await settleOpenIntents(context, { scope });
  // A deletion whose outcome is unknown is completed first: what is left of the stemcell cannot be relied on.
  for (const row of await listStemcells(tools.db, { name, version }))
    if (row.claim !== undefined && tools.clouds.nameOf(row.cpi) === cpi)
      await deleteUploadedStemcell(row, false, task, tools);
  const there = await recorded(tools, name, version, cpi);
  await stage.step(`Checking if this stemcell already exists${of}`, () => Promise.resolve());
  const skipped =
    there !== undefined && (!fix || there.taskId === task.id) ? " (already exists, skipped)" : "";
  await stage.step(`Uploading stemcell ${name}/${version} to the cloud${of}${skipped}`, async () => {
    if (skipped !== "") return;
    const tags = await runtimeTags(tools);
    await runOther("create_stemcell", { stemcell, imagePath, cpi, tags }, context, scope);
  });
  const made = await recorded(tools, name, version, cpi);
  await stage.step(`Save stemcell ${name}/${version} (${made?.cid})${of}${skipped}`, () => Promise.resolve());
}

/** Finds the recorded stemcell, under the CPI's own name before its earlier names. */
async function recorded({ db, clouds }: OperationContext, name: string, version: string, cpi: string) {
  const rows = await listStemcells(db, { name, version });
  return stemcellsByCpiName(rows, (one) => clouds.nameOf(one)).find((row) => row.cpi === cpi);
}

/** Tags of the runtime config `default`; CPIs of version 3 label the image with them. */
async function runtimeTags({ db, documents }: OperationContext): Promise<JsonObject> {
  const config = await latestConfig(db, "runtime", "default");
  const what = "the runtime config 'default'";
  const document = config === undefined ? {} : await documents.ask("value", { text: config.content, what });
  const tags = isObject(document) ? document.tags : undefined;
  return isObject(tags) ? (tags as JsonObject) : {};
}
