import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { FakeDirector } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  return directory.remove;
});

describe("slipway config check", () => {
  it("says of a file that nothing is wrong with it, or everything that is", async () => {
    const path = join(dir, "director.yml");
    await writeFile(path, "name: lab\nlogging: {level: debug}\n");
    expect(await runCli(["config", "check", path])).toMatchObject({
      code: 0,
      out: `${path}: nothing is wrong\n`,
    });
    await writeFile(path, "nmae: lab\nlogging: {level: loud}\nusers: 7\n");
    const { code, err } = await runCli(["config", "check", path]);
    expect(code).toBe(1);
    for (const place of ["config.nmae", "config.logging.level", "config.users"]) expect(err).toContain(place);
  });

  it("leaves `config` what it was", async () => {
    const { err } = await runCli(["config", "3"]);
    expect(err).not.toContain("check");
    expect((await runCli(["config", "--help"])).out).toContain("show a config");
  });
});

describe("slipway status --director", () => {
  const certificate = { certificate_path: "api.crt", expiry: "2027-01-01T00:00:00Z", days_left: 40 };
  const well = {
    ...{ name: "lab", uuid: "u", version: "1", since: 1_700_000_000, problems: [] },
    queue: { queued: 2, processing: 1, cancelling: 0, oldest_queued_s: 12.4 },
    workers: { slots: 4, busy: 1 },
    database: { kind: "embedded", reachable: true, size_bytes: 8 * 2 ** 20, answered_ms: 3 },
    disk: { directory: "/var/lib/x", free_bytes: 3 * 2 ** 30, size_bytes: 9 * 2 ** 30 },
    certificates: [certificate],
    nats: null,
  };
  const gone = { reachable: false, kind: "external", size_bytes: null, answered_ms: null };

  it.each([
    [
      well,
      [
        "1 running, 2 waiting, the first for 12 s",
        "embedded, 8.0 MiB, answers in 3 ms",
        "api.crt until",
        "none",
      ],
    ],
    [
      {
        ...well,
        queue: null,
        disk: null,
        database: gone,
        nats: { connected: false },
        problems: ["no space"],
      },
      ["no space", "external, does not answer", "unknown", "not connected"],
    ],
    [
      { ...well, restored: { taken_at: 1_700_000_000, not_looked_at: ["bank", "shop"] } },
      [
        "from a backup of 2023-11-14 22:13:20, 2 deployments not looked at yet:",
        "slipway -d bank cloud-check",
        "slipway -d shop cloud-check",
      ],
    ],
  ])("shows what the Director says of itself", async (status, says) => {
    const director = await FakeDirector.start();
    try {
      director.json("GET /info", { name: "lab", uuid: "u", version: "1", user: "admin" });
      director.json("GET /director/status", status);
      const env = { BOSH_CLIENT: "admin", BOSH_CLIENT_SECRET: "p", BOSH_CA_CERT: director.ca };
      const { code, out, err } = await runCli(["-e", director.url, "status", "--director"], { env });
      expect({ code, err }).toMatchObject({ code: 0 });
      for (const words of says) expect(out).toContain(words);
    } finally {
      await director.close();
    }
  });
});
