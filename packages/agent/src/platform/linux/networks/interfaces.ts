import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import type { Paths } from "../../../paths.ts";
import type { MachineInterface } from "./plan.ts";

/** Network plugins that put an interface of their own before a NIC mark it with this alias. */
const REPLACEMENT = "bosh-interface";

/** The NICs of the machine: interfaces with a device behind them, and marked replacements of such. */
export async function machineInterfaces(paths: Paths): Promise<readonly MachineInterface[]> {
  const directory = paths.system("sys", "class", "net");
  const names = await readdir(directory).catch((): string[] => []);
  const found = await Promise.all(names.map((name) => inspect(paths, join(directory, name), name)));
  const nics = found
    .filter((nic) => nic !== undefined)
    .sort((a, b) => Number(b.replaces) - Number(a.replaces));
  // A replacement has the address of what it replaces, and stands before it.
  return nics
    .filter((nic, at) => nics.findIndex((other) => other.mac === nic.mac) === at)
    .map(({ name, mac }) => ({ name, mac }));
}

async function inspect(paths: Paths, directory: string, name: string) {
  const replaces = (await read(join(directory, "ifalias"))).startsWith(REPLACEMENT);
  if (!replaces && !(await exists(join(directory, "device")))) return undefined;
  if (await isUnmanaged(paths, directory)) return undefined;
  const mac = await read(join(directory, "address"));
  return mac === "" ? undefined : { name, mac, replaces };
}

/** Azure bonds a virtual function under its synthetic NIC and asks for it to be left alone. */
async function isUnmanaged(paths: Paths, directory: string): Promise<boolean> {
  const index = await read(join(directory, "ifindex"));
  const properties = index === "" ? "" : await read(paths.system("run", "udev", "data", `n${index}`));
  return properties.split("\n").includes("E:AZURE_UNMANAGED_SRIOV=1");
}

const read = async (path: string) => (await readFile(path, "utf8").catch(() => "")).trim();
