import type { StemcellName } from "../cpis/descriptor.ts";

/** First line of the demo's documents. Documents without it are a user's, and stay unchanged. */
const MARK = "# Made by `slipway demo`.";

export const isOurs = (text: string): boolean => text.trim() === "" || text.startsWith(MARK);

export const DEPLOYMENT = "demo";
/** Instance group with the persistent disk. */
export const GROUP = "counter";

/** `comment`: whose addresses these are. */
export function cloudConfig(range: string, comment: string): string {
  const gateway = range.replace(/0\/24$/, "1");
  return `${MARK}
azs:
- name: z1

vm_types:
- name: small

disk_types:
- name: 100MB
  disk_size: 100
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

/** In the example's manifest, which is for sandboxes. */
const STEMCELL = "  os: local\n  version: latest\n";
const NAME = "\nname: counter\n";

/** The manifest of the example, for the demo's deployment and its stemcell. */
export function manifestOf(example: string, { name, version }: StemcellName): string {
  const stemcell = `  name: ${JSON.stringify(name)}\n  version: ${JSON.stringify(version)}\n`;
  return `${MARK}\n${example}`
    .replace(STEMCELL, () => stemcell)
    .replace(NAME, () => `\nname: ${DEPLOYMENT}\n`);
}
