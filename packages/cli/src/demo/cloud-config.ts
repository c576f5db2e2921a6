import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { isTaken } from "@slipway/kernel/ports";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { configWire } from "../configs/config-wire.ts";
import { cloudConfig, isOurs } from "./documents.ts";
import { BadRange, RangeTaken } from "./errors.ts";

const AGENT_PORT = 6868;
const DEFAULT_RANGE = "127.20.0.0/24";

export function rangeOf(given: string): string {
  const [, ...numbers] = /^127\.(\d{1,3})\.(\d{1,3})\.0\/24$/.exec(given) ?? [];
  if (numbers.length !== 2 || numbers.some((one) => Number(one) > 255)) throw BadRange({ given });
  return given;
}

/**
 * Uploaded when the Director has none, or the demo's with other addresses. One of a user is left as it is: it may do as
 * well. The addresses of sandboxes, unless they are a user's.
 */
export async function ensureCloudConfig(
  api: DirectorApi,
  dir: string,
  asked: string | undefined,
): Promise<string | undefined> {
  const query = { type: "cloud", name: "default", latest: "true" };
  const [found] = await api.json({ method: "GET", path: "/configs", query }, v.array(configWire));
  const now = found?.content ?? undefined;
  if (now !== undefined && !isOurs(now)) return undefined;
  const used = now === undefined ? undefined : /range: (\S+)/.exec(now)?.[1];
  const range = asked ?? used ?? DEFAULT_RANGE;
  const content = cloudConfig(range);
  if (range !== used) await mustBeFree(range);
  await writeFileAtomic(join(dir, "cloud-config.yml"), content);
  if (now !== content)
    await api.text({ method: "POST", path: "/cloud_configs", body: content, contentType: "text/yaml" });
  return range;
}

/** The first address that is given out: somebody else's agent, or anything else, may have it. */
async function mustBeFree(range: string): Promise<void> {
  const host = range.replace(/0\/24$/, "2");
  if (await isTaken(host, AGENT_PORT)) throw RangeTaken({ address: `${host} port ${AGENT_PORT}` });
}
