// The machine's disk: Debian with systemd, a Docker Engine and AppArmor, made once and kept in .cache. Everything that a
// Docker host does not need is switched off, because the processor is emulated. The kernel has NVMe and ext4 built in, so
// there is no initrd.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const CACHE = ".cache/docker-host";
const DISK_BYTES = 4 * 2 ** 30;

/** Numbers of ports in the machine. The slirp network of QEMU gives the address. */
export const PORTS = { engine: 2376, agents: [6868, 6869] };
const ADDRESS = "10.0.2.15/24";
const GATEWAY = "10.0.2.2";

/** Where the machine reads what is only known when it starts. */
export const GIVEN = "opt/slipway";

const PACKAGES = [
  ...["systemd-sysv", "udev", "kmod", "linux-image-cloud-amd64", "e2fsprogs", "iproute2"],
  ...["docker.io", "apparmor", "iptables"],
];

const TLS = "/run/docker-tls";
const PREPARE = `#!/bin/sh
set -eu
modprobe --all virtio_net qemu_fw_cfg
ip -batch - <<END
link set lo up
address add ${ADDRESS} dev eth0
link set eth0 up
route add default via ${GATEWAY}
END
umask 077
mkdir ${TLS}
cd /sys/firmware/qemu_fw_cfg/by_name/${GIVEN}
for name in *; do cat "$name/raw" >"${TLS}/$name"; done
`;
const PREPARE_SERVICE = `[Unit]
DefaultDependencies=no
After=systemd-udevd.service systemd-sysctl.service
Before=network.target docker.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/host-prepare
`;

/** On the second serial port, for the one who has the machine: runs each line it is sent, and says how that ended. */
const SHELL = `#!/bin/sh
stty -echo -opost
while read -r mark command; do
  sh -c "$command" </dev/null 2>&1
  echo "$mark:$?"
done
`;
const SHELL_SERVICE = `[Unit]
DefaultDependencies=no
After=sysinit.target
[Service]
ExecStart=/usr/local/sbin/host-shell
StandardInput=tty-force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS1
Restart=always
`;

const ENGINE = `[Unit]
Wants=host-prepare.service
After=host-prepare.service
[Service]
ExecStart=
ExecStart=dockerd -H fd:// -H tcp://0.0.0.0:${PORTS.engine} --containerd=/run/containerd/containerd.sock --tlsverify \
  --tlscacert ${TLS}/ca.pem --tlscert ${TLS}/engine.pem --tlskey ${TLS}/engine.key
TimeoutStartSec=infinity
`;

/** Of no use to the engine, and slow to start. */
const OFF_PLUGINS = [
  "grpc.v1.cri",
  ...["btrfs", "zfs", "devmapper", "blockfile", "native"].map((name) => `snapshotter.v1.${name}`),
  ...["tracing.processor.v1.otlp", "internal.v1.tracing"],
];

const FILES = {
  "etc/fstab": "",
  "etc/hostname": "docker-host\n",
  "etc/hosts": "127.0.0.1 localhost docker-host\n",
  // With one, a start is not the first.
  "etc/machine-id": "5f1c0b0e5f1c0b0e5f1c0b0e5f1c0b0e\n",
  "etc/.updated": "",
  "var/.updated": "",
  "etc/systemd/journald.conf.d/host.conf": "[Journal]\nStorage=volatile\n",
  "etc/systemd/system/host-prepare.service": PREPARE_SERVICE,
  "usr/local/sbin/host-prepare": PREPARE,
  "etc/systemd/system/host-shell.service": SHELL_SERVICE,
  "usr/local/sbin/host-shell": SHELL,
  "etc/systemd/system/docker.service.d/host.conf": ENGINE,
  "etc/containerd/config.toml": `version = 2\ndisabled_plugins = ${JSON.stringify(OFF_PLUGINS.map((name) => `io.containerd.${name}`))}\n`,
};

const WANTED = ["host-prepare.service", "host-shell.service"];

