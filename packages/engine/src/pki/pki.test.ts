import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { systemClock } from "@slipway/kernel/clock";
import { CommandMissing, systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DAY_MS, openAuthority } from "./authority.ts";
import { directorCertificate } from "./director-certificate.ts";
import { AuthorityEnded, AuthorityUnreadable, NameUnusable, PkiFileFailed } from "./errors.ts";
import { servedNames } from "./served-names.ts";

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = join(directory.path, "pki");
  return directory.remove;
});

const authority = (clock = systemClock) => openAuthority({ dir, clock, random: systemRandom });
const file = () => join(dir, "authority.pem");
const SANS = { dns: ["agent-1", "db.internal"], ips: ["10.0.0.2", "fd00::2"] };

describe("the authority", () => {
  it("is the same after a restart, and readable by its owner only", async () => {
    const first = await authority();
    expect((await authority()).ca).toBe(first.ca);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dir)).toEqual(["authority.pem"]);
  });

  it("issues certificates that hold what was asked for, each with a key of its own", async () => {
    const { issue, ca } = await authority();
    const one = await issue({ commonName: "agent-1", sans: SANS, usage: "server", days: 3 });
    const two = await issue({ commonName: "agent-1", sans: SANS, usage: "server", days: 3 });
    const parsed = new X509Certificate(one.certificate);
    expect(parsed.checkPrivateKey(createPrivateKey(one.privateKey))).toBe(true);
    expect(one.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(one.privateKey).not.toBe(two.privateKey);
    expect(parsed.serialNumber).not.toBe(new X509Certificate(two.certificate).serialNumber);
    expect(parsed.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(parsed.ca).toBe(false);
    for (const name of SANS.dns) expect(parsed.checkHost(name)).toBe(name);
    for (const ip of SANS.ips) expect(parsed.checkIP(ip)).toBe(ip);
    expect(Date.parse(parsed.validTo)).toBe(one.until);
    expect(one.until - systemClock.now()).toBeLessThanOrEqual(3 * DAY_MS);
    expect(Date.parse(parsed.validFrom)).toBeLessThan(systemClock.now());
  });

  it("issues certificates that end after 2049, for names with any letter and many addresses", async () => {
    const clock = fakeClock({ start: Date.UTC(2045, 0, 1) });
    const { issue, ca } = await authority(clock);
    const ips = Array.from({ length: 60 }, (_, n) => `fd00::${n.toString(16)}`);
    const order = { commonName: "Zoë_1", sans: { dns: [], ips }, usage: "client", days: 3000 } as const;
    const { certificate, until } = await issue(order);
    const parsed = new X509Certificate(certificate);
    expect(parsed.subject).toBe("O=Slipway\nCN=Zoë_1");
    expect(Date.parse(parsed.validTo)).toBe(until);
    expect(new Date(until).getUTCFullYear()).toBe(2053);
    expect(ips.map((ip) => parsed.checkIP(ip))).toEqual(ips);
    expect(parsed.checkIssued(new X509Certificate(ca))).toBe(true);
    expect(parsed.verify(new X509Certificate(ca).publicKey)).toBe(true);
  });

  it("refuses an address of one machine's interface", async () => {
    const { issue } = await authority();
    const sans = { dns: [], ips: ["fe80::1%eth0"] };
    const error: unknown = await issue({ commonName: "a", sans, usage: "server", days: 1 }).catch((e) => e);
    expect(NameUnusable.is(error)).toBe(true);
  });

  it("never certifies longer than it lasts itself", async () => {
    const clock = fakeClock({ start: systemClock.now() });
    const { issue, ca } = await authority(clock);
    const issued = await issue({ commonName: "a", sans: SANS, usage: "server", days: 100_000 });
    expect(issued.until).toBeLessThanOrEqual(Date.parse(new X509Certificate(ca).validTo));
  });

  it.each([
    ["a name with a blank", { dns: ["a b"], ips: [] }],
    ["an address that is none", { dns: [], ips: ["10.0.0"] }],
    ["an empty name", { dns: [""], ips: [] }],
  ])("refuses %s", async (_, sans) => {
    const { issue } = await authority();
    await expect(issue({ commonName: "a", sans, usage: "server", days: 1 })).rejects.toSatisfy(
      NameUnusable.is,
    );
  });

  it("is believed by openssl, for the purpose it was issued for and no other", async (context) => {
    const { issue, ca } = await authority();
    const chain = join(dir, "ca.pem");
    await writeFile(chain, ca);
    for (const [usage, purpose, other] of [
      ["server", "sslserver", "sslclient"],
      ["client", "sslclient", "sslserver"],
    ] as const) {
      const leaf = join(dir, "leaf.pem");
      await writeFile(leaf, (await issue({ commonName: "a", sans: SANS, usage, days: 1 })).certificate);
      const verify = (as: string) =>
        systemExec("openssl", ["verify", "-x509_strict", "-purpose", as, "-CAfile", chain, leaf]);
      const result = await verify(purpose).catch((error: unknown) => {
        if (CommandMissing.is(error)) return undefined;
        throw error;
      });
      if (result === undefined) return context.skip("openssl is not here");
      expect(result).toMatchObject({ code: 0, stdout: `${leaf}: OK\n` });
      expect((await verify(other)).code).not.toBe(0);
    }
  });

  it.each<[what: string, damage: (whole: string) => string]>([
    ["cut in the middle", (whole) => whole.slice(0, whole.length / 2)],
    ["without its certificate", (whole) => whole.slice(0, whole.indexOf("-----BEGIN CERT"))],
    ["without its key", (whole) => whole.slice(whole.indexOf("-----BEGIN CERT"))],
    ["empty", () => ""],
    ["other text", () => "hello"],
    ["with a garbled certificate", (whole) => whole.replace(/(BEGIN CERTIFICATE-----\n)..../, "$1AAAA")],
  ])("%s is an error, and the file stays as it is", async (_, damage) => {
    await authority();
    const torn = damage(await readFile(file(), "utf8"));
    await writeFile(file(), torn);
    await expect(authority()).rejects.toSatisfy(AuthorityUnreadable.is);
    expect(await readFile(file(), "utf8")).toBe(torn);
  });

  it("rejects a certificate with the key of another authority", async () => {
    const first = await authority();
    const foreign = await first.issue({ commonName: "x", sans: SANS, usage: "client", days: 1 });
    await writeFile(file(), `${foreign.privateKey}${first.ca}`);
    await expect(authority()).rejects.toThrow(/do not belong together/);
    await writeFile(file(), `${foreign.privateKey}${foreign.certificate}`);
    await expect(authority()).rejects.toThrow(/not that of an authority/);
  });

  it("rejects an authority that has ended, and says so", async () => {
    await authority();
    const later = fakeClock({ start: systemClock.now() + 11 * 365 * DAY_MS });
    await expect(authority(later)).rejects.toSatisfy(AuthorityEnded.is);
  });

  it.skipIf(process.getuid?.() === 0)("fails if its file cannot be read, and makes no new one", async () => {
    await authority();
    await chmod(file(), 0o000);
    await expect(authority()).rejects.toSatisfy(PkiFileFailed.is);
  });
});

