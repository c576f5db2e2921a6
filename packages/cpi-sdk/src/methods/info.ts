import { NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { InfoResult } from "@slipway/protocol/cpi/methods/info";
import type { Cpi } from "../cpi.ts";
import { BadConfig } from "../errors.ts";

/** info: needs no working configuration beyond `debug.cpi.api_version`, which lowers what is reported. */
export function info(cpi: Cpi, reported: number | undefined): InfoResult {
  const highest = cpi.apiVersion ?? NEWEST_API_VERSION;
  if (reported !== undefined && (!Number.isInteger(reported) || reported < 1)) {
    throw BadConfig({
      what: "debug.cpi.api_version",
      problems: [`it must be an integer of at least 1, got ${reported}`],
    });
  }
  const capabilities = {
    // With a place to remember requests in, the SDK answers a repeat with the first result.
    ...(cpi.stateDir !== undefined && { repeats_by_request_id: true }),
    ...(cpi.methods.getVmLog !== undefined && { get_vm_log: true }),
    ...(cpi.methods.listResources !== undefined && { list_resources: true }),
    ...cpi.capabilities,
  };
  return {
    stemcell_formats: [...cpi.stemcellFormats],
    api_version: Math.min(reported ?? highest, highest),
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
  };
}
