import { LOCAL_STEMCELL } from "../stemcells/build-local.ts";

/** By it the demo knows its own documents from those of a user, which it leaves alone. */
const MARK = "# Made by `slipway demo`.";

export const isOurs = (text: string): boolean => text.trim() === "" || text.startsWith(MARK);

export const DEPLOYMENT = "demo";
export const GROUP = "db";

/** `127.20.0.0/24`: the local CPI has the addresses of loopback only. */
export function cloudConfig(range: string): string {
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
  # The addresses of sandboxes: loopback, and nobody else's on this machine.
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

export const MANIFEST = `${MARK}
name: ${DEPLOYMENT}

releases: []

stemcells:
- alias: default
  name: ${LOCAL_STEMCELL.name}
  version: "${LOCAL_STEMCELL.version}"

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
