import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import type { RenderedJob } from "./render-job.ts";

export interface RenderedArchive {
  readonly bytes: Uint8Array;
  /** `sha256:` and hex. */
  readonly digest: string;
}

/** All jobs of one instance in one archive. The same jobs give the same bytes. */
export async function renderedArchive(jobs: readonly RenderedJob[]): Promise<RenderedArchive> {
  const pieces: Uint8Array[] = [];
  for await (const piece of tarBytes(entriesOf(jobs), 0)) pieces.push(piece);
  const bytes = gzipSync(Buffer.concat(pieces));
  return { bytes, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}

/** Modes do not matter: the agent sets its own. */
function* entriesOf(jobs: readonly RenderedJob[]): Generator<TarInput> {
  for (const { name, monit, files } of jobs) {
    yield { type: "text", name: `${name}/monit`, mode: 0o640, text: monit };
    for (const { path, content } of files)
      yield { type: "text", name: `${name}/${path}`, mode: 0o640, text: content };
  }
}
