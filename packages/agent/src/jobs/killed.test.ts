import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { bundled } from "@slipway/testkit/bundle";
import { sampleOf, seed, whole } from "@slipway/testkit/sample";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apply } from "../actions/apply.ts";
import { compilePackage } from "../actions/compile_package.ts";
import { type Paths, pathsUnder } from "../paths.ts";
import type { AgentServices } from "../services.ts";
import { restoreJobs } from "./switch.ts";
import type { KillPoint } from "./testing/kill-at-operation.ts";
import type { Doomed } from "./testing/killed-main.ts";
import { archiveOf, callOf, labServices, sha1, specOf, treeOf } from "./testing/lab.ts";

/** Kills per run, out of a few hundred moments. */
const SAMPLE = 4;
const PATIENCE_MS = 900_000;

const program = bundled("./testing/killed-main.ts", import.meta.url);

type View = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the files of every job and package by its link, as programs see them, without the link's target. */
async function viewOf(paths: Paths): Promise<View> {
  const view: Record<string, Readonly<Record<string, string>>> = {};
  for (const place of [paths.jobs, paths.packages])
    for (const name of await readdir(place))
      if (!name.startsWith("."))
        view[`${place.slice(paths.base.length)}/${name}`] = treeOf(await realpath(join(place, name)));
  return view;
}

const templatesOf = (spec: ApplySpec): string => spec.rendered_templates_archive?.blobstore_id ?? "";

/** Drops the links to packages, which belong to all jobs together. */
const filesOf = (tree: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => !name.startsWith("packages/")));

