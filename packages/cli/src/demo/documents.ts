import type { StemcellName } from "./stage.ts";

/** By it the demo knows its own documents from those of a user, which it leaves alone. */
const MARK = "# Made by `slipway demo`.";

export const isOurs = (text: string): boolean => text.trim() === "" || text.startsWith(MARK);

export const DEPLOYMENT = "demo";
export const GROUP = "db";

/** `comment`: whose addresses these are. */
export function cloudConfig(range: string, comment: string): string {
  const gateway = range.replace(/0\/24$/, "1");
  return `${MARK}
azs:
- name: z1

vm_types:
- name: small

disk_types:
- name: 1GB
  disk_size: 1024
- name: 2GB
  disk_size: 2048

networks:
- name: private
  type: manual
  subnets:
  # ${comment}
  - range: ${range}
    gateway: ${gateway}
    azs: [z1]

compilation:
  workers: 1
  network: private
  az: z1
  vm_type: small
`;
}

export const manifestOf = ({ name, version }: StemcellName): string => `${MARK}
name: ${DEPLOYMENT}

releases: []

stemcells:
- alias: default
  name: ${JSON.stringify(name)}
  version: ${JSON.stringify(version)}

update:
  canaries: 1
  max_in_flight: 1
  canary_watch_time: 100-30000
  update_watch_time: 100-30000

instance_groups:
- name: ${GROUP}
  instances: 1
  azs: [z1]
  vm_type: small
  stemcell: default
  persistent_disk_type: 1GB
  networks:
  - name: private
  jobs: []
`;
