import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DirectorApi } from "../api/director-api.ts";
import { buildLocalStemcell, LOCAL_STEMCELL } from "../stemcells/build-local.ts";
import type { Tools } from "../tools.ts";
import { listStemcells } from "../uploads/stemcell-wire.ts";
import { carryOut } from "./follow.ts";

/** The built-in stemcell, uploaded unless it is there. */
export async function ensureStemcell(
  api: DirectorApi,
  dir: string,
  { clock }: Pick<Tools, "clock">,
  tell: (text: string) => void,
): Promise<void> {
  const { name, version } = LOCAL_STEMCELL;
  const known = await listStemcells(api);
  if (known.some((one) => one.name === name && one.version === version)) return;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const to = join(dir, `${name}-${version}.tgz`);
  await buildLocalStemcell({ to, clock });
  const body = createReadStream(to);
  await carryOut(
    api,
    { method: "POST", path: "/stemcells", body, contentType: "application/x-compressed" },
    tell,
  );
}
