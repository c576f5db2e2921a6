import {
  createHash,
  createPrivateKey,
  sign as createSignature,
  generateKeyPair,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { promisify } from "node:util";
import { BITS, parseAddress } from "@slipway/kernel/ip-address";
import type { Random } from "@slipway/kernel/random";
import { bitString, contentOf, context, der, objectId, partsOf, sequence, TAG, text, time } from "./der.ts";
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

/** Upstream's country has three letters, and its servers know users by it. */
const BEFORE_NAME = {
  slipway: [["2.5.4.10", "Slipway"]],
  bosh: [
    ["2.5.4.6", "USA"],
    ["2.5.4.10", "Cloud Foundry"],
  ],
} as const;
const COMMON_NAME = "2.5.4.3";

const EXTENSION = {
  subjectKey: "2.5.29.14",
  keyUsage: "2.5.29.15",
  names: "2.5.29.17",
  constraints: "2.5.29.19",
  authorityKey: "2.5.29.35",
  purposes: "2.5.29.37",
} as const;
const PURPOSE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

const VERSION_3 = der(context(0, true), der(TAG.integer, Buffer.of(2)));
const TRUE = der(TAG.boolean, Buffer.of(0xff));
const RSA_SHA256 = sequence(objectId("1.2.840.113549.1.1.11"), der(TAG.null));
const ECDSA_SHA256 = sequence(objectId("1.2.840.10045.4.3.2"));

interface Signer {
  readonly name: Buffer;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}

const newKeys = promisify(generateKeyPair);
const signature = promisify(createSignature);

/**
 * Makes a new key pair and its certificate, signed by `issuer`, or by itself if there is none. Written here because a library
 * takes ten times as long, for every VM.
 */
export async function sign(order: Order, issuer: Pair | undefined, random: Random): Promise<Pair> {
  const { publicKey, privateKey } = await newKeys("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ format: "der", type: "spki" });
  const name = nameOf(order.subject);
  const own = { name, key: privateKey, keyId: keyIdOf(spki) };
  const signer = issuer === undefined ? own : signerOf(issuer);
  const algorithm = signer.key.asymmetricKeyType === "rsa" ? RSA_SHA256 : ECDSA_SHA256;
  const content = sequence(
    VERSION_3,
    // The first byte keeps it positive and its length the same.
    der(TAG.integer, Buffer.from(`01${random.hex(15)}`, "hex")),
    algorithm,
    signer.name,
    sequence(time(order.from), time(order.until)),
    name,
    spki,
    der(context(3, true), sequence(...extensionsOf(order, own.keyId, signer.keyId))),
  );
  const certificate = sequence(content, algorithm, bitString(await signature("sha256", content, signer.key)));
  return {
    certificate: pem(certificate),
    privateKey: String(privateKey.export({ format: "pem", type: "pkcs8" })),
  };
}

const pem = (bytes: Buffer): string => {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
};

const nameOf = ({ words, commonName }: Subject): Buffer =>
  sequence(
    ...[...BEFORE_NAME[words], [COMMON_NAME, commonName] as const].map(([type, value]) =>
      der(TAG.set, sequence(objectId(type), text(value))),
    ),
  );

/** SHA-1 of the key's bits, as RFC 5280 proposes. */
const keyIdOf = (spki: Buffer): Buffer => {
  const [, bits = Buffer.alloc(0)] = partsOf(spki);
  return createHash("sha1").update(contentOf(bits).subarray(1)).digest();
};

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(objectId(id), ...(isCritical ? [TRUE] : []), der(TAG.octetString, value));

function extensionsOf({ usage, subject }: Order, own: Buffer, issuer: Buffer): Buffer[] {
  const ids = [
    extension(EXTENSION.subjectKey, der(TAG.octetString, own)),
    extension(EXTENSION.authorityKey, sequence(der(context(0), issuer))),
  ];
  if (usage === "authority")
    return [
      ...ids,
      extension(EXTENSION.constraints, sequence(TRUE, der(TAG.integer, Buffer.of(0))), true),
      // Signs certificates and lists of revoked ones.
      extension(EXTENSION.keyUsage, bitString(Buffer.of(0x06), 1), true),
    ];
  const names = [
    ...subject.dns.map((value) => der(context(2), Buffer.from(value))),
    ...subject.ips.map((value) => der(context(7), addressBytes(value))),
  ];
  return [
    ...ids,
    extension(EXTENSION.constraints, sequence(), true),
    // Signs what it says.
    extension(EXTENSION.keyUsage, bitString(Buffer.of(0x80), 7), true),
    extension(EXTENSION.purposes, sequence(objectId(PURPOSE[usage]))),
    ...(names.length > 0 ? [extension(EXTENSION.names, sequence(...names))] : []),
  ];
}

function addressBytes(ip: string): Buffer {
  const address = parseAddress(ip);
  if (address === undefined) throw new Error(`bug: '${ip}' is no address`);
  return Buffer.from(address.value.toString(16).padStart(BITS[address.family] / 4, "0"), "hex");
}

const CURVES = ["prime256v1", "secp384r1", "secp521r1"];

export const canSign = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean =>
  type === "rsa" || (type === "ec" && CURVES.includes(details?.namedCurve ?? ""));

/** Parsed once: an authority signs for every VM of a deploy. */
const SIGNERS = new WeakMap<Pair, Signer>();

function signerOf(issuer: Pair): Signer {
  const known = SIGNERS.get(issuer);
  if (known !== undefined) return known;
  const { raw, publicKey } = new X509Certificate(issuer.certificate);
  const [content = raw] = partsOf(raw);
  const fields = partsOf(content);
  // Before the name stand version, serial number, algorithm, issuer and validity; authorities have version 3.
  const name = fields[5] ?? raw;
  const keyId = keyIdOf(publicKey.export({ format: "der", type: "spki" }));
  const signer = { name, key: createPrivateKey(issuer.privateKey), keyId };
  SIGNERS.set(issuer, signer);
  return signer;
}

/** Milliseconds since 1970. */
export const endOf = (certificate: X509Certificate): number => Date.parse(certificate.validTo);
export const beginOf = (certificate: X509Certificate): number => Date.parse(certificate.validFrom);
