import { createReadStream } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { config } from "@slipway/protocol/director/config";
import { storedManifest } from "@slipway/protocol/director/deployment";
import { type ErrandLine, errandResult } from "@slipway/protocol/director/errand";
import { release as releaseEntry } from "@slipway/protocol/director/release";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import { listDeployments } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import type { CpiDescriptor, DemoSetup, DemoStemcell, StemcellName } from "../cpis/descriptor.ts";
import { withTarball } from "../releases/open-tarball.ts";
import type { Tools } from "../tools.ts";
import { NoSuchFile } from "../uploads/errors.ts";
import { listStemcells } from "../uploads/list-stemcells.ts";
import { cloudConfig, DEPLOYMENT, isOurs, manifestOf } from "./documents.ts";
import { BadRange, NotTheDemos, PromiseBroken } from "./errors.ts";
import { carryOut, follow } from "./follow.ts";

/** Deploys the demo; one that is as it should be stays as it is. Whether packages had to be compiled. */
export async function deployDemo(
  api: DirectorApi,
  dir: string,
  { stemcell, release }: { readonly stemcell: StemcellName; readonly release: { readonly name: string } },
  { home, programs }: Pick<Tools, "home" | "programs">,
  tell: (text: string) => void,
): Promise<{ readonly compiled: boolean }> {
  const found = (await listDeployments(api)).find(({ name }) => name === DEPLOYMENT);
  // With its release it is the demo, which was deployed again.
  if (found !== undefined && !(found.releases ?? []).some(({ name }) => name === release.name)) {
    const { manifest } = await api.json(
      { method: "GET", path: `/deployments/${DEPLOYMENT}` },
      storedManifest,
    );
    if (!isOurs(manifest ?? ""))
      throw NotTheDemos({ what: `a deployment named ${DEPLOYMENT}`, home: home.dir });
  }
  const body = manifestOf(await readFile(programs.demo.manifest, "utf8"), stemcell);
  await writeFileAtomic(join(dir, "demo.yml"), body);
  // A VM that was killed is replaced; its disk is kept.
  const query = { fix: "true" };
  const request = {
    method: "POST",
    path: "/deployments",
    query,
    body,
    contentType: "text/yaml",
  } as const;
  let compiled = false;
  await carryOut(api, request, (text) => {
    compiled ||= text === "compiling packages";
    tell(text);
  });
  return { compiled };
}

/**
 * Uploaded when the Director has none, or the demo's with other addresses. One of a user is left as it is: it may do as
 * well. The addresses of VMs, unless they are a user's.
 */
export async function ensureCloudConfig(
  api: DirectorApi,
  dir: string,
  asked: string | undefined,
  stage: DemoSetup,
): Promise<string | undefined> {
  const query = { type: "cloud", name: "default", latest: "true" };
  const [found] = await api.json({ method: "GET", path: "/configs", query }, v.array(config));
  const now = found?.content ?? undefined;
  if (now !== undefined && !isOurs(now)) return undefined;
  const used = now === undefined ? undefined : /range: (\S+)/.exec(now)?.[1];
  const range = asked ?? used ?? (await firstFree(stage));
  const content = cloudConfig(range, stage.comment);
  const trouble = range === asked && range !== used ? await stage.taken(range) : undefined;
  if (trouble !== undefined) throw trouble;
  await writeFileAtomic(join(dir, "cloud-config.yml"), content);
  if (now !== content)
    await api.text({ method: "POST", path: "/cloud_configs", body: content, contentType: "text/yaml" });
  return range;
}

/** Returns the first range that nobody uses: another user, or another home of this one, may have the usual one. */
export async function firstFree({ ranges, taken }: Pick<DemoSetup, "ranges" | "taken">): Promise<string> {
  const troubles: Error[] = [];
  for (const range of ranges) {
    const trouble = await taken(range);
    if (trouble === undefined) return range;
    troubles.push(trouble);
  }
  throw troubles[0] ?? new Error("bug: the CPI has no addresses for the demo");
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

/** A user's own. Read before anything is started. */
export async function givenStemcell(file: string): Promise<DemoStemcell> {
  await access(file).catch((cause: unknown) => {
    throw NoSuchFile({ path: file }, { cause });
  });
  const { stemcellName } = await import("../uploads/stemcell-name.ts");
  const named = await stemcellName(file);
  return {
    doing: "Uploading the stemcell",
    about: `yours, of ${file}`,
    id: async () => named,
    archive: async () => ({ path: resolve(file), done: async () => undefined }),
  };
}

/** Uploaded unless it is there, for the Director and for its cloud. */
export async function ensureStemcell(
  api: DirectorApi,
  dir: string,
  { stemcell, hasStemcell }: Pick<DemoSetup, "stemcell" | "hasStemcell">,
  tell: (text: string) => void,
): Promise<StemcellName> {
  const named = await stemcell.id();
  const known = (await listStemcells(api)).find(
    ({ name, version }) => name === named.name && version === named.version,
  );
  if (known !== undefined && (await hasStemcell(known.cid ?? ""))) return named;
  // What the Director knows and its cloud no longer has is made again.
  const query = known === undefined ? {} : { fix: "true" };
  const { path, done } = await stemcell.archive(dir);
  try {
    const body = createReadStream(path);
    const contentType = "application/x-compressed";
    await carryOut(api, { method: "POST", path: "/stemcells", query, body, contentType }, tell);
  } finally {
    await done();
  }
  return named;
}

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

export const ERRAND = "smoke";

/** Runs the errand of the release; the last of its lines that says how often it was visited. */
export async function runSmoke(api: DirectorApi, tell: (text: string) => void): Promise<string> {
  const path = `/deployments/${DEPLOYMENT}/errands/${ERRAND}/runs`;
  const task = await api.begin({ method: "POST", path, body: "{}", contentType: "application/json" });
  await follow(api, task, tell);
  const results = (await api.output(task, "result")).split("\n").filter((line) => line !== "");
  const lines = results.map(resultOf);
  const failed = lines.find(({ exit_code }) => exit_code !== 0);
  if (lines.length === 0 || failed !== undefined)
    throw PromiseBroken({
      what: `the errand ${ERRAND} failed: ${failed?.stdout.trim() ?? "it did not run"}`,
    });
  const said = lines.flatMap(({ stdout }) => stdout.split("\n").map((line) => line.trim()));
  return said.find((line) => line.includes("counted"))?.replace(/^ok +/, "") ?? `${said.length} checks`;
}

function resultOf(line: string): ErrandLine {
  const found = check(errandResult, parseStrictJson(line, "the result of the errand"), "result");
  if (!found.ok) throw PromiseBroken({ what: `the errand answered ${found.problems.join("; ")}` });
  return found.value;
}
