import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOutput } from "@slipway/director/tasks/output";
import type { NewTask } from "@slipway/director/tasks/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { deployTask, taskOf } from "../../crash/scenarios/tasks.ts";
import type { GroupSketch, ManifestSketch } from "../../director/manifests.ts";
import type { Interference } from "../watch-clients.ts";
import { Bench, type BenchRunOptions, type EndedTask } from "./bench.ts";

export const web = (properties: JsonObject = { port: 80 }) => ({ name: "web", release: "shop", properties });

/** `web` serves, with two packages of which one needs the other; `client` finds it by a link and needs none. */
export const shopRelease = (change: Partial<Parts> = {}): MadeRelease => {
  const parts = { ...PARTS, ...change };
  return {
    name: "shop",
    version: parts.version,
    jobs: {
      web: {
        spec: {
          templates: { "web.yml": "config/web.yml", "other.yml": "config/other.yml" },
          packages: ["server"],
          properties: { port: {}, password: { default: "" } },
          provides: [{ name: "web", type: "http", properties: ["port"] }],
        },
        monit: "",
        templates: { "web.yml": parts.web, "other.yml": "another template" },
      },
      client: {
        spec: {
          templates: { "client.yml": "config/client.yml" },
          properties: { tag: { default: "" } },
          consumes: [{ name: "web", type: "http", optional: true }],
        },
        monit: "",
        templates: { "client.yml": parts.client },
      },
      plain: {
        spec: { templates: { "plain.yml": "config/plain.yml" }, packages: ["tool"] },
        monit: "",
        templates: { "plain.yml": "a plain one" },
      },
    },
    packages: {
      lib: { files: { packaging: parts.lib } },
      server: { dependencies: ["lib"], files: { packaging: "# server" } },
      tool: { files: { packaging: parts.tool } },
    },
  };
};

interface Parts {
  readonly version: string;
  /** Texts of templates and of packaging scripts. */
  readonly web: string;
  readonly client: string;
  readonly lib: string;
  readonly tool: string;
}
const PARTS: Parts = { version: "1", web: "a template", client: "of a client", lib: "# lib", tool: "# tool" };

/** A release that every test of a file begins with, and deploys of it. */
export function jobsStage() {
  const stage = {} as { bench: Bench };
  beforeAll(async () => {
    stage.bench = await Bench.open();
  });
  afterAll(() => stage.bench.close());
  beforeEach(async () => {
    await stage.bench.prepare({ cpi: { remembers: true }, before: [] });
    await upload(shopRelease());
  });

  let runs = 0;
  const run = (task: NewTask, options: Partial<BenchRunOptions> = {}): Promise<EndedTask> =>
    stage.bench.run(task, { seed: `jobs ${runs++}`, ...options });
  const done = async (task: NewTask, options: Partial<BenchRunOptions> = {}): Promise<EndedTask> => {
    const ended = await run(task, options);
    expect(`${ended.state} ${ended.message}`).toBe("done ");
    return ended;
  };

  async function upload(release: MadeRelease, fix = false): Promise<void> {
    // A separate file: the task removes its file once it has ended.
    const path = join(stage.bench.uploadsDir, `release-${runs}.tgz`);
    await writeFile(path, await releaseTarball(release));
    await done(taskOf("update_release", { path, fix, rebase: false }));
  }

  const task = (groups: readonly GroupSketch[], options: object = {}, more: Partial<ManifestSketch> = {}) =>
    deployTask({ name: "shop", releases: [{ name: "shop", version: "latest" }], groups, ...more }, options);

  /** Nothing stray, and no VM that compiled. */
  async function whole(): Promise<readonly string[]> {
    const { instances, openIntents, strays } = await stage.bench.remembered();
    return [
      ...(await stage.bench.broken()),
      ...instances.filter(({ compilation }) => compilation === true).map(({ group }) => `${group} is left`),
      ...openIntents,
      ...strays.map(({ about }) => about),
    ];
  }

  /** The next deploy of a world that behaves; nothing is left to do after it. */
  async function converges(given: NewTask, options: Partial<BenchRunOptions> = {}): Promise<EndedTask> {
    const ended = await done(given, options);
    expect(await whole()).toEqual([]);
    const again = await done(given, options);
    expect(again.changing).toEqual([]);
    return ended;
  }

  const events = async ({ id }: EndedTask): Promise<string> =>
    (await readOutput(stage.bench.db, id, "event")).data.toString();

  /** Damages a blob where the Director keeps it. */
  async function damage(id: string): Promise<void> {
    const path = join(stage.bench.uploadsDir, "..", "blobs", id);
    const bytes = await readFile(path);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    await writeFile(path, bytes);
  }

  return { stage, run, done, upload, task, whole, converges, events, damage };
}

/** Counts the calls of a method. */
export const count = ({ calls }: Pick<EndedTask, "calls">, method: string): number =>
  calls.filter((call) => call.method === method).length;

/** Changes the outcome of one message to agents. */
export const onAsk = (
  method: string,
  answer: NonNullable<Interference["ask"]>,
): Pick<Required<Interference>, "ask"> => ({
  ask: (call, carryOut) => (call.method === method ? answer(call, carryOut) : undefined),
});

/** No answer, ever. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
