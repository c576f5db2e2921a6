import type { Disks } from "@slipway/protocol/settings/disks";
import type { QueryParameters } from "../api/query.ts";
import type { AwsConfig } from "../config.ts";
import type { Image } from "../ec2/images.ts";
import type { InstanceTypeFacts } from "../ec2/instance-types.ts";
import { gibOf } from "../ec2/volumes.ts";
import { BadAwsProperties, UnsupportedKey } from "../errors.ts";
import type { VmProperties } from "../properties.ts";

const EPHEMERAL = "/dev/sdb";
const DEFAULT_EPHEMERAL_MIB = 10 * 1024;

export interface BlockDevices {
  /** `BlockDeviceMapping` of the launch. */
  readonly mappings: readonly QueryParameters[];
  /** Disks as the agent must know them. */
  readonly disks: Disks;
}

/** Decides the disks that a VM is launched with. They go with it. */
export function blockDevices(
  properties: VmProperties,
  image: Image,
  facts: InstanceTypeFacts,
  config: AwsConfig,
): BlockDevices {
  const root = image.rootDeviceName ?? "/dev/xvda";
  const ephemeral = ephemeralDisk(properties, facts, config);
  const raw = properties.raw_instance_storage ? rawStorage(properties, facts) : [];
  return {
    mappings: [
      rootMapping(root, image, properties),
      ...ephemeral.mappings,
      // NVMe devices are there without a mapping.
      ...raw.flatMap(({ mapping }) => (mapping === undefined ? [] : [mapping])),
    ],
    disks: {
      system: root,
      ephemeral: ephemeral.path,
      ...(raw.length > 0 && { raw_ephemeral: raw.map(({ path }) => ({ path })) }),
    },
  };
}

function rootMapping(root: string, image: Image, { root_disk }: VmProperties): QueryParameters {
  const DeviceName = rootName(root, image);
  const { ebs } = image.blockDeviceMapping?.find(({ deviceName }) => deviceName === DeviceName) ?? {};
  const gib = Number(ebs?.volumeSize ?? 0);
  return { DeviceName, Ebs: { VolumeSize: gib > 0 ? gib : undefined, ...volumeOf(root_disk ?? {}) } };
}

/** The name under which the image has its root volume, which a mapping must repeat to change it. */
function rootName(root: string, { blockDeviceMapping = [] }: Image): string {
  const names = blockDeviceMapping.flatMap(({ deviceName }) =>
    deviceName === undefined ? [] : [deviceName],
  );
  return names.find((name) => name === root) ?? names.find((name) => root.startsWith(name)) ?? root;
}

function ephemeralDisk(
  properties: VmProperties,
  { nvmeVolumes, storage }: InstanceTypeFacts,
  config: AwsConfig,
): { readonly mappings: readonly QueryParameters[]; readonly path: string } {
  const { instance_type: type, ephemeral_disk, raw_instance_storage: raw } = properties;
  const asked = ephemeral_disk ?? {};
  // The agent makes the ephemeral partition on the root disk when no device is named.
  if (asked.use_root_disk) return { mappings: [], path: "" };
  const encrypted = asked.encrypted ?? config.encrypted ?? false;
  if (asked.use_instance_storage) {
    if (raw) throw bad("ephemeral_disk.use_instance_storage and raw_instance_storage exclude each other");
    if (asked.size || asked.type || asked.iops || encrypted)
      throw bad("ephemeral_disk.use_instance_storage takes neither size, type, iops nor encrypted");
    if (storage === undefined) throw bad(`${type} has no instance storage`);
    if (nvmeVolumes && storage.nvme)
      throw UnsupportedKey({
        what: `the VM type with ${type}`,
        key: "ephemeral_disk.use_instance_storage",
        why: "instance storage of Nitro types has no name that is known before the VM runs; use an EBS volume, or raw_instance_storage",
      });
    // Before Nitro, EBS volumes are xvd devices: the first NVMe device is the storage.
    if (storage.nvme) return { mappings: [], path: "/dev/nvme0n1" };
    return { mappings: [{ DeviceName: EPHEMERAL, VirtualName: "ephemeral0" }], path: EPHEMERAL };
  }
  const size = asked.size ?? (raw ? undefined : storage?.sizeMib) ?? DEFAULT_EPHEMERAL_MIB;
  const ebs = {
    ...volumeOf({ ...asked, size }),
    ...(encrypted && {
      Encrypted: true,
      KmsKeyId: asked.kms_key_arn ?? config.kms_key_arn ?? undefined,
    }),
  };
  return { mappings: [{ DeviceName: EPHEMERAL, Ebs: ebs }], path: EPHEMERAL };
}

function rawStorage(
  { instance_type: type }: VmProperties,
  { storage, nvmeVolumes }: InstanceTypeFacts,
): readonly { readonly path: string; readonly mapping?: QueryParameters }[] {
  if (storage === undefined) throw bad(`raw_instance_storage: ${type} has no instance storage`);
  return Array.from({ length: storage.count }, (_, at) => {
    // On Nitro the root and the ephemeral volume come first.
    if (storage.nvme) return { path: `/dev/nvme${at + (nvmeVolumes ? 2 : 0)}n1` };
    const path = `/dev/xvdb${String.fromCharCode(97 + at)}`;
    return { path, mapping: { DeviceName: path, VirtualName: `ephemeral${at}` } };
  });
}

interface VolumeProperties {
  readonly size?: number | null | undefined;
  readonly type?: string | null | undefined;
  readonly iops?: number | null | undefined;
  readonly throughput?: number | null | undefined;
}

const volumeOf = ({ size, type, iops, throughput }: VolumeProperties): QueryParameters => ({
  VolumeType: type ?? "gp3",
  DeleteOnTermination: true,
  ...(size != null && { VolumeSize: gibOf(size) }),
  Iops: iops ?? undefined,
  Throughput: throughput ?? undefined,
});

const bad = (problem: string) => BadAwsProperties({ what: "the VM", problems: [problem] });
