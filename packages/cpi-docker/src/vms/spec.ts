import { LABEL, type Labels } from "../labels.ts";
import type { NetworkRequest } from "../networks/plan.ts";
import type { UpstreamAgent } from "../upstream/find-agent.ts";
import { startCommand } from "../upstream/scripts.ts";
import type { VmProperties } from "./properties.ts";

export interface VmOrder {
  readonly image: string;
  readonly agentId: string;
  readonly labels: Labels;
  readonly properties: VmProperties;
  readonly dns: readonly string[];
  readonly security: readonly string[];
  /** The first network; the others are connected afterwards, which every engine can. */
  readonly network: { readonly name: string; readonly request: NetworkRequest } | undefined;
  /** Command of the image. `gateway`: the way out of a VM with several networks. */
  readonly command: readonly string[];
  readonly gateway: string | undefined;
  /** Set if the stemcell has upstream's agent. */
  readonly upstream?: UpstreamAgent;
}

/**
 * Never `Privileged`. SYS_ADMIN: mount disks and directories in memory. NET_ADMIN: the way out of several networks, ARP.
 * The rule: open loop devices, which disks are. MKNOD (nodes of disks), AUDIT_WRITE (sshd) and NET_RAW (ping) are among
 * Docker's defaults, but not podman's. All others are the engine's defaults.
 */
const CAPABILITIES = ["SYS_ADMIN", "NET_ADMIN", "MKNOD", "AUDIT_WRITE", "NET_RAW"];
const LOOP_DEVICES = "b 7:* rwm";

/** Sets the way out. Of several networks the engine takes the one whose name comes first, at every start. */
const WAY_OUT = `gateway=$1
shift
ip route replace default via "$gateway" || true
exec "$@"`;

const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/;
const MIB = 1024 * 1024;
const NANO = 1e9;

/** The body of the engine's `create`. Pure. */
export function containerSpec(order: VmOrder): object {
  const { properties, network, upstream } = order;
  const labels = upstream ? { ...order.labels, [LABEL.init]: upstream.init.join(" ") } : order.labels;
  return {
    Image: order.image,
    Labels: labels,
    // Agents set it to their id, which a container may not do; but one that is set already needs no setting.
    ...(HOST_NAME.test(order.agentId) && { Hostname: order.agentId }),
    ...commandOf(order),
    ExposedPorts: Object.fromEntries(portsOf(properties).map(({ inside }) => [inside, {}])),
    HostConfig: {
      Init: properties.init ?? upstream?.systemd !== true,
      CapAdd: [...new Set([...CAPABILITIES, ...(properties.capabilities ?? [])])],
      DeviceCgroupRules: [LOOP_DEVICES],
      SecurityOpt: order.security,
      // Back after a restart of the host, and of the engine: after one that was killed, `unless-stopped` is not enough.
      RestartPolicy: { Name: "always" },
      NetworkMode: network?.name ?? "none",
      Dns: order.dns,
      ...(properties.ram !== undefined && {
        Memory: properties.ram * MIB,
        MemorySwap: properties.ram * MIB,
      }),
      ...(properties.cpu !== undefined && { NanoCpus: Math.round(properties.cpu * NANO) }),
      ...(properties.pids !== undefined && { PidsLimit: properties.pids }),
      PortBindings: bindingsOf(properties),
      // Beside the layers of the image: what jobs write is not copied twice, and goes with the VM.
      Mounts: [{ Type: "volume", Target: "/var/vcap/data", VolumeOptions: { Labels: labels } }],
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
    },
    // Podman knows `bridge` as a mode, not as a name.
    ...(network?.request.ip !== undefined && {
      NetworkingConfig: { EndpointsConfig: { [network.name]: endpointOf(network.request) } },
    }),
  };
}

/** Returns the command of the container, if it differs from the image's. */
function commandOf({ gateway, command, upstream }: VmOrder): object {
  const runs = upstream === undefined ? command : startCommand(upstream);
  if (gateway !== undefined && runs.length > 0)
    return { Entrypoint: ["/bin/sh", "-c", WAY_OUT, "sh", gateway], Cmd: runs };
  return upstream === undefined ? {} : { Entrypoint: runs, Cmd: [] };
}

/** How a VM is in one network. */
export function endpointOf({ ip }: NetworkRequest): object {
  const family = ip?.includes(":") ? "IPv6Address" : "IPv4Address";
  return ip === undefined ? {} : { IPAMConfig: { [family]: ip } };
}

function portsOf({ ports = [] }: VmProperties) {
  return ports.map((port) => {
    const [, address = "", outside = "", inside = ""] =
      /^(?:([\d.]+):)?(\d+):(\d+(?:\/\w+)?)$/.exec(port) ?? [];
    return { inside: inside.includes("/") ? inside : `${inside}/tcp`, address, outside };
  });
}

function bindingsOf(properties: VmProperties): Record<string, object[]> {
  const bindings: Record<string, object[]> = {};
  for (const { inside, address, outside } of portsOf(properties)) {
    bindings[inside] = [...(bindings[inside] ?? []), { HostIp: address, HostPort: outside }];
  }
  return bindings;
}
