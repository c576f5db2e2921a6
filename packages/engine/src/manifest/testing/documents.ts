/** A deployment and a cloud config such as people write them. */

export const SHOP = `---
name: shop
features: {randomize_az_placement: true}
releases: []
stemcells:
- alias: default
  os: ubuntu-noble
  version: 1.latest
update:
  canaries: 1
  max_in_flight: 25%
  canary_watch_time: 1000-60000
  update_watch_time: 60000
instance_groups:
- name: web
  azs: [z1, z2]
  instances: 3
  vm_type: small
  vm_extensions: [lb]
  stemcell: default
  networks:
  - name: private
  - name: outside
    default: [dns, gateway]
  jobs: []
- name: db
  azs: [z1]
  instances: 2
  vm_resources: {cpu: 2, ram: 4096, ephemeral_disk_size: 10240}
  stemcell: default
  persistent_disk_type: d10
  networks: [{name: private, static_ips: [10.4.0.200-10.4.0.201]}]
  migrated_from: [{name: postgres, az: z1}]
  update: {serial: false, max_in_flight: 1}
  env: {bosh: {swap_size: 0}, persistent_disk_fs: xfs}
  tags: {tier: data}
  jobs: []
tags: {team: sales}
`;

export const CLOUD = `---
azs:
- {name: z1, cloud_properties: {zone: a}}
- {name: z2}
vm_types: [{name: small, cloud_properties: {cpu: 1}}]
vm_extensions: [{name: lb, cloud_properties: {pool: web}}]
disk_types: [{name: d10, disk_size: 10240}]
networks:
- name: private
  subnets:
  - range: 10.4.0.0/24
    gateway: 10.4.0.1
    az: z1
    dns: [10.4.0.2]
    reserved: 10.4.0.2-10.4.0.9
    static: [10.4.0.200-10.4.0.220]
    cloud_properties: {name: vnet}
  - range: 10.4.1.0/24
    gateway: 10.4.1.1
    azs: [z2]
- name: outside
  type: dynamic
  subnets:
  - {azs: [z1, z2], dns: [8.8.8.8]}
- {name: floating, type: vip}
compilation: {workers: 4, network: private, az: z1, vm_type: small}
`;
