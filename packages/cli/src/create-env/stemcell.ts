import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runOther } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { type UnpackedStemcell, unpackStemcell } from "@slipway/engine/stemcells/archive";
import { planUpload } from "@slipway/engine/stemcells/plan-upload";
import type { FlowContext } from "@slipway/engine/steps/context";
import { stemcellScope } from "@slipway/engine/steps/create_stemcell";
import type { ArchiveTools } from "./archive.ts";
import type { Stages } from "./stages.ts";
import type { StemcellEntry } from "./state/document.ts";
import type { EnvStore } from "./state/store.ts";

/** Into a directory that is removed with all that is temporary. */
export async function unpack(
  file: string,
  { workspace, signal }: ArchiveTools,
  stages: Stages,
): Promise<UnpackedStemcell> {
  // Always the same, so that an upload that was interrupted finds its image where it was.
  const dir = join(workspace.temporary, "stemcell");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return await stages.step("Validating stemcell", () => unpackStemcell(file, dir, { signal }));
}

/** In the cloud, under the cid that is recorded: made now unless it is there. */
export async function uploadStemcell(
  { stemcell, imagePath }: UnpackedStemcell,
  store: EnvStore,
  context: FlowContext,
  stages: Stages,
): Promise<StemcellEntry> {
  const { name, version } = stemcell;
  const words = `Uploading stemcell '${name}/${version}'`;
  const recorded = () =>
    store.document.stemcells?.find((one) => one.name === name && one.version === version);
  const there = recorded();
  if (there !== undefined) {
    stages.skipped(words, "Stemcell already uploaded");
    return there;
  }
  const cloud = context.clouds.cloud("");
  const { stemcellFormats } = await cloud.info({ signal: context.signal, log: context.cpiLog });
  planUpload(stemcell.formats, [{ name: "", formats: stemcellFormats }], [], false);
  return await stages.step(words, async () => {
    const scope = stemcellScope(name, version, "");
    await runOther("create_stemcell", { stemcell, imagePath, cpi: "", tags: {} }, context, scope);
    const made = recorded();
    if (made === undefined) throw new Error("bug: the stemcell was made and is not recorded");
    return made;
  });
}

/**
 * Settles uploads whose end was not recorded: a CPI that remembers them says what it made, so that it is recorded and can be
 * used or deleted.
 */
export async function settleStemcells(store: EnvStore, context: FlowContext, stages: Stages): Promise<void> {
  const scopes = new Set(
    store.document.slipway.intents.flatMap(({ instance, scope }) => (instance === null ? [scope] : [])),
  );
  for (const scope of scopes)
    await stages.step(`Finding out what became of the upload of ${scope.trim()}`, () =>
      settleOpenIntents(context, { scope }),
    );
}
