import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import { freePort } from "@slipway/kernel/ports";
import type { Random } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { TypedInput } from "../command.ts";
import type { Home } from "../home/home.ts";
import { BothTransports, NatsChoiceUnreadable } from "./errors.ts";

export type AgentTransportName = "https" | "nats";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535));
/** Ports that agents receive when their VM is made, and which therefore stay. */
const remembered = v.strictObject({ transport: v.picklist(["https", "nats"]), port, blobsPort: port });
type Remembered = v.InferOutput<typeof remembered>;

const fileOf = (home: Home): string => join(home.dir, "nats.json");
const HOST = "127.0.0.1";

export function askedTransport(given: TypedInput): AgentTransportName | undefined {
  if (given.flag("nats") && given.flag("https")) throw BothTransports({});
  if (given.flag("nats")) return "nats";
  return given.flag("https") ? "https" : undefined;
}

/**
 * The configuration with a NATS server of this machine, once it was asked for. It runs on when new VMs are reached over
 * HTTPS again: others may still need it. A server that the configuration names itself stays.
 */
export async function withNats(
  config: DirectorConfig,
  asked: AgentTransportName | undefined,
  home: Home,
  random: Random,
): Promise<DirectorConfig> {
  const before = await readRemembered(home);
  if (before === undefined && asked !== "nats") return config;
  const transport = asked ?? config.agent?.transport ?? before?.transport ?? "https";
  const agent = { ...config.agent, transport };
  if (config.nats !== undefined) return { ...config, agent };
  const ports = before ?? { port: await freePort(random), blobsPort: await freePort(random) };
  const nats = { server: { host: HOST, port: ports.port }, blobs: { host: HOST, port: ports.blobsPort } };
  return { ...config, agent, nats };
}

export async function rememberNats(home: Home, { nats, agent }: DirectorConfig): Promise<void> {
  const { server, blobs } = nats ?? {};
  if (server?.port === undefined || blobs?.port === undefined) return;
  const made: Remembered = {
    transport: agent?.transport ?? "https",
    port: server.port,
    blobsPort: blobs.port,
  };
  await writeFileAtomic(fileOf(home), `${JSON.stringify(made)}\n`);
}

async function readRemembered(home: Home): Promise<Remembered | undefined> {
  const path = fileOf(home);
  const text = await ifThere(readFile(path, "utf8"));
  if (text === undefined) return undefined;
  let document: unknown;
  try {
    document = parseStrictJson(text, path);
  } catch (cause) {
    throw NatsChoiceUnreadable({ path }, { cause });
  }
  const checked = check(remembered, document, "nats");
  if (!checked.ok) throw NatsChoiceUnreadable({ path });
  return checked.value;
}
