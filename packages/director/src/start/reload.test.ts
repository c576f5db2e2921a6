import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { basicAuth, requestOnce } from "@slipway/kernel/http/client";
import { systemRandom } from "@slipway/kernel/random";
import { expectNoSecrets } from "@slipway/testkit/canaries";
import { proxyServer } from "@slipway/testkit/proxy-server";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { receiver } from "../tracing/testing/receiver.ts";
import { runDirector } from "./command.ts";
import { openObservability } from "./observability.ts";
import { smallDirector } from "./testing/small-director.ts";

describe("a Director that runs", () => {
  let small: Awaited<ReturnType<typeof smallDirector>>;
  beforeEach(async () => {
    small = await smallDirector();
  });
  afterEach(() => small.close());

  it("downloads through another proxy, or through none, from then on", async () => {
    const [one, other] = [await proxyServer(), await proxyServer()];
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    const fetched = async () => {
      await small.stemcellFrom("https://files.invalid/stemcell.tgz");
      return [one.seen.length, other.seen.length];
    };
    expect(await fetched()).toEqual([0, 0]);
    await small.reload({ proxy: { https: one.url } });
    expect(await fetched()).toEqual([1, 0]);
    await small.reload({ proxy: { https: other.url } });
    expect(await fetched()).toEqual([1, 1]);
    await small.reload({});
    expect(await fetched()).toEqual([1, 1]);
  });

  it("traces to another collector, or not at all, from then on", async () => {
    const [one, other] = [await receiver(), await receiver()];
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    const to = (endpoint: string) => small.reload({ tracing: { otlp: { endpoint } } });
    const run = async () => String(await small.taskOf("/vms/vm-1"));
    /** The tasks whose spans are there. */
    const tasks = ({ seen }: typeof one) =>
      seen.spans.flatMap(({ name, attributes }) =>
        name === "task delete_vm"
          ? attributes.flatMap(({ key, value }) =>
              key === "slipway.task.id" && "intValue" in value ? [value.intValue] : [],
            )
          : [],
      );
    await run();
    await to(one.url);
    const first = await run();
    await to(other.url);
    const second = await run();
    // What cannot be used changes nothing.
    const otlp = { endpoint: one.url, headers: { authorization: "/no/such/file" } };
    await expect(small.reload({ tracing: { otlp } })).rejects.toMatchObject({ code: "DIR-021" });
    const third = await run();
    await small.reload({});
    await expect.poll(() => tasks(other)).toEqual([second, third]);
    await run();
    await small.close();
    expect(tasks(one)).toEqual([first]);
    expect(tasks(other)).toEqual([second, third]);
    expect([...one.seen.wrong, ...other.seen.wrong]).toEqual([]);
  });
});

it("a task that has begun untraced stays so, and makes no half of a trace", async () => {
  const collector = await receiver();
  onTestFinished(() => collector.close());
  const closes: (() => Promise<void>)[] = [];
  const observability = await openObservability(
    {
      config: {},
      stateDir: "/nowhere",
      version: "0.0.0",
      clock: systemClock,
      random: systemRandom,
      log: () => undefined,
    },
    (close) => closes.push(close),
  );
  const begin = (id: number) =>
    observability.watch({
      ...{ id, type: "delete_vm", user: "admin", deployment: undefined },
      ...{ attempt: 1, contextId: "", traceParent: undefined },
    });
  const before = begin(1);
  (await observability.prepare({ tracing: { otlp: { endpoint: collector.url } } }))();
  const after = begin(2);
  for (const run of [before, after]) {
    run.step("Delete VM", "vm-1", []).ended();
    run.ended("done");
  }
  for (const close of closes) await close();
  expect(collector.seen.spans.map(({ name }) => name)).toEqual(["Delete VM", "task delete_vm"]);
});

describe("the program", () => {
  it("says what it took over, what takes a restart, and why it took over nothing", async () => {
    const proxy = await proxyServer({ password: "CANARY-of-the-proxy" });
    const dir = await passableDirectory("reload");
    const config = join(dir, "config.json");
    const stop = new AbortController();
    vi.stubEnv("https_proxy", `http://u:CANARY-of-the-proxy@127.0.0.1:${proxy.port}`);
    const write = (more: object) =>
      writeFile(
        config,
        JSON.stringify({
          listen: { plain_http: true },
          users: [{ name: "admin", password: "CANARY-password" }],
          cpi: { exec_path: "/bin/true", properties: { key: "CANARY-of-the-cpi" } },
          health: { enabled: false },
          ...more,
        }),
      );
    const said = { out: "", err: "" };
    const into = (where: "out" | "err") => ({ write: (text: string) => (said[where] += text) });
    let hangUp = () => {};
    await write({});
    const over = runDirector(["--config", config, "--state-dir", join(dir, "state"), "--port", "0"], {
      out: into("out"),
      err: into("err"),
      stop: stop.signal,
      onReload: (reload) => {
        hangUp = reload;
      },
    });
    onTestFinished(async () => {
      stop.abort();
      await over;
      vi.unstubAllEnvs();
      await proxy.close();
      await rm(dir, { recursive: true, force: true });
    });
    await expect.poll(() => said.out, { timeout: 60_000 }).toContain("Ctrl-C");
    /** Returns what is logged when the file is read again. */
    const reloaded = async (more: object) => {
      await write(more);
      said.err = "";
      hangUp();
      await expect.poll(() => said.err).toMatch(/configuration .*\n$/);
      return said.err;
    };

    const tookOver =
      "as it says are now: users, listen.certificate, listen.private_key, listen.ca, logging, proxy, tracing\n";
    // The flags are the same, and the environment.
    const quiet = await reloaded({ proxy: { no_proxy: "a.example" } });
    expect(quiet).toContain(tookOver);
    expect(quiet).not.toContain("restart");
    const changed = {
      name: "other",
      listen: { plain_http: true, host: "::1", port: 1 },
      cpi: { exec_path: "/bin/true", properties: { key: "CANARY-of-another" } },
      director: { workers: 2 },
      health: { enabled: false },
      state_dir: "/elsewhere",
    };
    const more = await reloaded(changed);
    expect(more).toContain(tookOver);
    expect(more).toMatch(/WARN .* takes a restart: cpi\.properties, director\.workers, listen\.host, name\n/);
    // It is still another one than at the start.
    expect(await reloaded(changed)).toContain("director.workers");
    const refused = await reloaded({ proxy: { http: "no address" } });
    expect(refused).toContain("config.proxy.http");
    expect(refused).toContain("DIR-007");
    expect(refused).not.toContain("as it says");
    expectNoSecrets(`${quiet}${more}${refused}`);

    // A file that names no proxy any more leaves the environment's.
    await reloaded({});
    const url = /http:\/\/\S+:\d+/.exec(said.out)?.[0] ?? "";
    await requestOnce(
      { origin: url, clock: systemClock },
      {
        method: "POST",
        path: "/stemcells",
        headers: {
          authorization: basicAuth("admin", "CANARY-password"),
          "content-type": "application/json",
        },
        body: JSON.stringify({ location: "https://files.invalid/stemcell.tgz" }),
        withinMs: 60_000,
      },
    );
    await expect.poll(() => proxy.seen).toEqual(["CONNECT files.invalid:443"]);
    stop.abort();
    expect(await over).toBe(0);
  });
});
