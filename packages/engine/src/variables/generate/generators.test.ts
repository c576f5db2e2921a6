import { createHash, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG_SERVER_GENERATORS, GENERATORS } from "./generators.ts";
import { sha512Crypt } from "./sha512-crypt.ts";

type Values = Record<string, unknown>;
interface Certificate {
  readonly ca: string;
  readonly certificate: string;
  readonly private_key: string;
}

const DAY = 86_400_000;
const clock = fakeClock({ start: Date.UTC(2030, 0, 1) });

async function make<T>(type: string, options: unknown = null, known: Values = {}): Promise<T> {
  const generator = await GENERATORS[type]?.();
  return (await generator?.(options, {
    clock,
    random: systemRandom,
    bits: 1024,
    lookUp: (name) => (Object.hasOwn(known, name) ? { value: known[name] } : undefined),
    fail: (why) => new Error(why),
  })) as T;
}
const certificate = (options: unknown, known?: Values) => make<Certificate>("certificate", options, known);

describe("passwords", () => {
  it("are 20 small letters and digits, or as many as wanted, each time others", async () => {
    expect(await make("password")).toMatch(/^[a-z0-9]{20}$/);
    expect(await make("password", { length: 40 })).toMatch(/^[a-z0-9]{40}$/);
    expect(await make("password", { length: 0 })).toMatch(/^[a-z0-9]{20}$/);
    expect(await make("password")).not.toBe(await make("password"));
  });

  it("use all letters about equally", async () => {
    const text = await make<string>("password", { length: 4096 });
    const counts = new Map<string, number>();
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(36);
    expect(Math.min(...counts.values())).toBeGreaterThan(50);
    expect(Math.max(...counts.values())).toBeLessThan(200);
  });

  it.each<[unknown, RegExp]>([
    [{ size: 1 }, /Failed to generate password, parameters are invalid: Unsupported parameter 'size'/],
    [{ length: -1 }, /'length' param cannot be negative/],
    [{ length: "ten" }, /'length' must be a number/],
    [[1], /options must be a map/],
  ])("%j is refused", (options, words) => expect(make("password", options)).rejects.toThrow(words));
});

describe("keys", () => {
  it("rsa: PKCS#1 and its public key", async () => {
    const { private_key, public_key } = await make<{ private_key: string; public_key: string }>("rsa", {
      any: 1,
    });
    expect(private_key).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n.*-----END RSA PRIVATE KEY-----\n$/s);
    expect(public_key).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(createPublicKey(createPrivateKey(private_key)).equals(createPublicKey(public_key))).toBe(true);
  });

  it("ssh: the public key in one line, and its fingerprint", async () => {
    const made = await make<Record<"private_key" | "public_key" | "public_key_fingerprint", string>>("ssh");
    const [name, base64 = "", ...rest] = made.public_key.trimEnd().split(" ");
    expect([name, rest, made.public_key.endsWith("\n")]).toEqual(["ssh-rsa", [], true]);
    const wire = Buffer.from(base64, "base64");
    expect(made.public_key_fingerprint.replaceAll(":", "")).toBe(
      createHash("md5").update(wire).digest("hex"),
    );
    expect(made.public_key_fingerprint).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/);
    const modulus = createPrivateKey(made.private_key).export({ format: "jwk" }).n ?? "";
    expect(wire.subarray(-128).toString("base64url")).toBe(modulus);
  });
});

