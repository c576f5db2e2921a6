import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { bundle } from "@slipway/testkit/bundle";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { expect, it } from "vitest";
import { parseYaml } from "../documents/yaml.ts";
import { group, manifest } from "../plan/testing/builders.ts";
import { isFailure } from "../templates/request.ts";
import { rubyFile } from "../templates/ruby-module.ts";
import { WasmRenderer } from "../templates/wasm-renderer.ts";
import { instance, job, knownJob, MANUAL, plannedJobs, release, releases } from "./testing/builders.ts";

sampleTests(1 / 3);

const JOBS = new URL("../../../../examples/counter-release/jobs/", import.meta.url);
const TLS = { ca: "the authority", certificate: "the certificate", private_key: "the key" };

const file = (path: string) => readFile(new URL(path, JOBS));
const specOf = async (name: string) =>
  knownJob(name, parseYaml((await file(`${name}/spec`)).toString(), "spec") as object);

it("the jobs of the example are rendered, and those that consume the counter find it", async () => {
  const [counter, visitor, smoke] = await Promise.all(["counter", "visitor", "smoke"].map(specOf));
  if (counter === undefined || visitor === undefined || smoke === undefined) throw new Error("unreachable");
  const at = (ip: string) => ({ networks: { private: { ...MANUAL.private, ip } } }) as object;
  const planned = plannedJobs({
    manifest: manifest([
      group("counter", 1, { jobs: [job("counter", { properties: { password: "secret", tls: TLS } })] }),
      group("visitor", 1, { jobs: [job("visitor"), job("smoke")] }),
    ]),
    releases: releases(release("demo", counter, visitor, smoke)),
    instances: [instance("counter", 0, at("10.0.0.7")), instance("visitor", 0, at("10.0.0.8"))],
  });
  const pool = new WasmRenderer({
    worker: await bundle(fileURLToPath(new URL("../templates/render-worker.ts", import.meta.url)), {
      format: "esm",
    }),
    ruby: rubyFile(import.meta.url),
    clock: systemClock,
    threads: 1,
    limit: 119_000,
  });
  const rendered = async (name: string, context: JsonObject) => {
    const { templates: all } = (await specOf(name)).job;
    const templates = await Promise.all(
      all.map(async ({ source }) => ({ name: source, source: await file(`${name}/templates/${source}`) })),
    );
    const found = await pool
      .open()
      .render({ dialect: "director", context, templates }, new AbortController().signal);
    const texts = all.map(({ destination }, at) => {
      const one = found[at];
      if (one === undefined || isFailure(one)) throw new Error(one?.message);
      return [destination, Buffer.from(one.text).toString()] as const;
    });
    return Object.fromEntries(texts);
  };
  try {
    const [ofCounter] = planned.instances.get(instance("counter", 0).uuid) ?? [];
    const [ofVisitor, ofSmoke] = planned.instances.get(instance("visitor", 0).uuid) ?? [];
    const server = await rendered("counter", ofCounter?.context ?? {});
    expect(JSON.parse(server["config/counter.json"] ?? "")).toEqual({
      ...{ ip: "10.0.0.7", port: 8443, greeting: "Hello", password: "secret" },
      ...TLS,
      store: "/var/vcap/store/counter",
    });
    const link = { counters: ["10.0.0.7"], port: 8443, password: "secret", ca: TLS.ca };
    const visit = await rendered("visitor", ofVisitor?.context ?? {});
    expect(JSON.parse(visit["config/visitor.json"] ?? "")).toEqual({ ...link, every_seconds: 5 });
    const errand = await rendered("smoke", ofSmoke?.context ?? {});
    expect(JSON.parse(errand["config/smoke.json"] ?? "")).toEqual(link);
    expect(smoke.job.errand).toBe(true);
  } finally {
    await pool.close();
  }
});
