import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { PROGRAMS } from "./requirements.ts";
import type { BoshWorld } from "./world.ts";

/** Calls the CPI without the Director's knowledge. */
export async function callCpi(
  { dir }: BoshWorld,
  method: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  const context = {
    director_uuid: "nobody",
    request_id: `cpi-behind-the-back-${method}`,
    vm: { stemcell: { api_version: 3 } },
  };
  const request = { method, arguments: args, context, api_version: 2 };
  const program = [PROGRAMS.cpi, "--configFile", join(dir, "cpi.json")];
  const { stdout } = await systemExec(process.execPath, program, { input: JSON.stringify(request) });
  const { result, error } = JSON.parse(stdout) as { result: unknown; error: unknown };
  if (error !== null) throw new Error(`${method}: ${stdout}`);
  return result;
}

/** Its sandbox ends, as a machine does whose power is cut. */
export async function killVm(world: BoshWorld, cid: string): Promise<void> {
  const { pid } = JSON.parse(await readFile(world.cloud("vms", cid, "process"), "utf8")) as { pid: number };
  process.kill(pid, "SIGKILL");
}
