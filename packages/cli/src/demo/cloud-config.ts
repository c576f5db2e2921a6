import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { config } from "@slipway/protocol/director/config";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import type { CpiDescriptor, Stage } from "../cpis/descriptor.ts";
import { cloudConfig, isOurs } from "./documents.ts";
import { BadRange } from "./errors.ts";

/**
 * Uploaded when the Director has none, or the demo's with other addresses. One of a user is left as it is: it may do as
 * well. The addresses of VMs, unless they are a user's.
 */
export async function ensureCloudConfig(
  api: DirectorApi,
  dir: string,
  asked: string | undefined,
  stage: Stage,
): Promise<string | undefined> {
  const query = { type: "cloud", name: "default", latest: "true" };
  const [found] = await api.json({ method: "GET", path: "/configs", query }, v.array(config));
  const now = found?.content ?? undefined;
  if (now !== undefined && !isOurs(now)) return undefined;
  const used = now === undefined ? undefined : /range: (\S+)/.exec(now)?.[1];
  const range = asked ?? used ?? stage.range;
  const content = cloudConfig(range, stage.comment);
  if (range !== used) await stage.mustBeFree(range);
  await writeFileAtomic(join(dir, "cloud-config.yml"), content);
  if (now !== content)
    await api.text({ method: "POST", path: "/cloud_configs", body: content, contentType: "text/yaml" });
  return range;
}

/** Accepts 24 bits of a network that VMs of the CPI can have addresses of. */
export function rangeOf(given: string, { range }: CpiDescriptor): string {
  const { fits, takes, example } = range;
  const numbers = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.0\/24$/.exec(given)?.slice(1) ?? [];
  const whole =
    numbers.length === 3 && numbers.every((one) => String(Number(one)) === one && Number(one) < 256);
  if (!whole || !fits.test(given)) throw BadRange({ given, takes, example });
  return given;
}