describe(`an agent that is killed with -9 at a file operation (seed ${seed()})`, () => {
  let dir: string;
  let base: string;
  let paths: Paths;
  let remove: () => Promise<void>;
  let old: ApplySpec;
  let oldTemplates: Uint8Array;
  let next: ApplySpec;
  let nextTemplates: Uint8Array;
  let source: { readonly blobId: string; readonly digest: string };
  let compiledSha1: string;
  let before: { readonly view: View; readonly spec: string };
  let after: { readonly view: View; readonly spec: string; readonly tree: Readonly<Record<string, string>> };

  /** All rounds take place under one path: links are absolute. */
  const fresh = async () => {
    await rm(base, { recursive: true, force: true });
    await cp(join(dir, "template"), base, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
    return await labServices(base);
  };

  const run = async (message: Doomed["message"], death?: KillPoint) => {
    const doomed: Doomed = { base, message, ...(death !== undefined && { death }) };
    const result = await systemExec(process.execPath, [program(), JSON.stringify(doomed)]);
    expect(result.code, result.stderr).toBe(death === undefined || result.code === 0 ? 0 : 137);
    // Output of a script comes in more pieces or in fewer, and is written as it comes.
    const operations = result.code === 0 ? (JSON.parse(result.stdout) as string[]) : [];
    if (death !== undefined) expect(operations.length).toBeLessThan(death.at);
    return operations;
  };

  const momentsOf = async (message: Doomed["message"]) => {
    await fresh();
    const operations = await run(message);
    expect(operations.length).toBeGreaterThan(10);
    return sampleOf(
      `killed ${message.name}`,
      operations.flatMap((operation, index): [string, KillPoint][] => {
        const whens: KillPoint["when"][] = operation.startsWith("rm ") ? ["after", "during"] : ["after"];
        return whens.map((when) => [`${when} ${index + 1}: ${operation}`, { when, at: index + 1 }]);
      }),
      SAMPLE,
    );
  };

  beforeAll(async () => {
    const temporary = await temporaryDirectory();
    [dir, remove] = [temporary.path, temporary.remove];
    base = join(dir, "vcap");
    paths = pathsUnder(base);
    const services = await labServices(base);
    const job = (text: string) => ({ monit: text, "bin/ctl": text, "config/a": text, "config/b": text });
    old = await specOf(services, {
      jobs: { web: job("old"), worker: job("old") },
      packages: { ruby: { a: "old", "bin/b": "old" }, go: { a: "same" }, unused: { a: "old" } },
    });
    oldTemplates = await readFile(join(paths.sensitiveBlobs, templatesOf(old)));
    await apply({ spec: old }, callOf(services));
    next = await specOf(services, {
      jobs: { web: job("new"), cron: job("new") },
      packages: { ruby: { a: "new", "bin/b": "new" }, go: { a: "same" }, jq: { a: "new" } },
      hash: "hash-2",
    });
    nextTemplates = await readFile(join(paths.sensitiveBlobs, templatesOf(next)));
    const content = await archiveOf({ packaging: "echo built > $BOSH_INSTALL_TARGET/x", "src/x": "x" });
    source = { blobId: "source", digest: sha1(content) };
    await services.blobs.write("blobs", "source", content);
    await mkdir(paths.compile, { recursive: true });
    await cp(base, join(dir, "template"), {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
    before = { view: await viewOf(paths), spec: await readFile(paths.spec, "utf8") };
    compiledSha1 = (await compilation()).result.sha1;
    await apply({ spec: next }, callOf(await fresh()));
    const tree = treeOf(base);
    after = { view: await viewOf(paths), spec: await readFile(paths.spec, "utf8"), tree };
  });
  afterAll(() => remove());

  const compilation = async () => {
    const call = callOf(await labServices(base));
    return await compilePackage({ ...source, name: "app", version: "1", dependencies: null }, call);
  };

  /** Whatever a link leads to is whole, even before the agent is back. */
  const expectWhole = async () => {
    const view = await viewOf(paths);
    for (const [name, tree] of Object.entries(view))
      expect([filesOf(before.view[name]), filesOf(after.view[name])]).toContainEqual(filesOf(tree));
  };

  /** A version that was half removed must not be taken for one that is installed. */
  const expectWayBack = async (services: AgentServices) => {
    await services.blobs.write("sensitive", templatesOf(old), oldTemplates);
    await services.blobs.write("sensitive", templatesOf(next), nextTemplates);
    await apply({ spec: old }, callOf(services));
    expect(await viewOf(paths)).toEqual(before.view);
  };

  it(
    "of an apply has the old jobs or the new ones, says truly which, and applies again to the same tree",
    async () => {
      const outcomes = new Set<string>();
      for (const [name, death] of await momentsOf({ name: "apply", spec: next })) {
        const services = await fresh();
        await run({ name: "apply", spec: next }, death);
        try {
          await expectWhole();
          await restoreJobs(services);
          const stored = await readFile(paths.spec, "utf8");
          const which = stored === before.spec ? before : after;
          outcomes.add(which === before ? "old" : "new");
          expect(stored).toBe(which.spec);
          expect(await viewOf(paths)).toEqual(which.view);
          expect(existsSync(paths.applying)).toBe(false);
          if (death.when === "during") await expectWayBack(services);
          await apply({ spec: next }, callOf(services));
          expect(treeOf(base)).toEqual(after.tree);
        } catch (cause) {
          throw new Error(`killed ${name}: ${String(cause)}`, { cause });
        }
      }
      if (whole()) expect(outcomes).toEqual(new Set(["old", "new"]));
    },
    PATIENCE_MS,
  );

  it(
    "of a prepare has the old jobs, and the next apply makes the same tree",
    async () => {
      for (const [name, death] of await momentsOf({ name: "prepare", spec: next })) {
        const services = await fresh();
        await run({ name: "prepare", spec: next }, death);
        try {
          await restoreJobs(services);
          expect(await viewOf(paths)).toEqual(before.view);
          await apply({ spec: next }, callOf(services));
          expect(treeOf(base)).toEqual(after.tree);
        } catch (cause) {
          throw new Error(`killed ${name}: ${String(cause)}`, { cause });
        }
      }
    },
    PATIENCE_MS,
  );

  it(
    "of a compilation compiles the next time, to the same bytes, and leaves nothing",
    async () => {
      for (const [name, death] of await momentsOf({ name: "compile", ...source })) {
        const services = await fresh();
        await run({ name: "compile", ...source }, death);
        try {
          await restoreJobs(services);
          expect((await compilation()).result.sha1).toBe(compiledSha1);
          expect(await viewOf(paths)).toEqual(before.view);
          expect(await readdir(paths.compile)).toEqual([]);
          expect(await readdir(paths.dataPackages)).toEqual(["go", "ruby", "unused"]);
        } catch (cause) {
          throw new Error(`killed ${name}: ${String(cause)}`, { cause });
        }
      }
    },
    PATIENCE_MS,
  );
});
