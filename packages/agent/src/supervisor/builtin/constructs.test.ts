import { utimes, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { freePort } from "@slipway/testkit/free-port";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it, onTestFinished } from "vitest";
import { jobLab } from "../testing/job-lab.ts";

const within = { timeout: 120_000, interval: 20 };

async function listening(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts a supervisor and one job of this text. */
async function started(textOf: (lab: Awaited<ReturnType<typeof jobLab>>) => string) {
  const lab = await jobLab();
  const supervisor = await lab.supervisor();
  await supervisor.watch([await lab.job("web", textOf(lab))]);
  await supervisor.start();
  const stateOf = async (name: string) =>
    (await supervisor.status()).processes.find((one) => one.name === name)?.state;
  const titles = () => lab.sent.map((alert) => alert.title);
  return { lab, supervisor, stateOf, titles };
}

sampleTests(1 / 3);

describe("rules of monit files", () => {
  it("start and restart a process found by pattern, which the next agent recognizes", async () => {
    const { lab, supervisor, stateOf } = await started(
      ({ dir, ctl }) => `check process web matching "${dir} web$"
        start program "${ctl("web", "start")}" stop program "${ctl("web", "stop")}" group vcap`,
    );
    await expect.poll(() => stateOf("web"), within).toBe("running");
    // It has its words before its number is written down.
    await expect.poll(() => lab.pid("web"), within).toBeDefined();
    const first = await lab.pid("web");
    await lab.end("web");
    await expect.poll(() => lab.pid("web"), within).not.toBe(first);
    await expect.poll(() => stateOf("web"), within).toBe("running");
    await supervisor.close();
    const next = await lab.supervisor();
    expect((await next.status()).state).toBe("running");
    expect(await lab.calls()).toEqual(["start web", "start web"]);
  });

  it("restart the process once a page fails often enough, and not before", async () => {
    let status = 200;
    const asked: string[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(status).end();
    });
    const port = await listening(server);
    const { lab, stateOf, titles } = await started(
      () => `CHECK web
        if failed host 127.0.0.1 port ${port} protocol http and request "/healthz" with timeout 5 seconds
          for 2 cycles then restart`,
    );
    await expect.poll(() => asked.length, within).toBeGreaterThan(5);
    expect(new Set(asked)).toEqual(new Set(["GET /healthz"]));
    expect(await stateOf("web")).toBe("running");
    expect(await lab.calls()).toEqual(["start web"]);
    status = 503;
    await expect.poll(async () => (await lab.calls()).length, within).toBeGreaterThanOrEqual(3);
    expect((await lab.calls()).slice(0, 3)).toEqual(["start web", "stop web", "start web"]);
    expect(titles()[0]).toBe("web (10.0.0.5) - connection failed - restart");
    expect(lab.sent[0]?.severity).toBe(1);
  });

  it("report a job as failing while a port is closed, and as running again afterwards", async () => {
    const port = await freePort();
    const { stateOf, titles } = await started(
      () => `CHECK web\n if failed port ${port} type tcp then alert
        check host near with address 127.0.0.1 if failed port ${port} then alert group vcap`,
    );
    for (const name of ["web", "near"]) await expect.poll(() => stateOf(name), within).toBe("failing");
    expect(titles().toSorted()).toEqual([
      "near (10.0.0.5) - connection failed - alert",
      "web (10.0.0.5) - connection failed - alert",
    ]);
    await listening(
      createServer((socket) => void socket.end()),
      port,
    );
    for (const name of ["web", "near"]) await expect.poll(() => stateOf(name), within).toBe("running");
  });

  it("give up after a limit of restarts", async () => {
    const { lab, stateOf, titles } = await started(
      () => "CHECK web\n if 2 restarts within 5000 cycles then unmonitor",
    );
    for (const times of [1, 2]) {
      await expect.poll(() => stateOf("web"), within).toBe("running");
      expect((await lab.calls()).length).toBe(times);
      await lab.end("web");
      if (times === 1) await expect.poll(async () => (await lab.calls()).length, within).toBe(2);
    }
    await expect.poll(() => stateOf("web"), within).toBe("unknown");
    expect(titles()).toContain("web (10.0.0.5) - timeout - unmonitor");
    expect(await lab.calls()).toEqual(["start web", "start web"]);
  });

  it("report that a process ended in passive mode, and do not restart it", async () => {
    const { lab, stateOf, titles } = await started(() => "CHECK web\n mode passive");
    await expect.poll(() => stateOf("web"), within).toBe("running");
    await lab.end("web");
    await expect.poll(titles, within).toEqual(["web (10.0.0.5) - does not exist - alert"]);
    expect(await stateOf("web")).toBe("failing");
    expect(await lab.calls()).toEqual(["start web"]);
  });

  it("run check programs in each cycle, or every few cycles, and fail by their exit codes", async () => {
    const { lab, stateOf, titles } = await started(
      ({
        ctl,
      }) => `check program often with path "${ctl("often", "nothing")}" if status != 0 then alert group vcap
        check program seldom with path "${ctl("seldom", "nothing")}" every 4 cycles if status != 0 then alert
        check program bad with path "/bin/false" if status != 0 then alert group vcap`,
    );
    const counts = async () => {
      const calls = await lab.calls();
      const [often = 0, seldom = 0] = ["often", "seldom"].map(
        (name) => calls.filter((call) => call === `nothing ${name}`).length,
      );
      return { often, seldom };
    };
    await expect.poll(async () => (await counts()).often, within).toBeGreaterThanOrEqual(12);
    const { often, seldom } = await counts();
    expect(Math.abs(often / 4 - seldom)).toBeLessThanOrEqual(1.5);
    await expect.poll(() => stateOf("bad"), within).toBe("failing");
    expect(await stateOf("often")).toBe("running");
    expect(titles()).toEqual(["bad (10.0.0.5) - status failed - alert"]);
  });

  it("report limits that the system, a file system or a file exceeds", async () => {
    const { lab, titles } = await started(({ dir, ctl }) => {
      const file = join(dir, "seen");
      return `check system box if memory usage > 0% then alert if loadavg(5min) > 100000 then alert
        check filesystem disk with path / if space usage > 0% then alert
        check file seen with path ${file} if changed timestamp then exec "${ctl("seen", "nothing")}"`;
    });
    const all = [
      "box (10.0.0.5) - resource limit matched - alert",
      "disk (10.0.0.5) - resource limit matched - alert",
      "seen (10.0.0.5) - does not exist - alert",
    ];
    await expect.poll(() => titles().toSorted(), within).toEqual(all);
    const file = join(lab.dir, "seen");
    await writeFile(file, "");
    let at = 1_000;
    await expect
      .poll(async () => {
        at += 60;
        await utimes(file, at, at);
        return await lab.calls();
      }, within)
      .toContain("nothing seen");
  });
});
