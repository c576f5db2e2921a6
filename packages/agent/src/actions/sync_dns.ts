import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { BadRequest } from "../errors.ts";
import type { AgentServices } from "../services.ts";
import type { Action } from "./action.ts";

const dnsRecords = open({
  version: v.number(),
  records: v.optional(v.nullable(v.array(v.tuple([v.string(), v.string()])))),
});

export const syncDns: Action<"sync_dns"> = async ({ blobId, digest, version }, { services, signal }) => {
  if (await isCurrent(services, version)) return "synced";
  const path = await services.blobs.fetch(blobId, digest, signal);
  await takeOver(await readFile(path, "utf8"), version, services);
  return "synced";
};

/** Records that are as new as the ones offered are not fetched again. */
export async function isCurrent(services: AgentServices, version: number): Promise<boolean> {
  const text = await readFile(services.paths.dnsRecords, "utf8").catch(() => undefined);
  if (text === undefined) return false;
  try {
    const known = check(dnsRecords, parseStrictJson(text, "records.json"));
    return known.ok && known.value.version >= version;
  } catch {
    return false;
  }
}

/** The hosts file first: should the agent die in between, the version still asks for a repeat. */
export async function takeOver(text: string, version: number, services: AgentServices): Promise<void> {
  const checked = check(dnsRecords, parseStrictJson(text, "the DNS records"), "DNS records");
  if (!checked.ok) throw BadRequest({ why: checked.problems.join("; ") });
  if (checked.value.version !== version) {
    throw BadRequest({ why: "version from unpacked dns blob does not match version supplied by director" });
  }
  await services.platform.system.writeHosts(
    checked.value.records ?? [],
    services.settings.current().agent_id,
  );
  await mkdir(dirname(services.paths.dnsRecords), { recursive: true, mode: 0o755 });
  await writeFileAtomic(services.paths.dnsRecords, text, 0o640);
}
