/** Cloud file that `slipway certify init` writes. Every value in it is the default. */
export const CLOUD_FILE_TEMPLATE = `# What the cloud of a CPI takes, for \`slipway certify --cloud\`. Every key may be left out.

stemcell:
  # The file that create_stemcell gets: the image inside a stemcell. \`--stemcell FILE\` wins over it.
  # Without one, a small file is made, which suits a CPI that looks into no image.
  # image: /path/to/image
  cloud_properties: {}

vm:
  # The third argument of create_vm: instance type, zone, and what else this cloud needs.
  cloud_properties: {}

disk:
  # MiB. Clouds with a smallest size need a larger one.
  size: 64
  cloud_properties: {}

network:
  # manual: every VM gets an address of its own, counted up from the first; about 60 are used. dynamic: none is given.
  type: manual
  first_address: 10.0.0.11
  netmask: 255.255.255.0
  gateway: 10.0.0.1
  dns: []
  cloud_properties: {}

# How the executable is told of its configuration, {config} being the path of the file given with --config.
arguments: ["--configFile", "{config}"]

# Old Directors and stemcells need a registry. One is started, and its endpoint, user and password are written into a
# copy of the configuration. The key is found if it is not given: cloud.properties.registry, or registry.
# A CPI that needs no registry at all says \`registry: none\`.
registry:
  # key: cloud.properties.registry
  # Name or address under which the CPI and its VMs reach this machine.
  host: 127.0.0.1

observe:
  # A command that prints the user-data of a VM as its agent gets it, {vm} being the cid. Without it, rules about
  # user-data are not applicable.
  # user_data: [cat, "/path/to/vms/{vm}/user-data.json"]

limits:
  # Seconds after which a call has failed, and how much is made at once.
  call_seconds: 600
  vms_at_once: 3
  disks_at_once: 10
`;
