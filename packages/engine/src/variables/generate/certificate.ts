import { createHash, createPrivateKey, type KeyObject, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Random } from "@slipway/kernel/random";
import { isObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { own } from "../../documents/tree.ts";
import { x509 } from "../../pki/x509.ts";
import { type Around, type Generator, readOptions } from "./generator.ts";
import { privatePem, rsaKeys } from "./rsa.ts";

const BITS = 3072;
const DAYS = 365;
const DAY_MS = 86_400_000;
const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;

/** A common name may be written like a number. */
const text = v.union([v.string(), v.pipe(v.number(), v.transform(String))], "must be a string");
const texts = v.array(text, "must be a list of strings");
const OPTIONS = {
  common_name: v.nullish(text),
  organization: v.nullish(text),
  alternative_names: v.nullish(texts),
  is_ca: v.nullish(v.boolean("must be true or false")),
  ca: v.nullish(text),
  extended_key_usage: v.nullish(texts),
  duration: v.nullish(
    v.pipe(
      v.number("must be a number of days"),
      v.integer("must be a whole number of days"),
      v.minValue(0, "cannot be negative"),
      v.maxValue(365_000, "is more than certificates can say"),
    ),
  ),
  key_length: v.nullish(v.picklist([2048, 3072, 4096], "must be 2048, 3072 or 4096")),
};

type Library = Awaited<ReturnType<typeof x509>>;

/** Certificate and key of the signing authority. */
interface Signer {
  readonly certificate: InstanceType<Library["X509Certificate"]>;
  readonly key: KeyObject;
  /** PEM of a further authority to trust, while one replaces the other. */
  readonly transitional: string;
}

export const certificate: Generator = async (given, around) => {
  const options = readOptions("certificate", OPTIONS, given, around);
  if (!options.is_ca && !options.ca) throw around.fail("Missing required CA name");
  const usages = (options.extended_key_usage ?? []).map((name) => usageOf(name, around));
  const lib = await x509();
  const signer = options.ca ? findSigner(options.ca, lib, around) : undefined;
  const keys = await rsaKeys(options.key_length ?? around.bits ?? BITS);
  const now = Math.floor(around.clock.now() / 1000) * 1000;
  const subject = new lib.Name([
    { C: [{ printableString: "US" }] },
    { O: [options.organization || "Cloud Foundry"] },
    ...(options.common_name ? [{ CN: [options.common_name] }] : []),
  ]);
  const keyId = createHash("sha1").update(modulus(keys.publicKey)).digest("hex");
  const signerId = signer?.certificate.getExtension(lib.SubjectKeyIdentifierExtension)?.keyId ?? keyId;
  const made = await lib.X509CertificateGenerator.create({
    serialNumber: serial(around.random),
    subject: subject.toJSON(),
    issuer: (signer?.certificate.subjectName ?? subject).toJSON(),
    notBefore: new Date(now),
    notAfter: new Date(now + (options.duration || DAYS) * DAY_MS),
    publicKey: await publicKey(keys.publicKey),
    signingKey: await signingKey(signer?.key ?? keys.privateKey),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new lib.BasicConstraintsExtension(options.is_ca === true, undefined, true),
      new lib.SubjectKeyIdentifierExtension(keyId),
      new lib.AuthorityKeyIdentifierExtension(signerId),
      ...(options.is_ca === true
        ? authorityExtensions(lib)
        : leafExtensions(lib, usages, options.alternative_names ?? [])),
    ],
  });
  return {
    ca: pem(signer?.certificate ?? made) + (signer?.transitional ?? ""),
    certificate: pem(made),
    private_key: privatePem(keys.privateKey),
  };
};

const USAGES: Readonly<Record<string, "clientAuth" | "serverAuth">> = {
  client_auth: "clientAuth",
  server_auth: "serverAuth",
};

function usageOf(name: string, around: Around): "clientAuth" | "serverAuth" {
  const found = Object.hasOwn(USAGES, name) ? USAGES[name] : undefined;
  if (found === undefined) throw around.fail(`Unsupported extended key usage value: ${name}`);
  return found;
}

const authorityExtensions = (lib: Library) => [
  new lib.KeyUsagesExtension(lib.KeyUsageFlags.keyCertSign | lib.KeyUsageFlags.cRLSign, true),
];

function leafExtensions(
  lib: Library,
  usages: readonly ("clientAuth" | "serverAuth")[],
  names: readonly string[],
) {
  const flags = lib.KeyUsageFlags;
  const purposes = (usages.length === 0 ? (["serverAuth"] as const) : usages).map(
    (one) => lib.ExtendedKeyUsage[one],
  );
  const alternatives = names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const);
  return [
    new lib.KeyUsagesExtension(flags.digitalSignature | flags.keyEncipherment, true),
    new lib.ExtendedKeyUsageExtension(purposes, false),
    ...(alternatives.length > 0 ? [new lib.SubjectAlternativeNameExtension(alternatives)] : []),
  ];
}

function findSigner(name: string, lib: Library, around: Around): Signer {
  const missing = () =>
    around.fail(`Expected to find variable '${name}' with a certificate; define it before this one`);
  const value = around.lookUp(name)?.value;
  if (!isObject(value)) throw missing();
  const [certificate, key] = [own(value, "certificate"), own(value, "private_key")];
  if (typeof certificate !== "string" || typeof key !== "string") throw missing();
  const bad = (why: string, cause?: unknown) =>
    around.fail(`the authority '${name}' cannot sign: ${why}`, cause);
  let read: X509Certificate;
  let signing: KeyObject;
  try {
    read = new X509Certificate(certificate);
    signing = createPrivateKey(key);
  } catch (cause) {
    // Not the cause's own words: they could quote the key.
    throw bad("its certificate or private key is not readable PEM", cause);
  }
  if (!read.ca) throw bad("its certificate is not that of an authority (is_ca: true)");
  if (signing.asymmetricKeyType !== "rsa") throw bad("its private key must be an RSA key");
  if (!read.checkPrivateKey(signing)) throw bad("its private key does not belong to its certificate");
  const transitional = own(value, "transitional_ca");
  return {
    certificate: new lib.X509Certificate(read.raw),
    key: signing,
    transitional: typeof transitional === "string" ? transitional : "",
  };
}

const pem = (one: InstanceType<Library["X509Certificate"]>): string => `${one.toString("pem").trim()}\n`;

const modulus = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).n ?? "", "base64url");

/** 128 bits of which the first two are fixed: positive, and always of the same length. */
function serial(random: Random): string {
  const hex = random.hex(16);
  const first = (Number.parseInt(hex.slice(0, 2), 16) & 0x3f) | 0x40;
  return first.toString(16) + hex.slice(2);
}

const publicKey = (key: KeyObject): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey("spki", key.export({ type: "spki", format: "der" }), ALGORITHM, true, [
    "verify",
  ]);

const signingKey = (key: KeyObject): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey("pkcs8", key.export({ type: "pkcs8", format: "der" }), ALGORITHM, false, [
    "sign",
  ]);
