import { constants } from "node:fs";
import { access, appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { hasJobs } from "@slipway/protocol/agent/apply-spec";
import { BadRequest } from "../errors.ts";
import type { Services } from "../services.ts";
import type { Action } from "./action.ts";
import { ScriptsFailed } from "./errors.ts";

const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs one lifecycle script of every job that has it, all at once. No script anywhere is a success. */
export const runScript: Action<"run_script"> = async ({ script, options }, { services, signal }) => {
  if (!/^[\w-]+$/.test(script)) throw BadRequest({ why: "the script must be named, without a path" });
  const spec = (await services.spec.load()) ?? {};
  const jobs = hasJobs(spec) ? (spec.job?.templates ?? []).map((job) => job.name) : [];
  const env = Object.fromEntries(
    Object.entries(options?.env ?? {}).map(([key, value]) => [key, String(value)]),
  );
  const outcomes = await Promise.all(jobs.map((job) => runOne(services, job, script, env, signal)));
  const named = (outcome: string) => jobs.filter((_, at) => outcomes[at] === outcome);
  if (named("failed").length > 0)
    throw ScriptsFailed({ script, failed: named("failed"), passed: named("passed") });
  return {};
};

async function runOne(
  services: Services,
  job: string,
  script: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<"passed" | "failed" | "missing"> {
  const path = join(services.paths.jobs, job, "bin", script);
  const there = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!there) return "missing";
  const { code, stdout, stderr } = await services.exec(path, [], { env: { ...env, PATH }, signal });
  const log = join(services.paths.sysLog, job);
  await mkdir(log, { recursive: true, mode: 0o750 });
  await appendFile(join(log, `${script}.stdout.log`), stdout, { mode: 0o640 });
  await appendFile(join(log, `${script}.stderr.log`), stderr, { mode: 0o640 });
  return code === 0 ? "passed" : "failed";
}
