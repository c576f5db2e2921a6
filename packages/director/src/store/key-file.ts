import { join } from "node:path";
import { readOwnFile, writeOwnFile } from "@slipway/engine/pki/pair-file";
import { defineError } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { KEY_BYTES, type Sealer, sealerOf } from "@slipway/kernel/sealer";

export const KeyUnreadable = defineError<{ path: string }>({
  code: "DIS-050",
  kind: "outside",
  message: (p) => `the key in ${p.path} cannot be used: it should hold ${KEY_BYTES * 2} hexadecimal digits`,
  next: "Restore the file from a backup: what the database keeps encrypted can be read with this key only.",
});

/** The key of a state directory, made at the first start. It belongs to the database: back up both together. */
export async function openSealer(options: {
  readonly dir: string;
  readonly random: Random;
}): Promise<Sealer> {
  const { dir, random } = options;
  const path = join(dir, "secrets.key");
  const found = await readOwnFile(path);
  const hex = found?.trim() ?? random.hex(KEY_BYTES);
  if (!/^[0-9a-f]+$/.test(hex) || hex.length !== KEY_BYTES * 2) throw KeyUnreadable({ path });
  if (found === undefined) await writeOwnFile(path, `${hex}\n`);
  return sealerOf(Buffer.from(hex, "hex"), random);
}
