import { createPrivateKey, type KeyObject, webcrypto, type X509Certificate } from "node:crypto";
import type { Random } from "@slipway/kernel/random";
import type { Pair } from "./pair-file.ts";

export interface Subject {
  readonly words: "slipway" | "bosh";
  readonly commonName: string;
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

export interface Order {
  readonly subject: Subject;
  readonly usage: "authority" | "server" | "client";
  readonly from: number;
  readonly until: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Upstream's country has three letters, and its servers know users by it. */
const BEFORE_NAME = {
  slipway: [{ O: ["Slipway"] }],
  bosh: [{ C: ["USA"] }, { O: ["Cloud Foundry"] }],
};

/** It takes 140 ms and more to load, so only whoever signs pays for it. A start that will sign may load it beforehand. */
export async function x509() {
  await import("reflect-metadata");
  const library = await import("@peculiar/x509");
  library.cryptoProvider.set(webcrypto);
  return library;
}

/** A new key pair and its certificate, signed by `issuer`, or by itself when there is none. */
export async function sign(order: Order, issuer: Pair | undefined, random: Random): Promise<Pair> {
  const lib = await x509();
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const parent = issuer === undefined ? undefined : new lib.X509Certificate(issuer.certificate);
  const certificate = await lib.X509CertificateGenerator.create({
    // The first byte keeps it positive and its length the same.
    serialNumber: `01${random.hex(15)}`,
    subject: [...BEFORE_NAME[order.subject.words], { CN: [order.subject.commonName] }],
    issuer: parent?.subjectName ?? [...BEFORE_NAME[order.subject.words], { CN: [order.subject.commonName] }],
    notBefore: new Date(order.from),
    notAfter: new Date(order.until),
    publicKey: keys.publicKey,
    ...(issuer === undefined
      ? { signingKey: keys.privateKey, signingAlgorithm: ALGORITHM }
      : await signerOf(issuer.privateKey)),
    extensions: [
      ...(await identifiers(lib, parent?.publicKey ?? keys.publicKey, keys.publicKey)),
      ...extensionsFor(lib, order),
    ],
  });
  const key = Buffer.from(await subtle.exportKey("pkcs8", keys.privateKey));
  return {
    certificate: `${certificate.toString("pem").trim()}\n`,
    privateKey: lib.PemConverter.encode(key, "PRIVATE KEY").trim().concat("\n"),
  };
}

type Library = Awaited<ReturnType<typeof x509>>;

async function identifiers(
  lib: Library,
  issuer: Parameters<Library["AuthorityKeyIdentifierExtension"]["create"]>[0],
  own: webcrypto.CryptoKey,
) {
  return [
    await lib.SubjectKeyIdentifierExtension.create(own),
    await lib.AuthorityKeyIdentifierExtension.create(issuer),
  ];
}

function extensionsFor(lib: Library, { usage, subject }: Order) {
  const flags = lib.KeyUsageFlags;
  if (usage === "authority")
    return [
      new lib.BasicConstraintsExtension(true, 0, true),
      new lib.KeyUsagesExtension(flags.keyCertSign | flags.cRLSign, true),
    ];
  const purpose = lib.ExtendedKeyUsage[usage === "server" ? "serverAuth" : "clientAuth"];
  const names = [
    ...subject.dns.map((value) => ({ type: "dns", value }) as const),
    ...subject.ips.map((value) => ({ type: "ip", value }) as const),
  ];
  return [
    new lib.BasicConstraintsExtension(false, undefined, true),
    new lib.KeyUsagesExtension(flags.digitalSignature, true),
    new lib.ExtendedKeyUsageExtension([purpose], false),
    ...(names.length > 0 ? [new lib.SubjectAlternativeNameExtension(names)] : []),
  ];
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: "P-256",
  secp384r1: "P-384",
  secp521r1: "P-521",
};

export const canSign = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean =>
  type === "rsa" || (type === "ec" && CURVES[details?.namedCurve ?? ""] !== undefined);

/** Our own authorities have keys of P-256; those that are given may have others. */
async function signerOf(pem: string) {
  const key = createPrivateKey(pem);
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
  const signingAlgorithm =
    curve === undefined
      ? ({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const)
      : ({ name: "ECDSA", namedCurve: curve, hash: "SHA-256" } as const);
  const der = key.export({ format: "der", type: "pkcs8" });
  const signingKey = await webcrypto.subtle.importKey("pkcs8", der, signingAlgorithm, false, ["sign"]);
  return { signingKey, signingAlgorithm };
}

/** Milliseconds since 1970. */
export const endOf = (certificate: X509Certificate): number => Date.parse(certificate.validTo);
export const beginOf = (certificate: X509Certificate): number => Date.parse(certificate.validFrom);
