import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import type { Log } from "../../../log.ts";
import { CertificatesNotUpdated } from "../../system-errors.ts";
import { replaceFile } from "./replace-file.ts";

const TRIES = 3;
const PATIENCE_MS = 60_000;
const PREFIX = "bosh-trusted-cert-";

/** The certificates in a text, without anything around them. */
export const splitCertificates = (text: string): readonly string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];

/**
 * Makes these the certificates of the directory: new ones are there before old ones go. Resolves to whether one is
 * or was there.
 */
export async function writeCertificates(directory: string, pems: readonly string[]): Promise<boolean> {
  const certificates = splitCertificates(pems.join("\n"));
  const wanted = new Map(certificates.map((pem, at) => [`${PREFIX}${at + 1}.crt`, `${pem}\n`]));
  const before = await readdir(directory).catch((): string[] => []);
  const stale = before.filter((name) => name.startsWith(PREFIX) && !wanted.has(name));
  if (wanted.size > 0) await mkdir(directory, { recursive: true, mode: 0o755 });
  for (const [name, pem] of wanted) await replaceFile(join(directory, name), pem, 0o644);
  for (const name of stale) await rm(join(directory, name), { recursive: true });
  return wanted.size > 0 || stale.length > 0;
}

/** The program hangs now and then; ending it and asking again helps. */
export async function updateCertificates(exec: Exec, clock: Clock, log: Log): Promise<void> {
  let last: unknown;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      await withDeadline("update-ca-certificates", PATIENCE_MS, clock, undefined, (signal) =>
        mustRun(exec, "updating the trusted certificates", "/usr/sbin/update-ca-certificates", ["-f"], {
          signal,
        }),
      );
      return;
    } catch (error) {
      last = error;
      log.warn(`try ${attempt} of ${TRIES}: ${messageTrail(error)}`);
    }
  }
  throw CertificatesNotUpdated({ tries: TRIES }, { cause: last });
}
