import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of the test's own, gone when `remove` is called. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "slipway-kernel-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** One that others can pass through: root's database runs as another user, and a temporary directory may be closed to it. */
export async function passableDirectory(name: string): Promise<string> {
  const path = await mkdtemp(join(process.getuid?.() === 0 ? "/var/tmp" : tmpdir(), `slipway-${name}-`));
  await chmod(path, 0o711);
  return path;
}
