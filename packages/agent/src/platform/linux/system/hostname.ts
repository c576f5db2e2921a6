import { readFile, writeFile } from "node:fs/promises";
import type { Paths } from "../../../paths.ts";
import { InvalidHostname } from "../../system-errors.ts";
import { writeIfChanged } from "./replace-file.ts";

export async function setHostname(paths: Paths, agentId: string): Promise<void> {
  await setKernelHostname(paths, agentId);
  await writeIfChanged(paths.system("etc", "hostname"), agentId, 0o644);
}

/** Through the kernel's own file: it needs no program, and a name that is already set needs no permission. */
export async function setKernelHostname(paths: Paths, agentId: string): Promise<void> {
  checkHostname(agentId);
  const kernel = paths.system("proc", "sys", "kernel", "hostname");
  const current = (await readFile(kernel, "utf8").catch(() => "")).trim();
  if (current !== agentId) await writeFile(kernel, agentId);
}

export function checkHostname(agentId: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(agentId)) throw InvalidHostname({ agentId });
}
