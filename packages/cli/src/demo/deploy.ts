import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { storedManifest } from "@slipway/protocol/director/deployment";
import { listDeployments } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import type { Tools } from "../tools.ts";
import { DEPLOYMENT, isOurs, manifestOf } from "./documents.ts";
import { NotTheDemos } from "./errors.ts";
import { carryOut } from "./follow.ts";
import type { StemcellName } from "./stage.ts";

/** Deploys the demo; one that is as it should be stays as it is. */
export async function deployDemo(
  api: DirectorApi,
  dir: string,
  stemcell: StemcellName,
  { home }: Pick<Tools, "home">,
  tell: (text: string) => void,
): Promise<void> {
  if ((await listDeployments(api)).some(({ name }) => name === DEPLOYMENT)) {
    const { manifest } = await api.json(
      { method: "GET", path: `/deployments/${DEPLOYMENT}` },
      storedManifest,
    );
    if (!isOurs(manifest ?? ""))
      throw NotTheDemos({ what: `a deployment named ${DEPLOYMENT}`, home: home.dir });
  }
  const body = manifestOf(stemcell);
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
  await carryOut(api, request, tell);
}
