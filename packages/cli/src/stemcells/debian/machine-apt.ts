import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exec } from "@slipway/kernel/exec";
import { type AptSource, parseDeb822, parseList } from "./sources.ts";

/** How this machine gets its packages. */
export interface MachineApt {
  readonly sources: readonly AptSource[];
  /** Debian's keys, where their package is installed. */
  readonly keyring: string | undefined;
  /** Environment variables of proxies: a proxy's URL may have a password, which must not be an argument. */
  readonly proxies: Readonly<Record<string, string>>;
  /** False where the mirror is a picture of an older day. */
  readonly checkValidUntil: boolean;
}

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

export async function machineApt(
  exec: Exec,
  env: Readonly<Record<string, string | undefined>>,
  root = "/",
): Promise<MachineApt> {
  const config = await aptConfig(exec);
  return {
    sources: await sourcesUnder(join(root, "etc/apt")),
    keyring: (await text(join(root, KEYRING))) === undefined ? undefined : KEYRING,
    proxies: proxiesOf(config, env),
    checkValidUntil: !/^(false|no|0)$/i.test(config.get("Acquire::Check-Valid-Until") ?? ""),
  };
}

async function sourcesUnder(apt: string): Promise<readonly AptSource[]> {
  const parts = await readdir(join(apt, "sources.list.d")).catch(() => []);
  const files = ["sources.list", ...parts.sort().map((name) => join("sources.list.d", name))];
  const sources = files.map(async (name) => {
    const parse = name.endsWith(".list") ? parseList : name.endsWith(".sources") ? parseDeb822 : undefined;
    return parse?.((await text(join(apt, name))) ?? "") ?? [];
  });
  return (await Promise.all(sources)).flat();
}

/** A machine without apt has none. */
async function aptConfig(exec: Exec): Promise<ReadonlyMap<string, string>> {
  const dumped = await exec("apt-config", ["dump"]).catch(() => undefined);
  const lines = (dumped?.stdout ?? "").matchAll(/^(\S+) "(.*)";$/gm);
  return new Map([...lines].map(([, name = "", value = ""]) => [name, value]));
}

function proxiesOf(
  config: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const found = {
    http_proxy: env.http_proxy ?? config.get("Acquire::http::Proxy"),
    https_proxy: env.https_proxy ?? env.HTTPS_PROXY ?? config.get("Acquire::https::Proxy"),
    no_proxy: env.no_proxy ?? env.NO_PROXY,
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) =>
      value === undefined || value === "" || value === "DIRECT" ? [] : [[name, value]],
    ),
  );
}

const text = (path: string): Promise<string | undefined> => readFile(path, "latin1").catch(() => undefined);
