import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { storedManifest } from "@slipway/protocol/director/deployment";
import { listDeployments } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import type { StemcellName } from "../cpis/descriptor.ts";
import type { Tools } from "../tools.ts";
import { DEPLOYMENT, isOurs, manifestOf } from "./documents.ts";
import { NotTheDemos } from "./errors.ts";
import { carryOut } from "./follow.ts";

/** Deploys the demo; one that is as it should be stays as it is. Whether packages had to be compiled. */
export async function deployDemo(
  api: DirectorApi,
  dir: string,
  { stemcell, release }: { readonly stemcell: StemcellName; readonly release: { readonly name: string } },
  { home, programs }: Pick<Tools, "home" | "programs">,
  tell: (text: string) => void,
): Promise<{ readonly compiled: boolean }> {
  const found = (await listDeployments(api)).find(({ name }) => name === DEPLOYMENT);
  // With its release it is the demo, as somebody has deployed it again.
  if (found !== undefined && !(found.releases ?? []).some(({ name }) => name === release.name)) {
    const { manifest } = await api.json(
      { method: "GET", path: `/deployments/${DEPLOYMENT}` },
      storedManifest,
    );
    if (!isOurs(manifest ?? ""))
      throw NotTheDemos({ what: `a deployment named ${DEPLOYMENT}`, home: home.dir });
  }
  const body = manifestOf(await readFile(programs.demo.manifest, "utf8"), stemcell);
  await writeFileAtomic(join(dir, "demo.yml"), body);
  // A VM that somebody has ended is replaced; its disk is kept.
  const query = { fix: "true" };
  const request = {
    method: "POST",
    path: "/deployments",
    query,
    body,
    contentType: "text/yaml",
  } as const;
  let compiled = false;
  await carryOut(api, request, (text) => {
    compiled ||= text === "compiling packages";
    tell(text);
  });
  return { compiled };
}
