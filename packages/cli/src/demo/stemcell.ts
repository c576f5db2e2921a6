import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { DirectorApi } from "../api/director-api.ts";
import { NoSuchFile } from "../commands/errors.ts";
import { listStemcells } from "../uploads/stemcell-wire.ts";
import { carryOut } from "./follow.ts";
import type { DemoStemcell, StemcellName } from "./stage.ts";

/** A user's own. Read before anything is started. */
export async function givenStemcell(file: string): Promise<DemoStemcell> {
  await access(file).catch((cause: unknown) => {
    throw NoSuchFile({ path: file }, { cause });
  });
  const { stemcellName } = await import("../uploads/stemcell-name.ts");
  const named = await stemcellName(file);
  return {
    doing: "Uploading the stemcell",
    about: `yours, of ${file}`,
    id: async () => named,
    archive: async () => ({ path: resolve(file), done: async () => undefined }),
  };
}

/** Uploaded unless it is there. */
export async function ensureStemcell(
  api: DirectorApi,
  dir: string,
  stemcell: DemoStemcell,
  tell: (text: string) => void,
): Promise<StemcellName> {
  const named = await stemcell.id();
  const known = await listStemcells(api);
  if (known.some(({ name, version }) => name === named.name && version === named.version)) return named;
  const { path, done } = await stemcell.archive(dir);
  try {
    const body = createReadStream(path);
    const contentType = "application/x-compressed";
    await carryOut(api, { method: "POST", path: "/stemcells", body, contentType }, tell);
  } finally {
    await done();
  }
  return named;
}
