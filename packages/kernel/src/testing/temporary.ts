import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of the test's own, gone when `remove` is called. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "slipway-kernel-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
