import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Generator } from "./generator.ts";

const make = promisify(generateKeyPair);

const BITS = 2048;

export interface RsaKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const rsaKeys = (bits: number): Promise<RsaKeys> => make("rsa", { modulusLength: bits });

/** PKCS#1, which is all that Go's CLI reads. */
export const privatePem = (key: KeyObject): string => key.export({ type: "pkcs1", format: "pem" }).toString();

/** Options are ignored, as upstream does. */
export const rsa: Generator = async (_, { bits = BITS }) => {
  const { privateKey, publicKey } = await rsaKeys(bits);
  return {
    private_key: privatePem(privateKey),
    public_key: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
};
