import { createServer } from "node:net";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { cloudConfig, isOurs } from "./documents.ts";
import { BadRange, RangeTaken } from "./errors.ts";

const AGENT_PORT = 6868;
const DEFAULT_RANGE = "127.20.0.0/24";
const configs = v.array(open({ content: v.string() }));

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
  const [now] = await api.json({ method: "GET", path: "/configs", query }, configs);
  if (now !== undefined && !isOurs(now.content)) return undefined;
  const used = now && /range: (\S+)/.exec(now.content)?.[1];
  const range = asked ?? used ?? DEFAULT_RANGE;
  const content = cloudConfig(range);
  if (range !== used) await mustBeFree(range);
  await writeFileAtomic(join(dir, "cloud-config.yml"), content);
  if (now?.content !== content)
    await api.text({ method: "POST", path: "/cloud_configs", body: content, contentType: "text/yaml" });
  return range;
}

/** The first address that is given out: somebody else's agent, or anything else, may have it. */
async function mustBeFree(range: string): Promise<void> {
  const host = range.replace(/0\/24$/, "2");
  const taken = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(systemCode(error) === "EADDRINUSE"));
    server.listen(AGENT_PORT, host, () => server.close(() => resolve(false)));
  });
  if (taken) throw RangeTaken({ address: `${host} port ${AGENT_PORT}` });
}
