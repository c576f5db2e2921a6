import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { UnpackedPackage } from "@slipway/engine/releases/archive";
import type { RenderedJob } from "@slipway/engine/templates/render-job";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemExec } from "@slipway/kernel/exec";
import { ifThere } from "@slipway/kernel/files";
import { CpiJobMissing, CpiPackageFailed, PackageWithoutSource } from "../errors.ts";
import type { CloudProvider, CpiChoice } from "../manifest/model.ts";
import type { Stages } from "../stages.ts";
import type { Workspace } from "../workspace.ts";
import { packageOrder } from "./package-order.ts";
import type { RenderTools } from "./plan.ts";
import { jobOf, type Releases } from "./releases.ts";
import { renderJobs } from "./render.ts";

const CPI = "bin/cpi";
const TAIL_LINES = 20;

interface Installing {
  readonly releases: Releases;
  readonly deployment: string;
  readonly workspace: Workspace;
  readonly stages: Stages;
  readonly tools: RenderTools;
}

/**
 * Compiles a CPI's packages on this machine, renders its jobs, and names its executable. Packages stay for the next
 * command; rendered jobs hold secrets, and are gone when this one ends.
 */
export async function installCpi(
  { cpi, properties }: CloudProvider,
  { releases, deployment, workspace, stages, tools }: Installing,
): Promise<CpiChoice> {
  if (cpi.kind !== "release") return cpi;
  const chosen = cpi.jobs.map((choice) => ({ choice, job: jobOf(releases, choice) }));
  const packages = chosen.flatMap(({ choice, job }) =>
    packageOrder(job.job.packages, releases.get(choice.release)?.packages ?? []),
  );
  const shelf = new Shelf(join(workspace.dir, "cpi"), workspace.temporary);
  await shelf.open();
  for (const one of packages) await shelf.compile(one, stages, tools.signal);
  const rendered = await stages.step("Rendering job templates", () =>
    renderJobs(
      chosen.map(({ job }) => ({ job, properties })),
      { deployment, address: undefined, networks: {} },
      tools,
    ),
  );
  const jobsDir = join(workspace.temporary, "cpi-jobs");
  for (const job of rendered)
    await stages.step(`Installing job '${job.name}'`, () => writeJob(join(jobsDir, job.name), job));
  const withCpi = rendered.filter(({ files }) => files.some(({ path }) => path === CPI));
  const [only] = withCpi;
  if (only === undefined || withCpi.length > 1)
    throw CpiJobMissing({ jobs: cpi.jobs.map(({ name }) => name), found: withCpi.length });
  const PATH = process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin";
  const env = { PATH, BOSH_PACKAGES_DIR: shelf.packages, BOSH_JOBS_DIR: jobsDir };
  return { kind: "exec", path: join(jobsDir, only.name, CPI), configFile: undefined, env };
}

async function writeJob(dir: string, { monit, files }: RenderedJob): Promise<void> {
  for (const { path, content } of [{ path: "monit", content: monit }, ...files]) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, content, { mode: 0o600 });
    if (path.startsWith("bin/")) await chmod(file, 0o700);
  }
}

/** The compiled packages of an environment's CPI. A programme may have the path it was compiled for inside. */
class Shelf {
  readonly packages: string;
  readonly #temporary: string;
  readonly #listFile: string;
  readonly #list = new Map<string, string>();

  constructor(dir: string, temporary: string) {
    this.packages = join(dir, "packages");
    this.#listFile = join(dir, "compiled.json");
    this.#temporary = join(temporary, "compile");
  }

  async open(): Promise<void> {
    await mkdir(this.packages, { recursive: true, mode: 0o700 });
    const known = JSON.parse((await ifThere(readFile(this.#listFile, "utf8"))) ?? "{}") as Record<
      string,
      string
    >;
    for (const [name, key] of Object.entries(known)) this.#list.set(name, String(key));
  }

  async compile(one: UnpackedPackage, stages: Stages, signal: AbortSignal): Promise<void> {
    const { name, fingerprint, dependencies } = one;
    const words = `Compiling package '${name}/${fingerprint}'`;
    // Also what it was compiled with.
    const key = [fingerprint, ...dependencies.map((other) => this.#list.get(other) ?? "")].join(" ");
    if (this.#list.get(name) === key) return stages.skipped(words, "Package already compiled");
    this.#list.delete(name);
    await this.#save();
    await stages.step(words, () => this.#make(one, signal));
    this.#list.set(name, key);
    await this.#save();
  }

  async #make({ name, file, stemcell }: UnpackedPackage, signal: AbortSignal): Promise<void> {
    if (file === undefined) throw PackageWithoutSource({ name });
    const target = join(this.packages, name);
    const source = stemcell === undefined ? join(this.#temporary, name) : target;
    for (const dir of [target, source]) {
      await rm(dir, { recursive: true, force: true });
      await mkdir(dir, { recursive: true, mode: 0o700 });
    }
    // Its packaging script runs as this user: what an archive could do with links, the script could do as well.
    const unpacked = await systemExec("tar", ["-xf", file, "-C", source, "--no-same-owner"], { signal });
    if (unpacked.code !== 0)
      throw CpiPackageFailed({ name, code: unpacked.code, tail: tailOf(unpacked.stderr) });
    if (stemcell !== undefined) return;
    const { code, stdout, stderr } = await systemExec("bash", ["-x", "packaging"], {
      cwd: source,
      signal,
      env: {
        ...inherited(),
        BOSH_COMPILE_TARGET: source,
        BOSH_INSTALL_TARGET: target,
        BOSH_PACKAGE_NAME: name,
        BOSH_PACKAGES_DIR: this.packages,
      },
    });
    if (code !== 0) throw CpiPackageFailed({ name, code, tail: tailOf(`${stdout}\n${stderr}`) });
    await rm(source, { recursive: true, force: true });
  }

  async #save(): Promise<void> {
    await writeFileAtomic(this.#listFile, JSON.stringify(Object.fromEntries(this.#list)), 0o600);
  }
}

/** A compiler may need anything of the operator's environment, as with upstream. */
const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );

const tailOf = (output: string): string => output.trim().split("\n").slice(-TAIL_LINES).join("\n");
