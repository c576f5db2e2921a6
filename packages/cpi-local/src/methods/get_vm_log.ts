import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { vmLog } from "@slipway/cpi-sdk/vm-log";
import { systemCode } from "@slipway/kernel/errors";
import { openCloud } from "../local-cloud.ts";
import { runningIn } from "../sandbox/identity.ts";
import { mustHaveVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Enough for what is returned, also when much of it is taken out. */
const READ_BYTES = 64 * 1024;

/** Returns the log of the sandbox since it was made: how it started, and everything its agent writes. */
export const getVmLog: LocalMethods["getVmLog"] = async ({ vmCid }, { config }) => {
  const dir = await mustHaveVm(await openCloud(config), vmCid);
  const off = (await runningIn(dir)) === undefined;
  const settings = await readFile(join(dir, "user-data.json"), "utf8");
  return vmLog(await endOf(join(dir, "agent.log")), settings, { off });
};

async function endOf(path: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const { size } = await file.stat();
    const length = Math.min(size, READ_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } catch (error) {
    // It was never started.
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  } finally {
    await file?.close();
  }
}
