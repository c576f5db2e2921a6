import { createHash, type KeyObject } from "node:crypto";
import type { Generator } from "./generator.ts";
import { privatePem, rsaKeys } from "./rsa.ts";

const BITS = 2048;

export const ssh: Generator = async (_, { bits = BITS }) => {
  const { privateKey, publicKey } = await rsaKeys(bits);
  const wire = wireForm(publicKey);
  const digest = createHash("md5").update(wire).digest("hex");
  return {
    private_key: privatePem(privateKey),
    public_key: `ssh-rsa ${wire.toString("base64")}\n`,
    public_key_fingerprint: (digest.match(/../g) ?? []).join(":"),
  };
};

/** RFC 4253: the name, then exponent and modulus as positive numbers. */
function wireForm(key: KeyObject): Buffer {
  const { n = "", e = "" } = key.export({ format: "jwk" });
  return Buffer.concat(
    [
      Buffer.from("ssh-rsa"),
      positive(Buffer.from(e, "base64url")),
      positive(Buffer.from(n, "base64url")),
    ].map(withLength),
  );
}

const positive = (number: Buffer): Buffer =>
  (number[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), number]) : number;

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
