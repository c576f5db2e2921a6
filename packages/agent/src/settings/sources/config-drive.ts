import { access } from "node:fs/promises";
import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { SourceFailed } from "../errors.ts";
import { readFromDrive } from "./mounted-drive.ts";
import type { SettingsReader, SourceTools } from "./source.ts";

export interface ConfigDriveOptions {
  readonly DiskPaths: readonly string[];
  readonly MetaDataPath?: string | undefined;
  readonly UserDataPath?: string | undefined;
}

const BY_LABEL = "/dev/disk/by-label/";

/** A drive (ISO or vfat, mostly) that OpenStack and its like attach. The first disk that can be read wins. */
export function configDriveSource(options: ConfigDriveOptions, tools: SourceTools): SettingsReader {
  const name = `ConfigDrive ${options.DiskPaths.join(", ")}`;
  const userData = options.UserDataPath ?? "ec2/latest/user-data";
  const metaData = options.MetaDataPath ?? "ec2/latest/meta-data.json";

  const readFirst = async (path: string, signal: AbortSignal): Promise<string> => {
    const tried: string[] = [];
    for (const disk of options.DiskPaths) {
      const device = await deviceOf(disk, tools, signal);
      if (device === undefined) {
        tried.push(`${disk} is not there`);
        continue;
      }
      try {
        return await readFromDrive(`ConfigDrive ${disk}`, device, tools, signal, (read) => read(path));
      } catch (error) {
        signal.throwIfAborted();
        tried.push(messageTrail(error));
      }
    }
    throw SourceFailed({ source: name, why: tried.join("; ") });
  };
  const meta = async (signal: AbortSignal): Promise<Record<string, unknown>> => {
    const value = parseStrictJson(await readFirst(metaData, signal), `${name} ${metaData}`);
    return typeof value === "object" && value !== null ? { ...value } : {};
  };

  return {
    name,
    read: (signal) => readFirst(userData, signal),
    instanceId: async (signal) => textOf((await meta(signal))["instance-id"]),
    sshKey: async (signal) => firstKey((await meta(signal))["public-keys"]),
  };
}

/** Returns the device of a path. Without udev there are no links by label; blkid looks at the disks themselves. */
async function deviceOf(path: string, tools: SourceTools, signal: AbortSignal): Promise<string | undefined> {
  const here = tools.paths.system(path);
  const exists = await access(here).then(
    () => true,
    () => false,
  );
  if (exists) return here;
  if (!path.startsWith(BY_LABEL)) return undefined;
  const found = await tools
    .exec("blkid", ["-L", path.slice(BY_LABEL.length)], { signal })
    .catch(() => undefined);
  const device = found?.code === 0 ? found.stdout.trim() : "";
  return device === "" ? undefined : tools.paths.system(device);
}

const textOf = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** `{"public-keys": {"0": {"openssh-key": "ssh-rsa ..."}}}` */
function firstKey(keys: unknown): string | undefined {
  const first = (keys as { 0?: { "openssh-key"?: unknown } } | null | undefined)?.[0];
  return textOf(first?.["openssh-key"]);
}
