import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import type { Platform } from "../platform/platform.ts";
import type { AgentServices } from "../services.ts";
import { BadUsage } from "../settings/errors.ts";

export type PlatformName = "linux" | "namespace";

/** Upstream names distributions; to us they are all the same. */
const LINUX = ["linux", "ubuntu", "centos", "rhel", "opensuse"];

export function platformNamed(name: string): PlatformName {
  if (LINUX.includes(name)) return "linux";
  if (name === "namespace") return "namespace";
  throw BadUsage({ why: `the platform ${JSON.stringify(name)} is not known; there are linux and namespace` });
}

export interface PlatformTools extends Pick<AgentServices, "paths" | "exec" | "clock" | "log"> {
  readonly config: LinuxConfig;
  /** Ends a sandbox, which has no power to switch off. */
  readonly powerOff: () => Promise<void>;
}

/** Each platform is loaded only where it is used. */
export async function makePlatform(name: PlatformName, tools: PlatformTools): Promise<Platform> {
  if (name === "namespace") {
    const { namespacePlatform } = await import("../platform/namespace/namespace-platform.ts");
    const { namespaceDisks } = await import("../platform/namespace/disks/namespace-disks.ts");
    return namespacePlatform({ ...tools, disks: namespaceDisks(tools) });
  }
  const { linuxPlatform } = await import("../platform/linux/linux-platform.ts");
  const { linuxDisks } = await import("../platform/linux/disks/linux-disks.ts");
  return linuxPlatform({ ...tools, disks: linuxDisks(tools) });
}
