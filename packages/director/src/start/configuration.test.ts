import { rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { basicAuth, HttpClient } from "@slipway/kernel/http/client";
import { systemRandom } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "./configuration.ts";
import { cpiNameOf } from "./cpis-and-agents.ts";
import { type Director, startDirector } from "./director.ts";

let dir: string;
let directors: Director[];
beforeEach(async () => {
  dir = await passableDirectory("configuration");
  directors = [];
});
afterEach(async () => {
  for (const one of directors) await one.close();
  await rm(dir, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(dir, name), text);
  return join(dir, name);
}

/** A certificate of an authority that is not the Director's. */
async function pair(commonName: string) {
  const authority = await openAuthority({
    dir: join(dir, "company"),
    clock: systemClock,
    random: systemRandom,
  });
  const sans = { dns: ["localhost"], ips: ["127.0.0.1"] };
  const issued = await authority.issue({ commonName, sans, usage: "server", days: 2 });
  return {
    ca: issued.ca,
    certificate: await file(`${commonName}.crt`, `${issued.certificate}${issued.ca}`),
    private_key: await file(`${commonName}.key`, issued.privateKey),
  };
}

const wrong = async (path: string): Promise<string> =>
  await readConfig(path).then(
    () => "",
    (error: Error) => error.message,
  );

describe("a configuration file", () => {
  it("is YAML or JSON by its name", async () => {
    const yaml = await file("a.yml", "name: lab\nusers:\n- {name: admin, password: p}\n");
    expect(await readConfig(yaml)).toEqual({ name: "lab", users: [{ name: "admin", password: "p" }] });
    expect(await readConfig(await file("a.json", '{"name": "lab"}'))).toEqual({ name: "lab" });
    expect(await wrong(await file("b.json", "name: lab\n"))).toContain("b.json");
    expect(await wrong(await file("b.yml", "name: [\n"))).toContain("b.yml");
  });

  it("is refused with all mistakes of its form at once", async () => {
    const path = await file(
      "form.yml",
      "nmae: x\nlisten: {port: no, hots: y}\nusers: 7\ncpi: {exec_path: ''}\ndirector: {workers: 0, kept: 1, snapshot_schedule: 61 * * * *, orphan_disk_schedule: 7, orphan_disk_days: -1, keep_events: 0, tasks_deployments_retention_period: [{deployment_name: a}]}\nuaa: {}\nuuid: X\n",
    );
    const said = await wrong(path);
    for (const place of [
      "nmae",
      "listen.port",
      "listen.hots",
      "users",
      "cpi.exec_path",
      "director.workers",
      "director.kept",
      "director.snapshot_schedule",
      "director.orphan_disk_schedule",
      "director.orphan_disk_days",
      "director.keep_events",
      "director.tasks_deployments_retention_period",
      "uaa",
      "uuid",
    ])
      expect(said, place).toContain(`config.${place}`);
    expect(said).toContain('minute "61" is not from 0 to 59');
  });

  it("is refused with all other mistakes at once, and no secret of it", async () => {
    const one = await pair("one");
    const two = await pair("two");
    const path = await file(
      "more.json",
      JSON.stringify({
        users: [
          { name: "a", password: "CANARY" },
          { name: "a", password: "CANARY" },
          { name: "b:c", password: "CANARY" },
        ],
        listen: {
          host: "10.0.0.6",
          plain_http: true,
          certificate: one.certificate,
          private_key: two.private_key,
        },
        agent: { trusted_certs: "/no/such.pem" },
        uaa: { url: "https://u", public_key: "-----BEGIN PUBLIC KEY-----\nCANARY\n" },
      }),
    );
    const said = await wrong(path);
    for (const part of [
      "a stands there twice",
      "b:c has a colon",
      "plain_http",
      "do not belong together",
      "agent.trusted_certs",
      "uaa.public_key",
    ])
      expect(said).toContain(part);
    expect(said).not.toContain("CANARY");
  });
});

it.each([
  [{ name: "aws", exec_path: "/a/b" }, "aws"],
  [{ exec_path: "/var/vcap/jobs/warden_cpi/bin/cpi" }, "warden_cpi"],
  [{ exec_path: "/opt/mine/tiny-cpi.cjs" }, "tiny-cpi"],
  [{}, "in-process"],
])("the CPI of %j is called %s", (cpi, name) => expect(cpiNameOf(cpi, "in-process")).toBe(name));

describe("a Director", () => {
  const start = async (config: DirectorConfig, stateDir = join(dir, "state")) => {
    const director = await startDirector({
      config: {
        cpi: { exec_path: "/bin/true" },
        health: { enabled: false },
        ...config,
        listen: { port: 0, ...config.listen },
      },
      stateDir,
      version: "0.0.0",
      clock: systemClock,
      random: systemRandom,
      log: () => undefined,
    });
    directors.push(director);
    return director;
  };
  /** Returns the user that the Director sees, over a connection that trusts this authority alone. */
  async function user(url: string, ca: string, password: string): Promise<unknown> {
    const http = new HttpClient({ origin: url, clock: systemClock, tls: { ca } });
    try {
      const headers = { authorization: basicAuth("admin", password) };
      const reply = await http.request({ method: "GET", path: "/info", headers, withinMs: 30_000 });
      return (JSON.parse(await reply.text()) as { user: unknown }).user;
    } finally {
      http.close();
    }
  }
  const admin = (password: string) => [{ name: "admin", password }];

  it("shows the certificate that it is given, and takes over another one and other users while it runs", async () => {
    const [one, two] = [await pair("one"), await pair("two")];
    const { ca, ...given } = one;
    const director = await start({ listen: { ...given, ca }, users: admin("first") });
    expect(await user(director.url, ca, "first")).toBe("admin");
    const listen = { certificate: two.certificate, private_key: two.private_key, ca };
    await director.reload({ listen, users: admin("second") });
    expect(await user(director.url, ca, "second")).toBe("admin");
    expect(await user(director.url, ca, "first")).toBeNull();
    // What cannot be used changes nothing.
    const mixed = { certificate: one.certificate, private_key: two.private_key };
    await expect(director.reload({ listen: mixed, users: admin("third") })).rejects.toMatchObject({
      code: "DIR-006",
    });
    expect(await user(director.url, ca, "second")).toBe("admin");
  });

  it("keeps the uuid of its first start, and refuses another", async () => {
    const uuid = "5d1c7d0e-0a53-4c35-9f5e-1f0a7b9b2f10";
    const first = await start({ uuid });
    expect(first.uuid).toBe(uuid);
    await directors.pop()?.close();
    expect((await start({})).uuid).toBe(uuid);
    await directors.pop()?.close();
    const other = "00000000-0000-4000-8000-000000000000";
    await expect(start({ uuid: other })).rejects.toMatchObject({ code: "DIS-051" });
  });

  it("speaks plain HTTP on loopback if configured", async () => {
    const { url } = await start({ listen: { plain_http: true }, users: admin("p") });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest(`${url}/tasks`, { auth: "admin:p" }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      })
        .once("error", reject)
        .end();
    });
    expect(status).toBe(200);
  });
});
