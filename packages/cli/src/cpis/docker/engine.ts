import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DockerConfig } from "@slipway/cpi-docker/config";
import type { Engine } from "@slipway/cpi-docker/engine/engine";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DockerChoice } from "./descriptor.ts";
import { BadDockerHost, CertificatesUnreadable, EngineAbsent } from "./errors.ts";

type Where = Pick<DockerChoice, "host" | "certificates">;

/** Asks the engine for its version. Its errors use the terms of `up`, which takes no configuration of the CPI. */
export async function openEngine(where: Where, clock: Clock, withinMs = 10_000): Promise<Engine> {
  const [{ addressOf }, { Engine }, errors] = await Promise.all([
    import("@slipway/cpi-docker/engine/address"),
    import("@slipway/cpi-docker/engine/engine"),
    import("@slipway/cpi-docker/errors"),
  ]);
  const late = new AbortController();
  const why = `no answer within ${withinMs / 1000} s`;
  const cancel = clock.after(withinMs, () => late.abort(EngineAbsent({ host: where.host, why })));
  try {
    const address = addressOf(await reachOf(where));
    // Only the first answer is waited for with a limit.
    return (await Engine.open(address, late.signal)).withoutSignal();
  } catch (cause) {
    const absent = errors.NoEngine.paramsOf(cause);
    if (absent !== undefined) throw EngineAbsent(absent, { cause: (cause as Error).cause });
    const { host } = where;
    if (errors.BadHost.is(cause)) throw BadDockerHost({ host, why: "that is no address of an engine" });
    if (errors.Unprotected.is(cause))
      throw BadDockerHost({
        host,
        why: "it is another host, and the connection to it would not be encrypted (no TLS)",
      });
    throw cause;
  } finally {
    cancel();
  }
}

/** Returns the CPI's settings to reach the engine. Keys are only ever in memory. */
export async function reachOf({ host, certificates }: Where): Promise<Pick<DockerConfig, "host" | "tls">> {
  if (certificates === undefined) return { host };
  // One after the other: the first that is missing is named, always the same one.
  const ca = await pemOf(join(certificates, "ca.pem"));
  const certificate = await pemOf(join(certificates, "cert.pem"));
  const private_key = await pemOf(join(certificates, "key.pem"));
  return { host, tls: { ca, certificate, private_key } };
}

async function pemOf(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw CertificatesUnreadable({ path, why: systemCode(cause) ?? "unknown reason" }, { cause });
  });
  if (text.trim() === "") throw CertificatesUnreadable({ path, why: "it is empty" });
  return text;
}

const optional = v.optional(v.nullable(v.string()));
const info = open({ ID: optional, Name: optional, DockerRootDir: optional });

/**
 * Names an engine by its machine and the place of its files: engines of one machine, or of copies of one, may have the same
 * id. The id is a part of the name too, unless it is podman's, which makes up one for every answer.
 */
export async function nameOf(engine: Engine): Promise<string> {
  const ask = () => engine.json(info, { doing: "asking who it is", method: "GET", path: "/info" });
  const [{ ID, Name, DockerRootDir }, again] = [await ask(), await ask()];
  return [Name || "unnamed", DockerRootDir, ID === again.ID ? ID : undefined].filter(Boolean).join(" ");
}
