import { rm } from "node:fs/promises";
import { hexDigest, packLogs } from "../logs/collect.ts";
import type { Action } from "./action.ts";

/** The archive stays on the VM until remove_file. */
export const bundleLogs: Action<"bundle_logs"> = async ({ request }, { services, signal }) => {
  const archive = await packLogs("bundled", request.log_type, request.filters, services, signal);
  try {
    if (request.owning_user) await services.platform.system.chown(archive, request.owning_user);
  } catch (error) {
    await rm(archive, { force: true });
    throw error;
  }
  return { logs_tar_path: archive, sha512: `sha512:${await hexDigest(archive, "sha512")}` };
};
