import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { downloadArchive } from "@slipway/engine/stemcells/download";
import type { Clock } from "@slipway/kernel/clock";
import { type ProxySettings, proxiesIn } from "@slipway/kernel/http/proxy";
import type { MakeWire } from "@slipway/kernel/http/wire";
import type { Tools } from "../tools.ts";
import { ArchiveMissing } from "./errors.ts";
import type { ArchiveUrl } from "./manifest/model.ts";
import type { Stages } from "./stages.ts";
import type { Workspace } from "./workspace.ts";

export interface ArchiveTools {
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly proxy: ProxySettings;
  /** Before `proxy`. */
  readonly wire: MakeWire | undefined;
}

export const surroundingsOf = (
  workspace: Workspace,
  { clock, stop, env, proxy }: Pick<Tools, "clock" | "stop" | "env" | "proxy">,
): ArchiveTools => ({ workspace, clock, signal: stop, proxy: proxiesIn(env), wire: proxy.wire() });

/** A stemcell's or release's archive as a local file: where the manifest says, or fetched and checked once. */
export async function fetchArchive(
  what: string,
  { url, sha1 }: ArchiveUrl,
  { workspace, clock, signal, proxy, wire }: ArchiveTools,
  stages: Stages,
): Promise<string> {
  if (url.startsWith("file:")) {
    const path = fileURLToPath(url);
    if (!existsSync(path)) throw ArchiveMissing({ what, path });
    return path;
  }
  const key = createHash("sha1").update(url).digest("hex");
  const kept = join(workspace.downloads, `${key}-${(sha1 ?? "").replace(/[^\w]/g, "_")}.tgz`);
  if (existsSync(kept)) {
    stages.skipped(`Downloading ${what}`, "Found in local cache");
    return kept;
  }
  await mkdir(workspace.downloads, { recursive: true, mode: 0o700 });
  const partial = join(workspace.temporary, "download.tgz");
  await stages.step(`Downloading ${what}`, async () => {
    await downloadArchive(url, partial, { what, clock, signal, proxy, wire });
    if (sha1 !== undefined) await verifyDigest(partial, sha1, what);
    await rename(partial, kept);
  });
  return kept;
}
