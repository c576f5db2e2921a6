import { createReadStream } from "node:fs";
import { release as releaseEntry } from "@slipway/protocol/director/release";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { withTarball } from "../releases/open-tarball.ts";
import type { Tools } from "../tools.ts";
import { carryOut } from "./follow.ts";

export interface DemoRelease {
  readonly name: string;
  readonly version: string;
  readonly jobs: readonly string[];
  readonly packages: readonly string[];
}

/** Uploaded unless the Director has it. */
export async function ensureRelease(
  api: DirectorApi,
  { programs, stop }: Pick<Tools, "programs" | "stop">,
  tell: (text: string) => void,
): Promise<DemoRelease> {
  const file = programs.demo.release;
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  const ours = await withTarball(file, stop, async ({ name, version, jobs, packages }) => ({
    ...{ name, version, jobs: names(jobs), packages: names(packages) },
  }));
  const known = await api.json({ method: "GET", path: "/releases" }, v.array(releaseEntry));
  const versions = known.find(({ name }) => name === ours.name)?.release_versions ?? [];
  if (!versions.some(({ version }) => version === ours.version)) {
    const body = createReadStream(file);
    const contentType = "application/x-compressed";
    await carryOut(api, { method: "POST", path: "/releases", body, contentType }, tell);
  }
  return ours;
}
