import { CommandMissing, type Exec, mustRun } from "@slipway/kernel/exec";
import type { Log } from "../../../log.ts";
import type { LocalAddress } from "./live.ts";
import type {
  DhcpInterface,
  InterfaceConfiguration,
  InterfacePlan,
  PlannedRoute,
  StaticInterface,
} from "./plan.ts";

/** Returns the arguments of `ip` for a plan, in order. Each command may be repeated. */
export function ipCommands(plan: InterfacePlan): readonly (readonly string[])[] {
  const statics = plan.interfaces.filter((config) => config.kind === "static");
  const devices = [...new Set(plan.interfaces.map((config) => config.interface))];
  return [
    ...devices.map((device) => ["link", "set", "dev", device, "up"]),
    ...statics.map(addressCommand),
    ...plan.interfaces.flatMap((config) => config.routes.map((route) => routeCommand(config, route))),
    ...statics.flatMap(gatewayCommand),
  ];
}

const addressCommand = (config: StaticInterface) => [
  ...["address", "replace", `${config.address}/${config.prefix}`, "dev", config.interface],
  ...(config.family === 4 && config.prefix < 31 ? ["broadcast", "+"] : []),
  ...(config.alias === undefined ? [] : ["label", config.alias]),
];

const routeCommand = (config: InterfaceConfiguration, route: PlannedRoute) => [
  ...["route", "replace", `${route.destination}/${route.prefix}`, "via", route.gateway],
  ...["dev", config.interface],
  // Before DHCP has given an address, nothing counts as reachable.
  ...(route.onLink || config.kind === "dhcp" ? ["onlink"] : []),
];

const gatewayCommand = (config: StaticInterface): string[][] =>
  config.gateway === undefined
    ? []
    : [
        [
          ...(config.family === 6 ? ["-6"] : []),
          ...["route", "replace", "default", "via", config.gateway, "dev", config.interface],
          ...(config.gatewayOnLink ? ["onlink"] : []),
        ],
      ];

/** Sets the kernel's interfaces directly, for machines whose init manages no networks. */
export async function applyWithIp(
  plan: InterfacePlan,
  addresses: readonly LocalAddress[],
  exec: Exec,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (const args of ipCommands(plan)) {
    await mustRun(exec, "configuring the network", "ip", args, { signal });
  }
  for (const config of withoutLease(plan, addresses)) await startDhcp(config.interface, exec, log, signal);
}

/** DHCP interfaces that have no address; there a client has yet to be started. */
export function withoutLease(
  plan: InterfacePlan,
  addresses: readonly LocalAddress[],
): readonly DhcpInterface[] {
  return plan.interfaces
    .filter((config) => config.kind === "dhcp")
    .filter(({ interface: device }) => !addresses.some((own) => own.interface === device && own.global));
}

const DHCP_CLIENTS: readonly (readonly [program: string, ...options: string[]])[] = [
  ["dhclient", "-nw"],
  ["udhcpc", "-b", "-i"],
];

/** The clients go to the background by themselves. Without one the interface is only up, and the log says so. */
async function startDhcp(device: string, exec: Exec, log: Log, signal: AbortSignal): Promise<void> {
  for (const [program, ...options] of DHCP_CLIENTS) {
    try {
      await mustRun(exec, `starting DHCP on ${device}`, program, [...options, device], { signal });
      return;
    } catch (error) {
      if (!CommandMissing.is(error)) throw error;
    }
  }
  log.warn(
    `${device} should get its address by DHCP, but there is neither systemd-networkd nor a DHCP client`,
  );
}
