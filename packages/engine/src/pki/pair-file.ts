import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { PkiFileFailed } from "./errors.ts";

/** A certificate and its key, as PEM. */
export interface Pair {
  readonly certificate: string;
  readonly privateKey: string;
}

export type PairFile =
  | { readonly kind: "missing" }
  | { readonly kind: "torn"; readonly why: string }
  | { readonly kind: "pair"; readonly pair: Pair; readonly parsed: X509Certificate };

/** The text of a file of ours; undefined when there is none. */
export async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw PkiFileFailed({ doing: "reading", path }, { cause });
  }
}

/** Whole or not at all, for this user alone. */
export async function writeOwnFile(path: string, content: string, mode = 0o600): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, content, mode);
  } catch (cause) {
    throw PkiFileFailed({ doing: "writing", path }, { cause });
  }
}

/** Key and certificate stand in one file, so that no crash leaves one without the other. */
export const writePair = (path: string, pair: Pair): Promise<void> =>
  writeOwnFile(path, `${pair.privateKey.trim()}\n${pair.certificate.trim()}\n`);

export async function readPair(path: string): Promise<PairFile> {
  const text = await readOwnFile(path);
  if (text === undefined) return { kind: "missing" };
  const privateKey = block(text, "PRIVATE KEY");
  const certificate = block(text, "CERTIFICATE");
  if (privateKey === undefined) return { kind: "torn", why: "it has no whole private key" };
  if (certificate === undefined) return { kind: "torn", why: "it has no whole certificate" };
  try {
    const parsed = new X509Certificate(certificate);
    if (!parsed.checkPrivateKey(createPrivateKey(privateKey)))
      return { kind: "torn", why: "its key and its certificate do not belong together" };
    return { kind: "pair", pair: { certificate, privateKey }, parsed };
  } catch {
    return { kind: "torn", why: "its key or its certificate cannot be decoded" };
  }
}

function block(text: string, label: string): string | undefined {
  const found = new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`).exec(text)?.[0];
  return found === undefined ? undefined : `${found}\n`;
}
