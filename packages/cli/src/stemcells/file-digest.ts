import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** In hex. */
export async function digestOf(path: string, algorithm: "sha1" | "sha256" | "sha512"): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
