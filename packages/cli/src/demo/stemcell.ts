import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { DirectorApi } from "../api/director-api.ts";
import type { DemoStemcell, Stage, StemcellName } from "../cpis/descriptor.ts";
import { NoSuchFile } from "../uploads/errors.ts";
import { listStemcells } from "../uploads/list-stemcells.ts";
import { carryOut } from "./follow.ts";

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

/** Uploaded unless it is there, for the Director and for its cloud. */
export async function ensureStemcell(
  api: DirectorApi,
  dir: string,
  { stemcell, hasStemcell }: Pick<Stage, "stemcell" | "hasStemcell">,
  tell: (text: string) => void,
): Promise<StemcellName> {
  const named = await stemcell.id();
  const known = (await listStemcells(api)).find(
    ({ name, version }) => name === named.name && version === named.version,
  );
  if (known !== undefined && (await hasStemcell(known.cid ?? ""))) return named;
  // What the Director knows and its cloud no longer has is made again.
  const query = known === undefined ? {} : { fix: "true" };
  const { path, done } = await stemcell.archive(dir);
  try {
    const body = createReadStream(path);
    const contentType = "application/x-compressed";
    await carryOut(api, { method: "POST", path: "/stemcells", query, body, contentType }, tell);
  } finally {
    await done();
  }
  return named;
}
