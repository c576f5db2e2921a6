import { createPrivateKey, generateKeyPairSync, webcrypto, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY_MS, givenAuthority, openAuthority } from "./authority.ts";
import { GivenAuthorityUnusable } from "./errors.ts";
import { writePair } from "./pair-file.ts";
import { canSign } from "./sign.ts";
import { x509 } from "./x509.ts";

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
};
const P384 = { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" };

/** Makes an authority as another tool would. */
async function authorityOfOthers(algorithm: typeof RSA | typeof P384, ca = true) {
  const lib = await x509();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await lib.X509CertificateGenerator.createSelfSigned({
    name: "CN=other ca",
    notBefore: new Date(systemClock.now() - DAY_MS),
    notAfter: new Date(systemClock.now() + 10 * DAY_MS),
    keys,
    signingAlgorithm: algorithm,
    extensions: [new lib.BasicConstraintsExtension(ca, undefined, true)],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  return {
    certificate: certificate.toString("pem"),
    privateKey: lib.PemConverter.encode(key, "PRIVATE KEY"),
    where: "nats.client_ca",
  };
}

const tools = { clock: systemClock, random: systemRandom };

describe("an authority made elsewhere", () => {
  it.each([
    ["RSA", RSA],
    ["P-384", P384],
  ])(
    "signs certificates with upstream's subject that clients of a %s authority accept",
    async (_, algorithm) => {
      const given = await authorityOfOthers(algorithm);
      const issued = await givenAuthority(given, tools).issue({
        subject: "bosh",
        commonName: "x.agent.bosh-internal",
        sans: { dns: [], ips: [] },
        usage: "client",
        days: 365,
      });
      const shown = new X509Certificate(issued.certificate);
      expect(shown.verify(new X509Certificate(given.certificate).publicKey)).toBe(true);
      expect(shown.subject.split("\n")).toEqual(["C=USA", "O=Cloud Foundry", "CN=x.agent.bosh-internal"]);
      expect(shown.issuer).toBe("CN=other ca");
      // Never longer than the authority itself.
      expect(issued.until).toBeLessThanOrEqual(systemClock.now() + 10 * DAY_MS);
    },
  );

  it("rejects an authority that cannot sign, says why, and does not reveal its key", async () => {
    const good = await authorityOfOthers(RSA);
    const other = await authorityOfOthers(RSA);
    const late = fakeClock({ start: systemClock.now() + 20 * DAY_MS });
    const why = (given: typeof good, clock = tools.clock) => {
      try {
        givenAuthority(given, { ...tools, clock });
        return "";
      } catch (error) {
        expect(GivenAuthorityUnusable.is(error)).toBe(true);
        expect(String(error)).not.toContain("PRIVATE KEY");
        return String(error);
      }
    };
    expect(why(good)).toBe("");
    expect(why({ ...good, privateKey: other.privateKey })).toContain("do not belong together");
    expect(why({ ...good, privateKey: "junk" })).toContain("cannot be decoded");
    expect(why(await authorityOfOthers(RSA, false))).toContain("not that of an authority");
    expect(why(good, late)).toContain("not valid now");
  });
});

describe("an authority that the operator has put into the state directory", () => {
  let dir: string;
  beforeEach(async () => {
    const made = await temporaryDirectory();
    dir = made.path;
    return made.remove;
  });
  const request = { commonName: "a", sans: { dns: ["a"], ips: [] }, usage: "server", days: 1 } as const;

  it.each([
    ["RSA", RSA],
    ["P-384", P384],
  ])("signs with its key, %s", async (_, algorithm) => {
    const pair = await authorityOfOthers(algorithm);
    await writePair(join(dir, "authority.pem"), pair);
    const issued = await (await openAuthority({ dir, ...tools })).issue(request);
    const signed = new X509Certificate(issued.certificate);
    expect(signed.verify(new X509Certificate(pair.certificate).publicKey)).toBe(true);
  });

  it("is rejected at the start if its key cannot sign", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    expect(canSign(privateKey)).toBe(false);
    expect(canSign(generateKeyPairSync("ed25519").privateKey)).toBe(false);
    const { certificate, privateKey: key } = await authorityOfOthers(RSA);
    // The older form of keys, which is not read.
    const older = createPrivateKey(key).export({ format: "pem", type: "pkcs1" }).toString();
    await writePair(join(dir, "authority.pem"), { certificate, privateKey: older });
    await expect(openAuthority({ dir, ...tools })).rejects.toMatchObject({ code: "DIA-001" });
  });
});
