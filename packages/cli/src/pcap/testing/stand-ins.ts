import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The last of its arguments is run here; the address tells which VM is meant. */
const SSH = `#!/bin/bash
for word; do case $word in bosh_*@*) ip=\${word#*@} ;; esac; done
[ ! -e "$VMS/$ip/gone" ] || { echo "no route to host" >&2; exit 255; }
export VM=$VMS/$ip SSH_CLIENT="10.9.9.9 4711 22" PATH=$VMS/$ip:$PATH
exec bash --norc -c "\${@: -1}"
`;

const SUDO = `#!/bin/bash
[ "$1" = -n ] || exit 1
shift
unset SSH_CLIENT
exec "$@"
`;

/**
 * Records its arguments and process id, sends the prepared packets, and the last of them when it is asked to end. Records the
 * request to end first: its output may be closed by then.
 */
const TCPDUMP = `#!/bin/bash
printf '%s\\n' "$@" > "$VM/called"
[ ! -e "$VM/refuses" ] || { cat "$VM/refuses" >&2; exit 1; }
echo "tcpdump: listening on eth0" >&2
sleep 600 >/dev/null 2>&1 &
trap 'echo > "$VM/over"; kill %1; cat "$VM/last" 2>/dev/null; echo "2 packets dropped by kernel" >&2; exit 0' TERM
cat "$VM/first"
echo $$ > "$VM/pid"
[ ! -e "$VM/ends" ] || { kill %1; exit 3; }
wait
`;

/** Programs that stand in for ssh, and VMs at addresses, each a directory with what is in it. */
export async function standIns(dir: string) {
  const bin = join(dir, "bin");
  const vms = join(dir, "vms");
  await mkdir(bin);
  const program = async (path: string, text: string) => {
    await writeFile(path, text);
    await chmod(path, 0o755);
  };
  await program(join(bin, "ssh"), SSH);
  await program(join(bin, "sudo"), SUDO);
  // In a VM the user is not root, whatever the user of the tests.
  await program(join(bin, "id"), "#!/bin/sh\necho 1000\n");
  return {
    env: { PATH: `${bin}:${process.env.PATH ?? ""}`, VMS: vms },
    vm: async (ip: string, files: Readonly<Record<string, string | Buffer>>, hasTcpdump = true) => {
      const at = join(vms, ip);
      await mkdir(at, { recursive: true });
      for (const [name, content] of Object.entries(files)) await writeFile(join(at, name), content);
      if (hasTcpdump) await program(join(at, "tcpdump"), TCPDUMP);
      return (name: string) => join(at, name);
    },
  };
}