describe("the names of the Director's certificate", () => {
  const addresses = ["127.0.0.1", "192.168.1.5", "fd00::5"];
  it.each([
    ["127.0.0.1", [], ["localhost"], ["127.0.0.1"]],
    [
      "10.0.0.6",
      ["bosh.example.com", "203.0.113.9"],
      ["localhost", "bosh.example.com"],
      ["127.0.0.1", "10.0.0.6", "203.0.113.9"],
    ],
    ["0.0.0.0", [], ["localhost"], ["127.0.0.1", "::1", "192.168.1.5"]],
    ["::", ["[fd00::9]"], ["localhost"], ["127.0.0.1", "::1", "192.168.1.5", "fd00::5", "fd00::9"]],
    ["director.local", [], ["localhost", "director.local"], ["127.0.0.1"]],
  ])("listening on %s", (host, names, dns, ips) => {
    expect(servedNames({ host, names, addresses })).toEqual({ dns, ips });
  });

  it.each(["https://bosh", "a:25555", "a b", ""])("%j is refused", (name) => {
    expect(() => servedNames({ host: "127.0.0.1", names: [name], addresses })).toThrow(
      /cannot stand in a certificate/,
    );
  });
});

describe("the Director's certificate", () => {
  const get = async (
    more: { names?: readonly string[]; clock?: typeof systemClock; warn?: (line: string) => void } = {},
  ) =>
    await directorCertificate({
      authority: await authority(more.clock),
      dir,
      clock: more.clock ?? systemClock,
      host: "127.0.0.1",
      names: more.names ?? [],
      addresses: [],
      warn: more.warn ?? (() => {}),
    });

  it("serves TLS that a client who knows the CA believes, by name and by address", async () => {
    const { key, cert, paths } = await get({ names: ["director.test"] });
    const server = createServer({ key, cert });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ca = await readFile(paths.ca, "utf8");
    for (const servername of ["localhost", "director.test", undefined]) {
      const name = servername === undefined ? {} : { servername };
      const socket = connect({ host: "127.0.0.1", port, ca, ...name });
      const protocol = await new Promise((resolve, reject) => {
        socket.once("secureConnect", () => resolve(socket.getProtocol()));
        socket.once("error", reject);
      });
      expect(protocol).toBe("TLSv1.3");
      socket.destroy();
    }
  });

  it("is kept from start to start, for its owner only", async () => {
    const first = await get();
    const again = await get();
    expect(again).toEqual(first);
    expect((await stat(first.paths.pair)).mode & 0o777).toBe(0o600);
  });

  it("is reissued if a name is missing, and kept if a name is no longer wanted", async () => {
    const first = await get();
    const more = await get({ names: ["other.test"] });
    expect(more.cert).not.toBe(first.cert);
    expect((await get()).cert).toBe(more.cert);
  });

  it("is reissued before it ends, and if its authority is another", async () => {
    const first = await get();
    const soon = fakeClock({ start: first.until - 29 * DAY_MS });
    expect((await get({ clock: soon })).cert).not.toBe(first.cert);
    const before = await get();
    await rm(file());
    const after = await get();
    expect(after.cert).not.toBe(before.cert);
    expect(await readFile(after.paths.ca, "utf8")).toBe(after.ca);
    expect(after.ca).not.toBe(before.ca);
  });

  it("is reissued if it was issued while the clock was ahead and is not valid yet", async () => {
    const first = await get();
    // By less than the authority lasts, and by more than a certificate is backdated.
    const ahead = fakeClock({ start: first.until + 400 * DAY_MS });
    const early = await get({ clock: ahead });
    expect(Date.parse(new X509Certificate(early.cert).validFrom)).toBeGreaterThan(systemClock.now());
    const now = await get();
    expect(now.cert).not.toBe(early.cert);
    expect(Date.parse(new X509Certificate(now.cert).validFrom)).toBeLessThan(systemClock.now());
    expect((await get()).cert).toBe(now.cert);
  });

  it("when torn is set aside and said to be, and another one made", async () => {
    const first = await get();
    await truncate(first.paths.pair, 100);
    const warnings: string[] = [];
    const next = await get({ warn: (line) => warnings.push(line) });
    expect(next.cert).not.toBe(first.cert);
    expect(warnings).toHaveLength(1);
    const aside = (await readdir(dir)).filter((name) => name.startsWith("director.pem.torn-"));
    expect(aside).toHaveLength(1);
    expect(warnings[0]).toContain(aside[0]);
  });
});