describe("certificates", () => {
  it("a root signs itself", async () => {
    const root = await certificate({
      is_ca: true,
      common_name: "root",
      duration: 10,
      alternative_names: ["x"],
    });
    const read = new X509Certificate(root.certificate);
    expect(root.ca).toBe(root.certificate);
    expect(read.ca).toBe(true);
    expect(read.subject).toBe("C=US\nO=Cloud Foundry\nCN=root");
    expect(read.subjectAltName).toBeUndefined();
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.checkPrivateKey(createPrivateKey(root.private_key))).toBe(true);
    expect(Date.parse(read.validTo) - Date.parse(read.validFrom)).toBe(10 * DAY);
    expect(read.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  it("a leaf is signed by the authority named, through one in between", async () => {
    const root = await certificate({ is_ca: true, common_name: "root" });
    const middle = await certificate({ is_ca: true, common_name: "middle", ca: "root" }, { root });
    const leaf = await certificate(
      {
        ca: "middle",
        common_name: 10,
        organization: "Ours, Inc.",
        alternative_names: ["db.internal", "*.db", "10.0.0.1", "::1"],
        extended_key_usage: ["client_auth", "server_auth"],
      },
      { root, middle },
    );
    expect([middle.ca, leaf.ca]).toEqual([root.certificate, middle.certificate]);
    const [r, m, l] = [root, middle, leaf].map((one) => new X509Certificate(one.certificate));
    if (r === undefined || m === undefined || l === undefined) throw new Error("unreachable");
    expect([m.checkIssued(r), m.verify(r.publicKey), l.checkIssued(m), l.verify(m.publicKey)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(l.ca).toBe(false);
    expect(l.subject).toBe("C=US\nO=Ours\\, Inc.\nCN=10");
    expect(l.subjectAltName).toBe(
      "DNS:db.internal, DNS:*.db, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
    expect(l.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
    expect(Date.parse(l.validTo) - Date.parse(l.validFrom)).toBe(365 * DAY);
  });

  it("a key has the length asked for", async () => {
    const { private_key } = await certificate({ is_ca: true, key_length: 2048 });
    expect(createPrivateKey(private_key).asymmetricKeyDetails?.modulusLength).toBe(2048);
  });

  it.each<[string, unknown, RegExp]>([
    ["no authority", { common_name: "x" }, /^Missing required CA name$/],
    ["one that is not there", { ca: "gone" }, /Expected to find variable 'gone' with a certificate/],
    ["one that is none", { ca: "text" }, /Expected to find variable 'text' with a certificate/],
    [
      "one that is damaged",
      { ca: "damaged" },
      /'damaged' cannot sign: its certificate or private key is not readable/,
    ],
    [
      "an option nobody knows",
      { is_ca: true, key_usage: [] },
      /parameters are invalid: Unsupported parameter 'key_usage'/,
    ],
    [
      "a usage nobody knows",
      { ca: "x", extended_key_usage: ["fun"] },
      /^Unsupported extended key usage value: fun$/,
    ],
    ["a length nobody wants", { is_ca: true, key_length: 512 }, /'key_length' must be 2048, 3072 or 4096/],
    ["days that are none", { is_ca: true, duration: "long" }, /'duration' must be a number of days/],
    [
      "names that are no list",
      { ca: "x", alternative_names: "x" },
      /'alternative_names' must be a list of strings/,
    ],
  ])("%s is refused", (_, options, words) =>
    expect(
      certificate(options, { text: "x", damaged: { certificate: "-----BEGIN", private_key: "-----BEGIN" } }),
    ).rejects.toThrow(words),
  );

  it("only an authority signs, and only with its own key", async () => {
    const root = await certificate({ is_ca: true });
    const leaf = await certificate({ ca: "root" }, { root });
    const mixed = { ...root, private_key: leaf.private_key };
    await expect(certificate({ ca: "leaf" }, { leaf })).rejects.toThrow(/not that of an authority/);
    await expect(certificate({ ca: "mixed" }, { mixed })).rejects.toThrow(/does not belong/);
  });
});

const openssl = await systemExec("openssl", ["version"], { keep: 1024 }).then(
  ({ code }) => code === 0,
  () => false,
);

describe.runIf(needs("openssl", openssl))("certificates, as openssl sees them", () => {
  it("verify for their purpose and name, through one in between", async () => {
    const { path: dir, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const root = await certificate({ is_ca: true, common_name: "root" });
    const middle = await certificate({ is_ca: true, common_name: "middle", ca: "root" }, { root });
    const leaf = await certificate(
      { ca: "middle", common_name: "leaf", alternative_names: ["db.internal"] },
      { middle },
    );
    const file = async (name: string, text: string) => {
      await writeFile(join(dir, name), text);
      return join(dir, name);
    };
    const [trusted, between, own] = [
      await file("r", root.certificate),
      await file("m", middle.certificate),
      await file("l", leaf.certificate),
    ];
    const verify = (...more: readonly string[]) =>
      systemExec(
        "openssl",
        [
          "verify",
          "-x509_strict",
          "-attime",
          String(Math.floor(clock.now() / 1000) + 60),
          "-auth_level",
          "0",
          "-CAfile",
          trusted,
          ...more,
        ],
        { keep: 64 * 1024 },
      );
    const good = await verify(
      "-untrusted",
      between,
      "-purpose",
      "sslserver",
      "-verify_hostname",
      "db.internal",
      own,
    );
    expect([good.code, good.stdout.trim(), good.stderr]).toEqual([0, `${own}: OK`, ""]);
    expect((await verify(own)).code).not.toBe(0);
    expect((await verify("-untrusted", between, "-purpose", "sslclient", own)).code).not.toBe(0);
    expect((await verify("-untrusted", between, "-verify_hostname", "other", own)).code).not.toBe(0);
  });
});

describe("users", () => {
  it("have a name, a password and its hash as /etc/shadow has it", async () => {
    const generator = await CONFIG_SERVER_GENERATORS.user?.();
    const around = {
      clock,
      random: systemRandom,
      lookUp: () => undefined,
      fail: (why: string) => new Error(why),
    };
    const named = await generator?.({ username: "ada" }, around);
    expect(named).toEqual({
      username: "ada",
      password: expect.stringMatching(/^[a-z0-9]{20}$/),
      password_hash: expect.stringMatching(/^\$6\$[a-z0-9]{16}\$[./0-9A-Za-z]{86}$/),
    });
    expect(await generator?.(null, around)).toMatchObject({
      username: expect.stringMatching(/^[a-z0-9]{20}$/),
    });
    expect(GENERATORS.user).toBeUndefined();
  });

  it.each([
    [
      "hello world",
      "abcdefgh",
      "hFDitY/liWzpm0.RmThCqSGqUc1w9IslmxZUXxcCE2mj3qloB0LUkyLN4wiGCpMZQoodMSyUC2NEF2yBgNpu5/",
    ],
    [
      "x",
      "0123456789abcdef",
      "8YztVyzwDEH96nI5J4SMvvvaVH43cm6MjQyfl3gZsAa8rZMsHQVTiLQraFpug5a6xlaOJbzt.7jq8UBJs4F7M1",
    ],
  ])("the hash of '%s' is the one openssl makes", (password, salt, hash) => {
    expect(sha512Crypt(password, salt)).toBe(`$6$${salt}$${hash}`);
  });
});
