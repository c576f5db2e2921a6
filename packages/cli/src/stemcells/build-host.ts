import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { hostRoot, hostRootId } from "@slipway/cpi-docker/stemcells/host-root";
import { fileDigest } from "@slipway/engine/stemcells/digest";
import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { BuiltStemcell } from "./build-local.ts";
import { dockerManifest } from "./docker-manifest.ts";
import { withWorkDir } from "./work-dir.ts";
import { writeArchive } from "./write-archive.ts";

/** Default name of the stemcell; a manifest asks for it by `os`. */
export const HOST_STEMCELL = { name: "slipway-docker-host", os: "slipway-host", apiVersion: 3 } as const;

export interface HostStemcellOrder {
  /** The .tgz; what is there is replaced. */
  readonly to: string;
  /** The agent's bundle. */
  readonly agent: string;
  /** The Node.js that runs it; this process's when left out. */
  readonly node?: string;
  readonly name?: string | undefined;
  /** Defaults to the version of `hostStemcellId`. */
  readonly version?: string | undefined;
  readonly apiVersion?: number | undefined;
  readonly clock: Clock;
  readonly exec?: Exec;
}

/** Returns the default name and version of `buildHostStemcell`: another agent is another version. */
export async function hostStemcellId(
  order: Pick<HostStemcellOrder, "agent" | "node" | "exec">,
): Promise<{ readonly name: string; readonly version: string }> {
  return { name: HOST_STEMCELL.name, version: versionOf(await hostRootId(order)) };
}

const versionOf = (id: string): string => `1+${id.slice(0, 12)}`;

/**
 * Writes a stemcell for the Docker CPI of this machine's own programs: in seconds, without a network or rights, for
 * trying things. The same programs and agent give the same bytes.
 */
export async function buildHostStemcell(order: HostStemcellOrder): Promise<BuiltStemcell> {
  const { to, clock, version, name = HOST_STEMCELL.name, apiVersion = HOST_STEMCELL.apiVersion } = order;
  const began = clock.monotonic();
  const about = { name, os: HOST_STEMCELL.os, apiVersion };
  // Said before the work is done.
  dockerManifest({ ...about, version: version ?? "1" }, "0".repeat(40));
  return await withWorkDir(to, async (workDir) => {
    const root = await hostRoot({ ...order, to: join(workDir, "root.tar") });
    const image = join(workDir, "image");
    // Upstream's Docker CPI takes no other. It does not travel: time matters more than size.
    await pipeline(createReadStream(root.path), createGzip({ level: 1 }), createWriteStream(image));
    const named = { ...about, version: version ?? versionOf(root.id) };
    const files = [
      { name: "stemcell.MF", text: dockerManifest(named, await fileDigest(image, "sha1")) },
      { name: "packages.txt", text: "Programs of the machine it was built on; they are no packages.\n" },
      { name: "image", path: image },
    ];
    // Its image is compressed.
    const written = await writeArchive(to, files, { level: 0 });
    const { size, missing } = root;
    return { ...named, ...written, file: to, root: { size, missing }, ms: clock.monotonic() - began };
  });
}