/** Not udev, static device nodes, sysctl, tmpfiles: what hosts do with loop devices and modules stays as it is. */
const MASKED = [
  ...[
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
  ],
  ...["systemd-tmpfiles-clean.timer", "e2scrub_reap.service", "apparmor.service", "ldconfig.service"],
  ...["getty.target", "getty-static.service", "getty@tty1.service", "serial-getty@ttyS0.service"],
  ...["tmp.mount", "run-lock.mount", "dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount"],
  ...["sys-kernel-tracing.mount", "sys-kernel-config.mount", "sys-fs-fuse-connections.mount"],
  ...["proc-sys-fs-binfmt_misc.automount", "modprobe@.service", "remote-fs.target"],
  ...["ask-password-console.path", "ask-password-wall.path", "creds.socket", "hostnamed.socket"].map(systemd),
  ...["binfmt", "firstboot", "hwdb-update", "journal-catalog-update", "journal-flush", "logind"].map(service),
  ...["machine-id-commit", "modules-load", "network-generator", "networkd", "pcrphase", "pstore"].map(
    service,
  ),
  ...["random-seed", "remount-fs", "sysusers", "timesyncd", "udev-load-credentials", "udev-trigger"].map(
    service,
  ),
  ...["update-done", "update-utmp", "user-sessions"].map(service),
  "systemd-sysext.socket",
];

function systemd(name) {
  return `systemd-${name}`;
}

function service(name) {
  return `systemd-${name}.service`;
}

/** Resolves to the directory with `disk.raw` and `vmlinuz`. */
export function machineImage({ suite, mirror }) {
  const recipe = JSON.stringify([suite, PACKAGES, FILES, WANTED, MASKED, DISK_BYTES]);
  const dir = join(CACHE, `${suite}-${createHash("sha256").update(recipe).digest("hex").slice(0, 12)}`);
  if (existsSync(dir)) return { dir, made: false };
  if (process.getuid() !== 0) throw new Error("making the machine's disk needs root");
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, ".making-"));
  try {
    const root = join(work, "root");
    installDebian(root, suite, mirror);
    settle(root);
    const result = join(work, "result");
    mkdirSync(result);
    const kernel = readdirSync(join(root, "boot")).find((name) => name.startsWith("vmlinuz-"));
    if (kernel === undefined) throw new Error(`${suite} has brought no kernel`);
    copyFileSync(join(root, "boot", kernel), join(result, "vmlinuz"));
    rmSync(join(root, "boot"), { recursive: true });
    const disk = join(result, "disk.raw");
    writeFileSync(disk, "");
    truncateSync(disk, DISK_BYTES);
    run("mke2fs", ["-q", "-t", "ext4", "-F", "-d", root, disk]);
    for (const name of readdirSync(CACHE))
      if (!name.startsWith(".making-")) rmSync(join(CACHE, name), { recursive: true });
    renameSync(result, dir);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return { dir, made: true };
}

function installDebian(root, suite, mirror) {
  const without = ["doc", "man", "locale", "info"].map(
    (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
  );
  // No initrd: the kernel's package would take long to make one.
  const noInitrd = 'mkdir -p "$1/etc/kernel"; echo do_initrd=no >"$1/etc/kernel-img.conf"';
  run(
    "mmdebstrap",
    [
      ...["--quiet", "--variant=minbase", '--aptopt=APT::Install-Recommends "false"', ...without],
      ...[`--include=${PACKAGES.join(",")}`, `--essential-hook=${noInitrd}`],
      ...[suite, root, mirror],
    ],
    { env: { ...process.env, INITRD: "No" } },
  );
}

function settle(root) {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text, { mode: name.includes("sbin/") ? 0o755 : 0o644 });
  }
  const units = join(root, "etc/systemd/system");
  for (const name of MASKED) {
    rmSync(join(units, name), { force: true });
    symlinkSync("/dev/null", join(units, name));
  }
  // Each is a process at every start, and none has anything to do.
  const generators = "lib/systemd/system-generators";
  mkdirSync(join(root, "etc/systemd/system-generators"), { recursive: true });
  for (const name of readdirSync(join(root, "usr", generators)))
    symlinkSync("/dev/null", join(root, "etc/systemd/system-generators", name));
  const wants = join(units, "multi-user.target.wants");
  mkdirSync(wants, { recursive: true });
  for (const name of WANTED) symlinkSync(`/etc/systemd/system/${name}`, join(wants, name));
}

function run(program, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", ...options });
  if (error !== undefined) throw new Error(`${program} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${`${stdout}${stderr}`.slice(-2000)}`);
}
